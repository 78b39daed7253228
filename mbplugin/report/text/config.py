"""The settings that apply to a file, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.linter.config.settings import DEFAULT, Settings
from mbplugin.visible import visible

_UNSET = {
    "select": "every rule that is on by default",
    "extend-select": "no rule",
    "ignore": "no rule",
    "tolerance": f"{DEFAULT_TOLERANCE:g} where the scene states none",
}


def settings_text(settings: Settings) -> str:
    """Return each setting with where it came from."""
    return "".join(f"{visible(line)}\n" for line in _lines(settings))


def _lines(settings: Settings) -> Iterator[str]:
    yield f"configuration: {settings.file or 'none above this file'}"
    for name, (value, origin) in settings.values.items():
        unset = value in (None, (), {})
        shown = _UNSET.get(name, "none") if unset else _shown(value)
        yield f"{name}: {shown} ({DEFAULT if unset else origin})"
    for ignore in settings.ignores:
        files = "" if ignore.files == "*" else f" in {ignore.files}"
        place = f"{ignore.config}:{ignore.line}"
        yield f"ignored: {ignore.rule} for {ignore.element}{files}, because {ignore.reason} ({place})"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {entry}" for name, entry in value.items())
    return str(value) if isinstance(value, str | float) else ", ".join(value)
