"""Writers of model files, one for each format; each reports what the format cannot state."""

from __future__ import annotations

from importlib import import_module

from mbplugin.choices import FORMATS as FORMATS
from mbplugin.errors import BadUsage
from mbplugin.model import Array, Mechanism, Request, Scene, as_scene
from mbplugin.readers import load, read_again
from mbplugin.writers.written import ENDINGS, Written


def write(model: Scene | Mechanism, to: str, q: Array | None = None) -> Written:
    """Return a model as text of another format, at the pose of its state.

    Parameters
    ----------
    model : Scene or Mechanism
    to : "mjcf", "sdf", "urdf", "usd" or "scene"
    q : (nq,) array, optional
        Joint coordinates, rad and m, instead of those of the state.

    Raises
    ------
    BadUsage
        Unknown format, a name that the format cannot write, or an unsupported constraint whose omission would
        change the mechanism.
    """
    if to not in FORMATS:
        raise BadUsage(f"the format is {to!r}", expected=f"one of {', '.join(FORMATS)}")
    scene = as_scene(model)
    if q is not None:
        from dataclasses import replace

        scene = replace(scene, state=replace(scene.state, q=q))
    written: Written = getattr(import_module(f"mbplugin.writers.{to}"), f"{to}_text")(scene)
    return written


def read_back(written: Written) -> Scene:
    """Read a written text back, with file names resolved from the folder of ``names_from``.

    Raises
    ------
    MbPluginError
        Any error of the reader of the format.
    """
    name, source = f"written{ENDINGS[written.format]}", written.names_from
    if source is None:
        return load(name, text=written.text)
    return read_again(written.text, Request(str(source.folder / name), None, source.package_dirs))
