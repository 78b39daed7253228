"""``python -m tests.fuzz.expressions``: expressions of a grammar that knows Python's escapes, evaluated under watch.

The grammar makes what Python's expressions can be made of: calls of calls, functions as values, attributes and
their chains, comprehensions, lambdas, formats, unpacking, assignments, names of other alphabets that Python reads as
its own. No value that is not data may come out, no event of Python's audit may occur but parsing, and nothing
may take long. One line of JSON says what was seen; the exit code is 1 if anything was.
"""

from __future__ import annotations

import argparse
import collections
import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from mbplugin.readers.xacro.expression import value_of
from mbplugin.readers.xacro.functions import CONSTANTS, FUNCTIONS, Function, Refused

#: Expressions that ran programs, or led on the way to it, somewhere.
SEEDS = (
    "python.get('vars')",
    "max([python.get('type')], [1], key=str)",
    "list(map(map, list(python.values())[34:35], [1]))",
    "().__class__.__base__.__subclasses__()",
    "(lambda: 0).__globals__",
    "(x for x in [1]).gi_frame.f_back.f_globals",
    "'{0.__class__.__mro__}'.format(1)",
    "'%(a)s' % dict(a=len)",
    "sorted([1], key=vars)",
    "python.vars(xacro.load_yaml)",
    "[c for c in [1] if c].append(len)",
    "math.get('sin')",
    "python['type']",
    "python.parent.root",
    "space.parent",
    "dict(a=len)['a']('x')",
    "{'a': print}['a']",
    "min([len, abs])('x')",
    "load_yaml.__globals__['os'].system('touch OWNED')",
    "yaml.__getattr__('a')",
    "yaml.get.__self__",
    "xacro.load_yaml",
    "isinstance([], (list, type))",
    "getattr(python, 'vars')",
    "set.union([1], '__class__')",
    "python.set([1]).union([2], '__class__')",
    "str.join(',', ['a'])",
    "dict.fromkeys([1], len)",
    # what takes long, last: those are not spliced into others
    "round(10, -1000000000)",
    "10**10**10",
    "'a' * 10**9",
    "'%2000000000d' % 1",
    "[0] * 999999 * 999999",
    "math.factorial(10**9)",
    "'a'.replace('', 'b' * 999999)",
    "[x for x in range(999999) for y in range(999999)]",
)
_SPLICED = SEEDS[: SEEDS.index("round(10, -1000000000)")]
_NAMES = (
    *("a", "b", "n", "s", "l", "d", "t", "yaml", "space", "pi", "math", "python", "xacro", "x", "y", "true"),
    *("len", "list", "dict", "map", "str", "max", "sorted", "load_yaml", "radians", "type", "vars", "eval"),
    *(
        "open",
        "getattr",
        "__import__",
        "__builtins__",
        "ｖａｒｓ",
        "ｔype",
        "ﬁnd",
        "print",
        "globals",
        "self",
    ),
)
_ATTRIBUTES = (
    *(
        "__class__",
        "__globals__",
        "__mro__",
        "__subclasses__",
        "__dict__",
        "__getattr__",
        "__self__",
        "__code__",
    ),
    *("gi_frame", "f_back", "f_globals", "tb_frame", "__traceback__", "format", "format_map", "get", "keys"),
    *(
        "items",
        "values",
        "pop",
        "append",
        "update",
        "a",
        "b",
        "list",
        "type",
        "vars",
        "sin",
        "parent",
        "root",
    ),
    *("unevaluated", "split", "join", "replace", "lower", "count", "index", "union", "difference", "real"),
    *("from_bytes", "maketrans", "mro", "__ｃlass__", "isinstance", "map", "filter", "zip", "dotify", "arg"),
)
_CONSTANTS = (
    *(
        "0",
        "1",
        "-1",
        "2.5",
        "1e308",
        "10**4",
        "99999999",
        "True",
        "None",
        "'abc'",
        "'__class__'",
        "''",
        "'%s'",
    ),
    *("'{0.__class__}'", "'%9999999d'", "b'x'", "1j", "...", "'vars'", "'type'", "'os'", "[]", "()", "{}"),
)
_OPERATORS = (
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "@",
    "<<",
    "|",
    "&",
    "==",
    "<",
    "in",
    "is",
    "not in",
    "and",
    "or",
)


