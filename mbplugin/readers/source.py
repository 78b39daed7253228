"""Model arguments of public functions: a file, a live PyBullet client, or a model that is already loaded."""

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
from mbplugin.model.mechanism.contact import Contact
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene
from mbplugin.readers.meshes import mesh_paths

#: The reader of live clients; it needs PyBullet, and is imported only for a client.
_CLIENTS = "mbplugin.bullet.reader"


class BulletClient(Protocol):
    """A client of ``pybullet_utils``."""

    _client: int


class MuJoCoModel(Protocol):
    """A mujoco ``MjModel``."""

    nbody: int


class MuJoCoData(Protocol):
    """A mujoco ``MjData``: a model in a state."""

    qpos: Any


class MuJoCoSpec(Protocol):
    """A mujoco ``MjSpec``, which is compiled."""

    worldbody: Any


class UrdfObject(Protocol):
    """A robot of yourdfpy or urchin."""

    link_map: Any


class PinocchioModel(Protocol):
    """A pinocchio ``Model``."""

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

#: The same, or a scene or mechanism.
ModelSource = FileOrClient | Scene | Mechanism


def model_of(source: ModelSource) -> Scene | Mechanism:
    """Return the scene of a file or live client; return a scene or mechanism unchanged.

    Raises
    ------
    MbPluginError
        The file or client cannot be used.
    """
    return source if isinstance(source, Scene | Mechanism) else loaded(source)


def loaded(source: FileOrClient, *, base: Base | None = None, **options: Any) -> Scene:
    """Return the scene of a file, a live client, or a model of another library in memory.

    Parameters
    ----------
    base : "fixed" or "free", optional
        Overrides the base of the root links.
    **options
        For a file, as for ``readers.load``.

    Raises
    ------
    BadUsage
        The source is none of these.
    MbPluginError
        The source cannot be used.
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


def contacts_in(source: ModelSource) -> tuple[Contact, ...]:
    """Return the points at which bodies touch in a live PyBullet client, as it found them in its last step.

    Raises
    ------
    BadUsage
        The source is no client.
    """
    client = client_id(source)
    if client is None:
        raise BadUsage(
            "contacts are to be read from a model that is no live PyBullet client",
            expected="contacts as tables, or a stance",
        )
    found: tuple[Contact, ...] = import_module(_CLIENTS).read_contact_points(client)
    return found


def in_memory(source: object) -> str:
    """Return the name in messages of a client or a model of another library in memory; empty for anything else."""
    if (client := client_id(source)) is not None:
        return f"<client {client}>"
    return f"<{type(source).__name__}>" if library_model(source) else ""


def client_id(source: object) -> int | None:
    """Return the id of a PyBullet client, given as the id or an object; None for anything else."""
    if isinstance(source, bool):
        return None
    found = source if isinstance(source, int) else getattr(source, "_client", None)
    return found if isinstance(found, int) else None


# The files of a model with their hashes, to document the origin of results.


@dataclass(frozen=True)
class Source:
    """A file that was read, and its SHA-256; None if it could not be read again."""

    path: str
    sha256: str | None

    def __str__(self) -> str:
        """Return the file with its hash."""
        return f"{self.path}, " + (
            f"SHA-256 {self.sha256}" if self.sha256 else "which could not be read again"
        )


def sources_of(scene: Scene, also: tuple[str, ...] = ()) -> tuple[Source, ...]:
    """Return the files of a scene, those in ``also``, and the meshes that were read.

    A hash is that of the content read if a command records it (:func:`mbplugin.files.remember_reads`),
    else of the current content.
    """
    read = [path for path in map(str, mesh_paths(scene)) if hash_when_read(path)]
    text = {} if scene.request is None else {scene.request.path: scene.request.text}
    return tuple(
        Source(path, _hash(path, text.get(path))) for path in dict.fromkeys((*scene.files, *also, *read))
    )


def _hash(path: str, text: str | None) -> str | None:
    """Return the hash of a file, or of the text given in its place; None if it can no longer be read."""
    if text is None and (known := hash_when_read(path)) is not None:
        return known
    try:
        data = read_bounded(Path(path)) if text is None else text.encode(errors="surrogateescape")
    except MbPluginError:
        return None
    return hashlib.sha256(data).hexdigest()
