"""What a conversion takes for granted, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator

from mbplugin.closing.drift.run import DURATION
from mbplugin.closing.values import Closing
from mbplugin.phrases import listed

_DRIVES = {
    "free": "move freely",
    "held": "are held, since the loops come apart in an engine where they are not",
}


def assumptions_of(found: Closing) -> Iterator[str]:
    """Yield the assumptions of a conversion."""
    if found.driven:
        yield f"driven joints stay in the tree: {listed(found.driven)}"
    else:
        yield "no joint is driven: the model names no drive, brake, coupling, lock or effort limit"
    if found.planar is not None:
        yield f"the redundancy is that in space, although the scene is analyzed in the plane {found.planar}"
    yield f"the pose that is written is closed, with rank tolerance {found.tolerance:g}"
    if found.drift.before:
        yield (
            f"drift and noise are those of {DURATION:g} s from rest under gravity, at the default step of each engine; "
            f"free bases stand still, limits and friction do not act, and driven joints {_DRIVES[found.drift.drives]}"
        )
        yield (
            "a gap is what a closure holds and an engine violates; noise is estimated from second differences of the "
            "force in time"
        )