class Grammar:
    """Makes expressions.

    Parameters
    ----------
    seed : int
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        #: Each with its weight: what evaluates is made more often than what is refused at once.
        self.rules: list[tuple[int, Callable[[int], str]]] = [
            (6, lambda n: f"({self.of(n)} {self.pick(_OPERATORS)} {self.of(n)})"),
            (6, self.call),
            (4, lambda n: f"{self.of(n)}.{self.pick(_ATTRIBUTES)}({self.of(n)})"),
            (3, lambda n: f"{self.of(n)}.{self.pick(_ATTRIBUTES)}"),
            (3, lambda n: f"{self.of(n)}[{self.of(n)}]"),
            (2, lambda n: f"{self.of(n)}[{self.of(n)}:{self.of(n)}]"),
            (3, lambda n: f"[{self.of(n)}, {self.of(n)}]"),
            (2, lambda n: f"({self.of(n)}, {self.of(n)})"),
            (2, lambda n: f"{{{self.of(n)}: {self.of(n)}}}"),
            (2, lambda n: f"({self.of(n)} if {self.of(n)} else {self.of(n)})"),
            (3, lambda n: f"[{self.of(n)} for {self.pick(('x', 'x, y', 'a.b'))} in {self.of(n)} if {self.of(n)}]"),
            (1, lambda n: self.pick(("({} for x in {})", "{{{} for x in {}}}", "{{x: {} for x in {}}}")).format(
                self.of(n), self.of(n)
            )),
            (1, lambda n: f"(lambda x=1: {self.of(n)})"),
            (1, lambda n: f"f'{{{self.pick(_NAMES)}!r:{{1}}}}'"),
            (1, lambda n: f"(x := {self.of(n)})"),
            (1, lambda n: f"{{*{self.of(n)}, {self.of(n)}}}"),
            (1, lambda n: f"{self.of(n)}({self.of(n)})({self.of(n)})"),
        ]  # fmt: skip

    def pick(self, values: tuple[str, ...]) -> str:
        return self.random.choice(values)

    def of(self, depth: int) -> str:
        """Return an expression with at most so much nesting."""
        if depth <= 0 or self.random.random() < 0.25:
            kind = self.random.random()
            if kind < 0.08:
                return f"({self.pick(_SPLICED)})"
            return self.pick(_NAMES) if kind < 0.55 else self.pick(_CONSTANTS)
        (rule,) = self.random.choices([r for _, r in self.rules], [w for w, _ in self.rules])
        return rule(depth - 1)

    def call(self, depth: int) -> str:
        known = self.pick(tuple(FUNCTIONS)) if self.random.random() < 0.8 else self.of(depth)
        parts = [self.of(depth) for _ in range(self.random.choice((0, 1, 1, 1, 2, 3)))]
        if self.random.random() < 0.08:
            parts.append(
                self.random.choice(("*", "**", "key=", "default=", "reverse=", "__class__=")) + self.of(depth)
            )
        return f"{known}({', '.join(parts)})"


def is_data(value: Any) -> bool:
    """Return whether a value is data of bounded size; nothing of the evaluator is used."""
    todo, count = [(value, 0)], 0
    while todo:
        item, depth = todo.pop()
        kind = type(item)
        count += len(item) + 1 if kind is str else 1
        if count > 1_100_000 or depth > 101:
            return False
        if kind in (list, tuple, frozenset):
            todo += [(part, depth + 1) for part in item]
        elif kind is dict:
            todo += [(part, depth + 1) for pair in item.items() for part in pair]
        elif (item is not None and kind not in (bool, int, float, str)) or (
            kind is int and item.bit_length() > 1 << 14
        ):
            return False
    return True


def symbols_of_a_file() -> tuple[Any, Any]:
    """Return the names that a file may define, in xacro's own tables where it is installed, and their namespace."""
    data = {"a": 1, "b": -2.5, "n": None, "s": "a b c", "l": [3, 1, 2], "t": (1, "x"), "true": True}
    nested = {"d": {"a": 1, "b": [1, {"c": "d"}]}, "yaml": {"a": {"b": 2}, "keys": 3, "list": [[1]]}}
    try:
        import xacro
    except ImportError:
        return {**CONSTANTS, **data, **nested}, None
    spaces = {name: xacro.NameSpace() for name in ("math", "python", "xacro")}
    for name in ("math", "python"):
        dict.update(spaces[name], CONSTANTS)
    table = xacro.Table({**CONSTANTS, **spaces})
    for name, value in {**data, **nested}.items():
        dict.__setitem__(table, name, value)
    space = xacro.NameSpace(table)
    dict.update(space, a=5, b="text")
    dict.__setitem__(table, "space", space)
    return table, xacro.NameSpace


def run(seed: int, number: int) -> dict[str, Any]:
    """Return what was seen in so many expressions: how each ended, and whatever must not be."""
    grammar, (symbols, namespace) = Grammar(seed), symbols_of_a_file()
    reading = {"load_yaml": Function(lambda name: {"a": [1, name]}), "xacro.arg": Function(lambda name: "1")}
    ends: collections.Counter[str] = collections.Counter()
    seen: list[str] = []
    events: list[str] = []
    watching = False

    def watch(event: str, arguments: object) -> None:
        # parsing, and the identity of a list
        if watching and event not in ("compile", "builtins.id"):
            events.append(event)

    # whatever is imported at the first use is imported now
    for text in (*SEEDS, "python.sum([1])", "ｖａｒｓ"):
        _outcome(text, symbols, reading, namespace)
    sys.addaudithook(watch)
    for k in range(number):
        text = SEEDS[k] if k < len(SEEDS) else grammar.of(grammar.random.choice((1, 2, 3, 4)))
        begin = time.perf_counter()
        watching = True
        end = _outcome(text, symbols, reading, namespace)
        watching = False
        if time.perf_counter() - begin > 5:
            end = "! took more than 5 s"
        if events:
            end = f"! {events[0]}"
            events.clear()
        ends[end] += 1
        if end.startswith("!") and len(seen) < 20:
            seen.append(f"{end}: {text}")
    return {"seed": seed, "expressions": number, "ends": dict(ends.most_common()), "seen": seen}


def _outcome(text: str, symbols: Any, reading: dict[str, Function], namespace: Any) -> str:
    try:
        value = value_of(text, symbols, reading, namespace)
    except Refused:
        return "refused"
    except (MemoryError, RecursionError, SystemError) as error:
        return f"! {type(error).__name__}"
    except Exception as error:
        return type(error).__name__
    except BaseException as error:
        return f"! {type(error).__name__}"
    return "data" if is_data(value) else f"! a value of type {type(value).__name__}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.expressions", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--number", type=int, default=100_000)
    asked = parser.parse_args()
    result = run(asked.seed, asked.number)
    print(json.dumps(result, ensure_ascii=False, indent=1))
    return int(bool(result["seen"]))


if __name__ == "__main__":
    raise SystemExit(main())
