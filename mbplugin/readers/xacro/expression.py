"""The allowed expressions of a xacro file; others are errors before evaluation.

xacro evaluates ``${…}`` as Python, and Python without builtins is still Python: a lambda reaches any function
of the process. So an expression is a small language of its own here: numbers, strings, names, arithmetic,
comparisons, conditionals, indexing, dictionaries and lists, and calls by name of functions without effects.
"""

from __future__ import annotations

import ast
import math

#: Functions that xacro offers under their bare names.
BARE = frozenset(
    {name for name, value in vars(math).items() if callable(value) and not name.startswith("_")}
    | {"list", "dict", "map", "len", "str", "float", "int", "bool", "min", "max", "round", "sorted", "range"}
    | {"load_yaml", "abs_filename", "dotify"}
)
#: Functions in xacro's namespaces.
NAMESPACES = {
    "math": frozenset(
        name for name, value in vars(math).items() if callable(value) and not name.startswith("_")
    ),
    "python": frozenset(
        {"list", "dict", "map", "len", "str", "float", "int", "bool", "min", "max", "round", "sorted"}
        | {"range", "abs", "all", "any", "complex", "divmod", "enumerate", "filter", "frozenset"}
        | {"isinstance", "ord", "repr", "reversed", "set", "slice", "sum", "tuple", "zip"}
    ),
    "xacro": frozenset(
        {"load_yaml", "abs_filename", "dotify", "arg", "message", "warning", "error", "print_location"}
        | {"fatal", "tokenize"}
    ),
}
#: Methods that compute a value and change nothing, by the type they are of.
METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        {"split", "rsplit", "splitlines", "partition", "rpartition", "strip", "lstrip", "rstrip", "join"}
        | {"upper", "lower", "title", "capitalize", "replace", "startswith", "endswith", "find", "rfind"}
        | {"index", "count", "isdigit", "isalpha", "isalnum", "isnumeric", "removeprefix", "removesuffix"}
    ),
    list: frozenset({"index", "count"}),
    tuple: frozenset({"index", "count"}),
    dict: frozenset({"get", "keys", "values", "items"}),
}
_EVERY_METHOD = frozenset().union(*METHODS.values())

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.UAdd, ast.USub)
_PLAIN = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice),
    *(ast.List, ast.Tuple, ast.Load, ast.And, ast.Or, ast.Not, ast.cmpop, *_OPERATORS),
)
_CONSTANTS = (bool, int, float, str, type(None))

#: What a node is called in a message.
_WORDS: dict[type[ast.AST], str] = {
    ast.Lambda: "a lambda",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.JoinedStr: "a formatted string",
    ast.NamedExpr: "an assignment",
    ast.Starred: "unpacking (*)",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Set: "a set",
}


class Refused(Exception):
    """An expression that is not evaluated; the text says what it has that it may not have."""


def parsed(text: str) -> ast.expr:
    """Return the tree of an expression in which everything is allowed.

    Raises
    ------
    Refused
        It has something that is not.
    SyntaxError
        It is no expression.
    """
    try:
        tree = ast.parse(text.strip(), "<expression>", "eval")
    except (RecursionError, MemoryError):
        raise Refused("more nesting than an expression may have") from None
    except ValueError as error:  # a null, or an integer of thousands of digits
        raise Refused(str(error)) from None
    for node in ast.walk(tree):
        _require_allowed(node)
    return tree.body


def _require_allowed(node: ast.AST) -> None:
    if isinstance(node, _PLAIN):
        return
    if isinstance(node, ast.Constant):
        if not isinstance(node.value, _CONSTANTS):
            raise Refused(f"a constant of type {type(node.value).__name__}")
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
        if node.arg is None:
            raise Refused("unpacking (**)")
    elif isinstance(node, ast.Call):
        _require_known_function(node.func)
    else:
        raise Refused(_WORDS.get(type(node), f"a {type(node).__name__}"))


def _require_known_function(function: ast.expr) -> None:
    if isinstance(function, ast.Name):
        if function.id not in BARE:
            raise Refused(f"a call of {function.id!r}")
    elif isinstance(function, ast.Attribute):
        owner = function.value.id if isinstance(function.value, ast.Name) else ""
        known = NAMESPACES.get(owner, frozenset()) | _EVERY_METHOD
        if function.attr not in known:
            raise Refused(f"a call of {ast.unparse(function)!r}")
    else:
        raise Refused(_WORDS.get(type(function), "a call of something that has no name"))
