"""MJCF read in a process of its own: MuJoCo can raise and then hang, and can end its process."""

from __future__ import annotations

from dataclasses import replace

from mbplugin.model.scene import Request, Scene
from mbplugin.processes.foreign import Limits, in_engine
from mbplugin.readers.mjcf.reader import read_mjcf

LIMITS = Limits(seconds=60.0, cpu=60, memory=2 << 30)


def read_mjcf_apart(text: str, request: Request) -> Scene:
    """Return the scene of an MJCF model, read in another process.

    Raises
    ------
    MbPluginError
        What the reader raises, or that MuJoCo ended its process, needed more than a limit, or failed.
    """
    scene = in_engine("MuJoCo", LIMITS, request.path, read_mjcf, text, request)
    return replace(scene, request=request)
