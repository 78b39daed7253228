"""Workflow commands of GitHub Actions, read back."""

from __future__ import annotations

import re

#: As the runner of GitHub Actions reads it.
COMMAND = re.compile(r"^::(?P<command>\w+) (?P<properties>.*?)::(?P<message>.*)$")


def unescaped(text: str) -> str:
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, character)
    return text


def annotations(text: str) -> list[dict[str, str]]:
    found = []
    for line in text.splitlines():
        if match := COMMAND.match(line):
            pairs = dict(part.split("=", 1) for part in match["properties"].split(","))
            found.append(
                {
                    "command": match["command"],
                    **{k: unescaped(v) for k, v in pairs.items()},
                    "message": unescaped(match["message"]),
                }
            )
    return found
