"""The command line of this run, for the record of its reports."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.model.scene import Scene
    from mbplugin.report.record import Record

_ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())


def keep_arguments(arguments: Sequence[str]) -> None:
    """Keep the arguments of this run."""
    _ARGUMENTS.set(tuple(arguments))


def command_line() -> str:
    """Return what was typed, quoted for a shell."""
    return shlex.join(("mbplugin", *_ARGUMENTS.get()))


def record_of_scene(scene: Scene, also: Iterable[object] = (), standard: str | None = None) -> Record:
    """Return the record of a report about a scene; ``also``: other files that were read, None where absent."""
    from mbplugin.readers.hashed import sources_of
    from mbplugin.report.record import record_of

    files = sources_of(scene, tuple(str(path) for path in also if path is not None))
    return record_of(command_line(), scene.mechanism.name, files, standard)
