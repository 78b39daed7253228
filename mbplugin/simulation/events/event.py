"""An event during a motion, with its time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from mbplugin.model.component import MOTION_WORDS
from mbplugin.model.mechanism.identity import Holder
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr

#: Declared once, for what makes events and the schemas that promise their kinds.
EventKind = Literal["lock", "brake", "release", "stick", "slip", "limit", "user", "singular", "contradictory"]
EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)


@one_line_repr
@dataclass(frozen=True, eq=False)
class Event:
    """An instant at which a motion changed, or something watched was passed.

    Parameters
    ----------
    time : float
        s.
    kind : EventKind
        ``lock``, ``brake`` (one grips), ``release``, ``stick``, ``slip``, ``limit``, ``user``,
        ``singular`` (constraints lose rank) or ``contradictory`` (no rates satisfy what is to hold).
    joint : str
        The joint, constraint or function concerned.
    velocity_before, velocity_after : (nv,) array
        Joint rates in the order of ``qd_names``, rad/s and m/s.
    impulse : dict of (constraint, component) to float
        Impulses given to the successor, N·s and N·m·s; empty where the rates did not jump.
    open_impulses : tuple of (constraint, component)
        Those that a rigid model leaves open; ``impulse`` then holds the smallest ones.
    text : str
        One sentence for reports.
    """

    time: float
    kind: EventKind
    joint: str
    velocity_before: Array
    velocity_after: Array
    impulse: dict[tuple[str, str], float] = field(default_factory=dict)
    text: str = ""
    open_impulses: tuple[tuple[str, str], ...] = ()

    @property
    def sentence(self) -> str:
        """What happened, in words."""
        return self.text or f"{self.joint}: {self.kind}"


def passing(time: float, kind: EventKind, joint: str, qd: Array, text: str = "") -> Event:
    """Return an event that leaves the rates qd (nv,) as they are."""
    rates = np.array(qd, dtype=float)
    rates.setflags(write=False)
    return Event(time, kind, joint, rates, rates, {}, text)


def freedom_words(pair: Pair, freedom: str) -> str:
    """Return the name of a joint, and of several freedoms which one."""
    several = len(pair.kind.free) > 1
    return f"{pair.name} ({MOTION_WORDS.get(freedom, freedom)})" if several else pair.name


def release_words(name: str) -> str:
    """Return what happens to a lock, a drive or another constraint that no longer holds."""
    holder = Holder.of(name)
    if holder is None:
        return f"{name} is released"
    return (
        f"the {holder.kind} of {holder.joint} is {'switched off' if holder.kind == 'drive' else 'released'}"
    )
