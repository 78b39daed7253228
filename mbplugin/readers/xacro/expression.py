"""Expressions of xacro's ``${…}``: they compute data, and can access nothing else.

xacro passes the text of ``${…}`` to Python's ``eval``. Python without builtins is still Python: any function or
type that a file can obtain gives access to every program on the machine. Expressions are therefore computed here, node
by node, over *data* only: None, truth values, numbers, strings, lists, tuples, dictionaries and sets of these. A
function is not a value: it is called by its name from a closed table (:mod:`mbplugin.readers.xacro.functions`), and
cannot be looked up, passed, stored, compared or returned. Each node's result is checked to be data of bounded size.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from mbplugin.readers.xacro.functions import (
    FUNCTIONS,
    METHODS,
    TYPES,
    Data,
    Function,
    Refused,
    formatted,
    power,
    product,
    require_data,
    total,
)

__all__ = ["Data", "Refused", "parsed", "refuse_constant", "value_of"]

#: Maximum length of an expression, characters, and number of nodes visited to compute it.
_LONGEST, _STEPS = 20_000, 200_000

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Data]] = {
    ast.Add: total,
    ast.Sub: operator.sub,
    ast.Mult: product,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: formatted,
    ast.Pow: power,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Data]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
#: Nodes that are permitted if their parts are; all others are checked below, or refused.
_PLAIN = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice),
    *(ast.List, ast.Tuple, ast.Load, ast.Store, ast.And, ast.Or, *_BINARY, *_UNARY, *_COMPARE),
)
#: Names of refused nodes in messages.
_WORDS: dict[type[ast.AST], str] = {
    ast.Lambda: "a lambda",
    ast.SetComp: "a comprehension of a set",
    ast.DictComp: "a comprehension of a dictionary",
    ast.GeneratorExp: "a generator",
    ast.JoinedStr: "a formatted string",
    ast.NamedExpr: "an assignment",
    ast.Starred: "unpacking (*)",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Set: "a set",
}
_METHOD_NAMES = frozenset(name for methods in METHODS.values() for name in methods)
_FORM = "isinstance"
_NAMES = FUNCTIONS.keys() | {_FORM, f"python.{_FORM}"}
#: Functions of xacro that read files or arguments; the caller of :func:`value_of` provides them.
READING = frozenset({"load_yaml", "abs_filename", "xacro.load_yaml", "xacro.abs_filename", "xacro.arg"})


def value_of(
    text: str,
    symbols: Mapping[str, Any],
    functions: Mapping[str, Function] | None = None,
    namespace: type[Mapping[str, Any]] | None = None,
) -> Data:
    """Return the value of an expression.

    Parameters
    ----------
    text : str
    symbols : mapping
        The values of names: data, or namespaces.
    functions : mapping, optional
        Functions by name, in addition to :data:`~mbplugin.readers.xacro.functions.FUNCTIONS`.
    namespace : type, optional
        The type of namespaces among the symbols: ``space.name`` is a name in one. A namespace is not a value.

    Raises
    ------
    Refused
        The expression contains something that is not permitted.
    Exception
        Any error of the operation itself, such as a division by zero.
    """
    try:
        return _Evaluation(symbols, {**FUNCTIONS, **(functions or {})}, namespace).value(parsed(text))
    except RecursionError:
        raise Refused("more nesting than an expression may have") from None


@lru_cache(maxsize=4096)
def parsed(text: str) -> ast.expr:
    """Return the syntax tree of an expression, after checking that all its nodes are permitted.

    Raises
    ------
    Refused
        A node is not permitted.
    SyntaxError
        The text is not an expression.
    """
    if len(text) > _LONGEST:
        raise Refused(f"an expression of more than {_LONGEST} characters")
    try:
        with warnings.catch_warnings():
            # ignore Python's warnings, such as on 'is' with a number: faulty expressions are errors here
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), "<expression>", "eval")
        for node in ast.walk(tree):
            _require_allowed(node)
    except (RecursionError, MemoryError):
        raise Refused("more nesting than an expression may have") from None
    except ValueError as error:  # a null, or an integer of thousands of digits
        raise Refused(str(error)) from None
    return tree.body


def refuse_constant(text: str) -> None:
    """Refuse an expression whose constants alone make it too large.

    Raises
    ------
    Refused
        As :func:`value_of`.
    """
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.BinOp) and not any(
            isinstance(part, ast.Name | ast.Call | ast.Attribute) for part in ast.walk(node)
        ):
            try:
                _Evaluation({}, {}, None).value(node)
            except Refused:
                raise
            except Exception:
                # it may be in a branch that is never evaluated
                continue


def _require_allowed(node: ast.AST) -> None:
    """Refuse a node that is not permitted in any expression; its parts are checked separately."""
    if isinstance(node, _PLAIN):
        return
    if isinstance(node, ast.Constant):
        require_data(node.value)
    elif isinstance(node, ast.Name):
        if node.id.startswith("__"):
            raise Refused(f"the name {node.id!r}")
    elif isinstance(node, ast.Attribute):
        if node.attr.startswith("_"):
            raise Refused(f"the attribute {node.attr!r}")
    elif isinstance(node, ast.Dict):
        if None in node.keys:
            raise Refused("unpacking (**)")
    elif isinstance(node, ast.keyword):
        if node.arg is None or node.arg.startswith("_"):
            raise Refused("unpacking (**)" if node.arg is None else f"the argument {node.arg!r}")
    elif isinstance(node, ast.Call):
        _require_known_function(node.func)
    elif isinstance(node, ast.ListComp):
        return
    elif isinstance(node, ast.comprehension):
        names = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
        if node.is_async or not all(isinstance(name, ast.Name) for name in names):
            raise Refused("a comprehension over something else than names")
    else:
        raise Refused(_WORDS.get(type(node), f"a {type(node).__name__}"))


def _require_known_function(function: ast.expr) -> None:
    name = _dotted(function)
    if name in _NAMES or name in READING:
        return
    if isinstance(function, ast.Attribute):
        if function.attr in _METHOD_NAMES:
            return
        raise Refused(f"a call of {ast.unparse(function)!r}")
    raise Refused(f"a call of {name!r}" if name else _WORDS.get(type(function), "a call of what has no name"))


def _dotted(node: ast.expr) -> str:
    """Return the name of a function as written, ``name`` or ``space.name``; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


