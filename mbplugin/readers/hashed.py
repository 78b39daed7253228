"""The files of a model with their hashes, for what must say from which files it comes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from mbplugin.errors import MbPluginError
from mbplugin.files import hash_when_read, read_bounded
from mbplugin.model.scene import Scene
from mbplugin.readers.meshes.named import mesh_paths


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
    """Return the files of a scene, others, and the meshes that were read.

    A hash is that of the moment of reading where a command remembers it (:func:`mbplugin.files.remember_reads`),
    else of this moment.
    """
    read = [path for path in map(str, mesh_paths(scene)) if hash_when_read(path)]
    text = {} if scene.request is None else {scene.request.path: scene.request.text}
    return tuple(
        Source(path, _hash(path, text.get(path))) for path in dict.fromkeys((*scene.files, *also, *read))
    )


def _hash(path: str, text: str | None) -> str | None:
    """Return the hash of a file, or of the text that stands for it; None where it cannot be read any more."""
    if text is None and (known := hash_when_read(path)) is not None:
        return known
    try:
        data = read_bounded(Path(path)) if text is None else text.encode(errors="surrogateescape")
    except MbPluginError:
        return None
    return hashlib.sha256(data).hexdigest()
