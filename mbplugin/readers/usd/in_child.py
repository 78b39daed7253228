"""USD read in a process of its own: what composes a stage may never end, or end its process."""

from __future__ import annotations

from dataclasses import replace

from mbplugin.model.scene import Request, Scene
from mbplugin.processes.foreign import Limits, in_engine
from mbplugin.readers.usd.reader import read_usd

LIMITS = Limits(seconds=60.0, cpu=60, memory=4 << 30)


def read_usd_apart(text: str, request: Request) -> Scene:
    """Return the scene of a USD stage, read in another process.

    Parameters
    ----------
    text : str
        The layer, where it was handed over as text; a file is opened by its path.

    Raises
    ------
    MbPluginError
        What the reader raises, or that USD ended its process or needed more than a limit.
    """
    scene = in_engine("OpenUSD", LIMITS, request.path, read_usd, text, request)
    return replace(scene, request=request)
