"""Wrong usage in one sentence that says what to type instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from mbplugin.cli.shared.help import COMMANDS, EXAMPLES
from mbplugin.phrases import ended

#: What libraries say of a value, and what is said instead.
_WORDS = (
    (r": Value error, ", ": "),
    (r"Input should be a valid integer, .*", "expected a whole number"),
    (r"Input should be a valid number, .*", "expected a number"),
    (r"Input should be greater than or equal to (\S+)", r"expected at least \1"),
    (r"Input should be less than or equal to (\S+)", r"expected at most \1"),
    (r"(?i)'?([^' ]*)'? is not a valid (?:float|number)", r"\1 is no number; expected a number"),
    (r"(?i)'?([^' ]*)'? is not a valid int(?:eger)?", r"\1 is no whole number; expected a whole number"),
    (r"\. Did you mean (.*)\?", r"; did you mean \1?"),
    (r" \(Possible options?: (.*)\)", r"; did you mean \1?"),
    (r" Did you mean (.*)\?", r"; did you mean \1?"),
)


def usage_sentence(error: Any, arguments: Sequence[str]) -> str:
    """Return what is wrong with a command line, and what to type instead."""
    message = " ".join(error.format_message().split()).rstrip(".")
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    command = error.ctx.command_path if error.ctx else "mbplugin"
    if not message:  # no command at all: the help is the answer
        return str(error.ctx.get_help() if error.ctx else "")
    message = f"{command}: {message[:1].lower()}{message[1:]}"
    remedy = _joined_value(message, arguments) or _remedy(message, command, arguments)
    return message if message.endswith("?") else ended(f"{message}; {remedy}")


def _remedy(message: str, command: str, arguments: Sequence[str]) -> str:
    name = command.partition(" ")[2]
    if ": missing " in message and name in EXAMPLES:
        return f"for example {EXAMPLES[name]}"
    first = arguments[0].lstrip("-") if arguments else ""
    if not name and first in EXAMPLES:
        return f"write mbplugin {' '.join((first, *arguments[1:]))}"
    if "no such command" in message:
        known = ", ".join(command for group in COMMANDS.values() for command in group)
        return f"the commands are {known}"
    for word in arguments:
        # one dash in front of a long name
        if f"no such option: {word[:2]}" in message and _has_one_dash(word):
            return f"write -{word}"
    return f"see '{command} --help'"


def _has_one_dash(word: str) -> bool:
    """Return whether a word is an option with one dash."""
    return len(word) > 1 and word[0] == "-" and word[1] != "-"


def _joined_value(message: str, arguments: Sequence[str]) -> str:
    """Return how to write a value that belongs to the option before it.

    Of ``--qd j0 1.5``, ``--qd j0=1 j1=2`` and ``--payload 5 kg``.
    """
    if "unexpected extra argument" not in message:
        return ""
    for option, first, extra in zip(arguments, arguments[1:], arguments[2:], strict=False):
        if not option.startswith("--") or f"({extra}" not in message or first.startswith("--"):
            continue
        if "=" in extra:
            return f"write {option} {first} {option} {extra}"
        if _is_number(first) and extra.isalpha():
            return f"write {option} {first}{extra}"
        if "=" not in first and _is_number(extra):
            return f"write {option} {first}={extra}"
    return ""


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or (text[:1] in "+-." and text[1:2].isdigit())
