"""The JSON document of ``mbplugin config`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbplugin.report.documents.part import Code, Count, Document, Part, key

if TYPE_CHECKING:
    from mbplugin.linter.config.settings import Settings


class _Setting(Part):
    name: str
    value: Any
    origin: str = key("file:line, or default")


class _Ignore(Part):
    rule: Code
    element: str
    files: str
    reason: str
    file: str = key(read="config")
    line: Count


class Output(Document):
    """The settings that apply to a file."""

    configuration: str | None = key("the file; null where there is none")
    settings: list[_Setting]
    ignores: list[_Ignore]


def settings_document(settings: Settings) -> dict[str, Any]:
    """Return the JSON document of ``mbplugin config``."""
    return Output.of(
        settings,
        configuration=settings.file or None,
        settings=[(name, *setting) for name, setting in settings.values.items()],
    )
