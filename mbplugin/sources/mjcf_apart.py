"""MJCF read in a process of its own: MuJoCo can raise and then hang, and can end its process."""

from __future__ import annotations

from dataclasses import replace

from mbplugin.foreign import Limits, in_engine
from mbplugin.sources.mjcf import read_mjcf
from mbplugin.sources.scene import Request, Scene

LIMITS = Limits(seconds=60.0, cpu=60, memory=2 << 30)


def read_mjcf_apart(text: str, request: Request) -> Scene:
    """Return the scene of an MJCF model, as :func:`mbplugin.sources.mjcf.read_mjcf` in another process.

    Raises
    ------
    MbPluginError
        What the reader raises, or that MuJoCo ended its process, needed more than a limit, or failed.
    """
    scene = in_engine("MuJoCo", LIMITS, request.path, read_mjcf, text, request)
    return replace(scene, request=request)
