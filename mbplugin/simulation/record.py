"""What a run keeps: samples, steps with dense output, events."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mbplugin.simulation.event import Event
from mbplugin.simulation.integrators.contract import Chunk, Step
from mbplugin.simulation.march import State
from mbplugin.spatial import AnyArray, Array


@dataclass
class Record:
    """Samples in blocks, one after the other.

    Parameters
    ----------
    blocks : list of (time, q, qd, qdd, work)
        Each with a leading axis over its samples.
    segments : list of (index, samples)
        Which set of constraints held.
    steps : list of Step
    events : list of Event
    """

    blocks: list[tuple[Array, ...]] = field(default_factory=list)
    segments: list[tuple[int, int]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def add(self, state: State, segment: int) -> None:
        """Keep a state."""
        values = (np.array(state.t), state.q, state.qd, state.qdd, state.work)
        self.blocks.append(tuple(v.copy()[None] for v in values))
        self.segments.append((segment, 1))

    def add_chunk(self, chunk: Chunk, kept: int, segment: int) -> None:
        """Keep the first samples of a chunk."""
        values = (chunk.time, chunk.q, chunk.qd, chunk.qdd, chunk.work)
        self.blocks.append(tuple(v[:kept] for v in values))
        self.segments.append((segment, kept))

    def arrays(self) -> tuple[Array, Array, Array, Array, Array]:
        """Return time (T,), q, qd, qdd and works (T, 3) of all samples."""
        time, q, qd, qdd, work = (np.concatenate(parts) for parts in zip(*self.blocks, strict=True))
        return time, q, qd, qdd, work

    def segment(self) -> AnyArray:
        """Return which set of constraints held at each sample, (T,)."""
        return np.concatenate([np.full(n, k) for k, n in self.segments])
