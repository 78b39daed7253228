"""What public functions take for a model: a file, a live PyBullet client, or what was loaded before."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any, Protocol

from mbplugin.errors import BadUsage
from mbplugin.model.enumerations import Base
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene

#: The reader of live clients; it needs PyBullet, and is imported when there is a client.
_CLIENTS = "mbplugin.bullet.reader.client"


class BulletClient(Protocol):
    """A client of ``pybullet_utils``."""

    _client: int


#: A file, or a PyBullet client: its id, or an object.
FileOrClient = str | os.PathLike[str] | int | BulletClient
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
    raise BadUsage(
        f"a {type(source).__name__} is no model",
        expected="a file, a PyBullet client, a scene or a mechanism",
    )


def client_id(source: object) -> int | None:
    """Return the id of a PyBullet client that is given by its id or as an object; None for anything else."""
    if isinstance(source, bool):
        return None
    found = source if isinstance(source, int) else getattr(source, "_client", None)
    return found if isinstance(found, int) else None