class _Evaluation:
    """The evaluation of one expression.

    Parameters
    ----------
    symbols : mapping
    functions : mapping
    namespace : type or None
    """

    def __init__(
        self,
        symbols: Mapping[str, Any],
        functions: Mapping[str, Function],
        namespace: type[Mapping[str, Any]] | None,
    ) -> None:
        self.symbols, self.functions, self.namespace = symbols, functions, namespace
        self.local: dict[str, Data] = {}
        self.steps = 0

    def value(self, node: ast.expr) -> Data:
        """Return the value of a node, which is data; a method exists for each permitted type of node."""
        self.steps += 1
        if self.steps > _STEPS:
            raise Refused(f"more than {_STEPS} steps")
        return require_data(getattr(self, f"_{type(node).__name__.lower()}")(node))

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        if node.id in self.local:
            return self.local[node.id]
        try:
            found = self.symbols[node.id]
        except KeyError:
            if node.id in self.functions:
                raise Refused(f"the function {node.id!r} as a value") from None
            raise NameError(f"name {node.id!r} is not defined") from None
        if self._is_namespace(found):
            raise Refused(f"the namespace {node.id!r} as a value")
        return found

    def _is_namespace(self, found: object) -> bool:
        return self.namespace is not None and isinstance(found, self.namespace)

    def _attribute(self, node: ast.Attribute) -> Any:
        name = _dotted(node)
        space = self._namespace(node.value)
        if space is not None:
            try:
                found = space[node.attr]
            except KeyError:
                if name.partition(".")[0] in ("math", "python", "xacro"):
                    # xacro has functions and types in these, which are not values here
                    raise Refused(f"the function {name!r} as a value") from None
                raise NameError(f"name {node.attr!r} is not defined") from None
            if self._is_namespace(found):
                raise Refused(f"the namespace {name!r} as a value")
            return found
        if name in self.functions:
            raise Refused(f"the function {name!r} as a value")
        owner = self.value(node.value)
        # a dictionary from a YAML file has its keys as attributes; other values have no attributes
        if type(owner) is not dict:
            raise Refused(f"the attribute {node.attr!r} of a {type(owner).__name__}")
        if node.attr in METHODS[dict] or node.attr in dir(dict):
            raise Refused(f"the method {node.attr!r} as a value")
        try:
            return owner[node.attr]
        except KeyError:
            raise AttributeError(f"the dictionary has no key {node.attr!r}") from None

    def _namespace(self, node: ast.expr) -> Mapping[str, Any] | None:
        """Return the namespace that a node refers to, or None."""
        if isinstance(node, ast.Name) and node.id not in self.local:
            names, name = self.symbols, node.id
        elif isinstance(node, ast.Attribute) and (outer := self._namespace(node.value)) is not None:
            names, name = outer, node.attr
        else:
            return None
        try:
            # xacro's tables evaluate their values on [], but not on get()
            found = names[name]
        except KeyError:
            return None
        return found if self._is_namespace(found) else None

    def _binop(self, node: ast.BinOp) -> Data:
        return _BINARY[type(node.op)](self.value(node.left), self.value(node.right))

    def _unaryop(self, node: ast.UnaryOp) -> Data:
        return _UNARY[type(node.op)](self.value(node.operand))

    def _boolop(self, node: ast.BoolOp) -> Data:
        wanted = isinstance(node.op, ast.Or)
        result: Data = None
        for part in node.values:
            result = self.value(part)
            if bool(result) is wanted:
                break
        return result

    def _compare(self, node: ast.Compare) -> Data:
        left, result = self.value(node.left), True
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            if isinstance(op, ast.Is | ast.IsNot) and not any(
                value is None or isinstance(value, bool) for value in (left, right)
            ):
                # the identity of equal numbers or strings is an implementation detail
                raise Refused("'is' between values other than None, True and False")
            result = _COMPARE[type(op)](left, right)
            if not result:
                break
            left = right
        return result

    def _ifexp(self, node: ast.IfExp) -> Data:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _subscript(self, node: ast.Subscript) -> Any:
        owner: Any = self.value(node.value)
        if not isinstance(owner, str | list | tuple | dict):
            raise Refused(f"an index into a {type(owner).__name__}")
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            lower, upper, step = (self.value(part) if part else None for part in parts)
            return owner[lower:upper:step]
        return owner[self.value(node.slice)]

    def _list(self, node: ast.List) -> Data:
        return [self.value(part) for part in node.elts]

    def _tuple(self, node: ast.Tuple) -> Data:
        return tuple(self.value(part) for part in node.elts)

    def _dict(self, node: ast.Dict) -> Data:
        keys = [self.value(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(self.value, node.values), strict=True))

    def _listcomp(self, node: ast.ListComp) -> Data:
        before, result = dict(self.local), []
        for _ in self._loops(node.generators):
            result.append(self.value(node.elt))
        self.local = before
        return result

    def _loops(self, loops: list[ast.comprehension]) -> Iterator[None]:
        """Yield once per iteration of nested loops, with their variables set."""
        if not loops:
            yield
            return
        first, *rest = loops
        source: Any = self.value(first.iter)
        if not isinstance(source, str | list | tuple | dict | frozenset):
            raise TypeError(f"{type(source).__name__!r} object is not iterable")
        for item in _in_order(source):
            if isinstance(first.target, ast.Tuple):
                names = [name.id for name in first.target.elts if isinstance(name, ast.Name)]
                self.local.update(zip(names, item, strict=True))
            elif isinstance(first.target, ast.Name):
                self.local[first.target.id] = item
            if all(self.value(condition) for condition in first.ifs):
                yield from self._loops(rest)

    def _call(self, node: ast.Call) -> Any:
        name = _dotted(node.func)
        if name in self.functions and not self._is_method(node.func):
            function = self.functions[name]
            values = [self.value(part) for part in node.args]
        elif name in (_FORM, f"python.{_FORM}"):
            return self._isinstance(node)
        elif isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
            known = METHODS.get(type(owner), {})
            if node.func.attr not in known:
                raise Refused(f"the method {node.func.attr!r} of a {type(owner).__name__}")
            function = known[node.func.attr]
            values = [owner, *(self.value(part) for part in node.args)]
        else:
            raise NameError(f"there is no function {name!r} here")
        words = {str(word.arg): self.value(word.value) for word in node.keywords}
        if unknown := [word for word in words if not function.takes(word)]:
            raise Refused(f"the argument {unknown[0]!r} of {ast.unparse(node.func)!r}")
        return function.call(*values, **words)

    def _is_method(self, node: ast.expr) -> bool:
        """Return True if ``space.name`` is a method of a value in the file that has the name of a namespace."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return False
        space = node.value.id
        return space in self.local or (space in self.symbols and not self._is_namespace(self.symbols[space]))

    def _isinstance(self, node: ast.Call) -> bool:
        """Return True if a value has one of the types written out; a type is a word here, not a value."""
        if len(node.args) != 2 or node.keywords:
            raise TypeError("isinstance takes a value and a type")
        written = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
        names = [_dotted(kind).removeprefix("python.") for kind in written]
        if not all(name in TYPES for name in names):
            raise Refused(f"isinstance of another type than {', '.join(TYPES)}")
        return isinstance(self.value(node.args[0]), tuple(TYPES[name] for name in names))


def _in_order(source: Any) -> Any:
    """Return the elements of a value; those of a set in an order that does not vary between processes."""
    return (
        sorted(source, key=lambda item: (type(item).__name__, item))
        if isinstance(source, frozenset)
        else source
    )
