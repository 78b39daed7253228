"""The files of a model with their hashes, for what must say from which files it comes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from mbplugin.errors import MbPluginError
from mbplugin.files import read_bounded
from mbplugin.model.scene import Scene


@dataclass(frozen=True)
class Source:
    """A file that was read, and its SHA-256; None where it could not be read once more."""

    path: str
    sha256: str | None

    def __str__(self) -> str:
        """Return the file with its hash."""
        return f"{self.path}, " + (
            f"SHA-256 {self.sha256}" if self.sha256 else "which could not be read again"
        )


def sources_of(scene: Scene, also: tuple[str, ...] = ()) -> tuple[Source, ...]:
    """Return the files of a scene and others with their hashes, which are those of this moment."""
    found = []
    for path in (*scene.files, *also):
        text = scene.request.text if scene.request and path == scene.request.path else None
        try:
            data = read_bounded(Path(path)) if text is None else text.encode(errors="surrogateescape")
        except MbPluginError:
            found.append(Source(path, None))
        else:
            found.append(Source(path, hashlib.sha256(data).hexdigest()))
    return tuple(found)
