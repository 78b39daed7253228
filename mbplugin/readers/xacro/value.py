"""The value of an allowed expression, computed node by node, never by Python itself."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mbplugin.readers.xacro.expression import BARE, METHODS, NAMESPACES, Refused, parsed

#: Bits of an integer, and elements of a text or list, that an operation may make.
_BITS, _ELEMENTS = 1 << 14, 10_000_000

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
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


def value_of(text: str, symbols: Mapping[str, Any], functions: Mapping[str, Any]) -> Any:
    """Return the value of an expression.

    Parameters
    ----------
    text : str
    symbols : mapping
        The values of names.
    functions : mapping
        xacro's own symbols: its functions, and its namespaces of functions. A function is looked up here,
        whatever else a file calls by its name.

    Raises
    ------
    Refused
        It has something that is not allowed.
    Exception
        What the operation itself raises, such as a division by zero.
    """
    return _Evaluation(symbols, functions).value(parsed(text))


def refuse_constant(text: str) -> None:
    """Refuse an expression whose constants alone already make it too large.

    Raises
    ------
    Refused
        As :func:`value_of`.
    """
    tree = parsed(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and not any(
            isinstance(part, ast.Name | ast.Call | ast.Attribute) for part in ast.walk(node)
        ):
            try:
                _Evaluation({}, {}).value(node)
            except Refused:
                raise
            except Exception:
                # it may stand where it is never evaluated
                continue


class _Evaluation:
    def __init__(self, symbols: Mapping[str, Any], functions: Mapping[str, Any]) -> None:
        self.symbols, self.functions = symbols, functions

    def value(self, node: ast.expr | None) -> Any:
        """Return the value of a node; a method per type of node, and no other types."""
        return getattr(self, f"_{type(node).__name__.lower()}")(node)

    def _nonetype(self, node: None) -> None:
        return None

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        try:
            found = self.symbols[node.id]
        except KeyError:
            raise NameError(f"name {node.id!r} is not defined") from None
        return self._allowed(found, node)

    def _attribute(self, node: ast.Attribute) -> Any:
        owner: Any = self.value(node.value)
        kind: Any = type(owner)
        # xacro's namespaces and dictionaries of YAML; of other values there are no attributes to read
        if not isinstance(owner, dict) or not hasattr(kind, "__getattr__"):
            raise Refused(f"the attribute {node.attr!r} of a {kind.__name__}")
        return self._allowed(kind.__getattr__(owner, node.attr), node)

    def _allowed(self, found: Any, node: ast.expr) -> Any:
        """Return a value; of functions only those that may be called."""
        if callable(found) and not any(found is known for known in self._known_functions()):
            raise Refused(f"the function {ast.unparse(node)!r}")
        return found

    def _known_functions(self) -> list[Any]:
        found = [self.functions.get(name) for name in BARE]
        for space, names in NAMESPACES.items():
            found += [self.functions[space].get(name) for name in names if space in self.functions]
        return found

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Pow):
            return _power(left, right)
        if isinstance(node.op, ast.Mult):
            return _product(left, right)
        return _BINARY[type(node.op)](left, right)

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        return _UNARY[type(node.op)](self.value(node.operand))

    def _boolop(self, node: ast.BoolOp) -> Any:
        wanted = isinstance(node.op, ast.Or)
        found = None
        for part in node.values:
            found = self.value(part)
            if bool(found) is wanted:
                break
        return found

    def _compare(self, node: ast.Compare) -> Any:
        left, found = self.value(node.left), True
        for op, part in zip(node.ops, node.comparators, strict=True):
            right = self.value(part)
            found = _COMPARE[type(op)](left, right)
            if not found:
                break
            left = right
        return found

    def _ifexp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _subscript(self, node: ast.Subscript) -> Any:
        owner = self.value(node.value)
        if not isinstance(owner, str | list | tuple | dict | range):
            raise Refused(f"an index into a {type(owner).__name__}")
        return self._allowed(owner[self.value(node.slice)], node)

    def _slice(self, node: ast.Slice) -> slice:
        return slice(*(self.value(part) for part in (node.lower, node.upper, node.step)))

    def _list(self, node: ast.List) -> list[Any]:
        return [self.value(part) for part in node.elts]

    def _tuple(self, node: ast.Tuple) -> tuple[Any, ...]:
        return tuple(self.value(part) for part in node.elts)

    def _dict(self, node: ast.Dict) -> dict[Any, Any]:
        return {self.value(key): self.value(part) for key, part in zip(node.keys, node.values, strict=True)}

    def _call(self, node: ast.Call) -> Any:
        function = self._function(node.func)
        keywords = {str(word.arg): self.value(word.value) for word in node.keywords}
        return function(*(self.value(part) for part in node.args), **keywords)

    def _function(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self._own(self.functions, node.id)
        assert isinstance(node, ast.Attribute)
        space = node.value.id if isinstance(node.value, ast.Name) else ""
        if node.attr in NAMESPACES.get(space, ()) and space in self.functions:
            return self._own(self.functions[space], node.attr)
        owner = self.value(node.value)
        for kind, names in METHODS.items():
            if isinstance(owner, kind) and node.attr in names:
                # the type's own: a dictionary of YAML answers with its keys
                return getattr(kind, node.attr).__get__(owner)
        raise Refused(f"the method {node.attr!r} of a {type(owner).__name__}")

    def _own(self, table: Mapping[str, Any], name: str) -> Any:
        try:
            return table[name]
        except KeyError:
            raise NameError(f"this version of xacro has no function {name!r}") from None


def _power(base: Any, exponent: Any) -> Any:
    whole = isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1
    if whole and base.bit_length() * abs(exponent) > _BITS:
        raise Refused(f"a power with more than {_BITS} bits")
    return base**exponent


def _product(left: Any, right: Any) -> Any:
    whole = isinstance(left, int) and isinstance(right, int)
    if whole and left.bit_length() + right.bit_length() > _BITS:
        raise Refused(f"an integer with more than {_BITS} bits")
    for sequence, number in ((left, right), (right, left)):
        repeated = isinstance(sequence, Sequence) and isinstance(number, int)
        if repeated and len(sequence) * number > _ELEMENTS:
            raise Refused(f"a text or list of more than {_ELEMENTS} elements")
    return left * right
