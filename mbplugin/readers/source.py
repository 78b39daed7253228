"""What public functions take for a model: a file, a live PyBullet client, or what was loaded before."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.files import hash_when_read, read_bounded
from mbplugin.model.enumerations import Base, library_model
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene
from mbplugin.readers.meshes import mesh_paths

#: The reader of live clients; it needs PyBullet, and is imported when there is a client.
_CLIENTS = "mbplugin.bullet.reader"


class BulletClient(Protocol):
    """A client of ``pybullet_utils``."""

    _client: int


class MuJoCoModel(Protocol):
    """An ``MjModel`` of mujoco."""

    nbody: int


class MuJoCoData(Protocol):
    """An ``MjData`` of mujoco: a model in a state."""

    qpos: Any


class MuJoCoSpec(Protocol):
    """An ``MjSpec`` of mujoco, which is compiled."""

    worldbody: Any


class UrdfObject(Protocol):
    """A robot of yourdfpy or urchin."""

    link_map: Any


class PinocchioModel(Protocol):
    """A ``Model`` of pinocchio."""

    njoints: int


#: A file, a PyBullet client (its id, or an object), or a model of another library in memory.
FileOrClient = (
    str
    | os.PathLike[str]
    | int
    | BulletClient
    | MuJoCoModel
    | MuJoCoData
    | MuJoCoSpec
    | PinocchioModel
    | UrdfObject
)

#: The same, or a scene or a mechanism.
ModelSource = FileOrClient | Scene | Mechanism


def model_of(source: ModelSource) -> Scene | Mechanism:
    """Return the scene of a file or of a live client; a scene or a mechanism as it is.

    Raises
    ------
    MbPluginError
        A file or a client that cannot be used.
    """
    return source if isinstance(source, Scene | Mechanism) else loaded(source)


def loaded(source: FileOrClient, *, base: Base | None = None, **options: Any) -> Scene:
    """Return the scene of a file or of a live client.

    Parameters
    ----------
    base : "fixed" or "free", optional
        Overrides the base of the root links.
    **options
        Of a file, as for ``readers.load``.

    Raises
    ------
    BadUsage
        Something else than a file or a client.
    MbPluginError
        One that cannot be used.
    """
    if (client := client_id(source)) is not None:
        scene: Scene = import_module(_CLIENTS).read_client(client, base=base)
        return scene
    if isinstance(source, str | os.PathLike):
        from mbplugin.readers import load

        return load(source, base=base, **options)
    if library_model(source) is not None:
        from mbplugin.readers.objects import read_library_model

        return read_library_model(source, base)
    raise BadUsage(
        f"a {type(source).__name__} is no model",
        expected="a file, a PyBullet client, a scene, a mechanism, or a model of MuJoCo, Pinocchio, yourdfpy or urchin",
    )


def in_memory(source: object) -> str:
    """Return what messages call a client or a model of another library in memory; empty for anything else."""
    if (client := client_id(source)) is not None:
        return f"<client {client}>"
    return f"<{type(source).__name__}>" if library_model(source) else ""


def client_id(source: object) -> int | None:
    """Return the id of a PyBullet client that is given by its id or as an object; None for anything else."""
    if isinstance(source, bool):
        return None
    found = source if isinstance(source, int) else getattr(source, "_client", None)
    return found if isinstance(found, int) else None


# The files of a model with their hashes, for what must say from which files it comes.


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
