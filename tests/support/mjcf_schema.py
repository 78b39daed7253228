"""MuJoCo's own list of the words of MJCF, as the installed version prints it."""

from __future__ import annotations

import mujoco

#: How MuJoCo writes the element that is ``<worldbody>`` at the top and ``<body>`` inside.
_BODY = "(world)body"


def printed_schema() -> dict[str, tuple[str, ...]]:
    """Return attributes by path, ``mujoco/option/flag``; bodies and defaults in each other count once."""
    found: dict[str, list[str]] = {}
    stack: list[str] = []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        if not line.strip():
            continue
        head, tail = line[:30], line[30:]
        if head.strip():
            depth = (len(head) - len(head.lstrip())) // 3
            tag = head.split()[0]
            stack = [*stack[:depth], "worldbody" if tag == _BODY else tag]
        found.setdefault("/".join(stack), []).extend(tail.split())
    return {path: tuple(words) for path, words in found.items()}


def repeatable_elements() -> frozenset[str]:
    """Return the paths of elements of which MuJoCo reads several in one parent; ``R`` may also be in itself."""
    found, stack = set(), []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        if head := line[:30].rstrip():
            depth = (len(head) - len(head.lstrip())) // 3
            tag, *number = head.split()
            stack = [*stack[:depth], "worldbody" if tag == _BODY else tag]
            if number in (["(*)"], ["(R)"]):
                found.add("/".join(stack))
    return frozenset(found)
