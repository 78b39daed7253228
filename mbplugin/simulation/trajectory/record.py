"""The record of a run: samples, steps with dense output, events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.events.event import Event
from mbplugin.simulation.integrators.contract import Chunk, Step
from mbplugin.simulation.steppers.compiled import State

#: Times closer than this, relative and in seconds, are one instant.
_ROUNDING = 1e-12


@dataclass
class Record:
    """Samples in blocks, one after the other.

    Parameters
    ----------
    blocks : list of (time, q, qd, qdd, work)
        Each with a leading axis over its samples.
    segments : list of (index, samples)
        Which set of constraints held.
    count : int
        How many samples were added.
    """

    blocks: list[tuple[Array, ...]] = field(default_factory=list)
    segments: list[tuple[int, int]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    count: int = 0

    def add(self, state: State, segment: int) -> None:
        """Keep a state; times that rounding has in the wrong order are one instant."""
        time = state.t
        if self.blocks and 0.0 < self.blocks[-1][0][-1] - time < _ROUNDING * (1.0 + abs(time)):
            time = float(self.blocks[-1][0][-1])
        values = (np.array(time), state.q, state.qd, state.qdd, state.work)
        self.blocks.append(tuple(v.copy()[None] for v in values))
        self.segments.append((segment, 1))
        self.count += 1

    def add_chunk(self, chunk: Chunk, kept: int, segment: int) -> None:
        """Keep the first samples of a chunk."""
        values = (chunk.time, chunk.q, chunk.qd, chunk.qdd, chunk.work)
        self.blocks.append(tuple(v[:kept].copy() for v in values))
        self.segments.append((segment, kept))
        self.count += kept

    def arrays(self) -> tuple[Array, Array, Array, Array, Array]:
        """Return time (T,), q, qd, qdd and works (T, 3) of all samples."""
        time, q, qd, qdd, work = (np.concatenate(parts) for parts in zip(*self.blocks, strict=True))
        return time, q, qd, qdd, work

    def segment(self) -> AnyArray:
        """Return which set of constraints held at each sample, (T,)."""
        return np.concatenate([np.full(n, k) for k, n in self.segments])

    def last(self) -> State:
        """Return the state kept last."""
        return _state(self.blocks[-1], -1)

    def backwards(self) -> Iterator[tuple[State, int]]:
        """Yield all states and the index of what held, the last one first."""
        for block, (segment, count) in zip(reversed(self.blocks), reversed(self.segments), strict=True):
            for k in range(count - 1, -1, -1):
                yield _state(block, k), segment

    def back_to(self, time: float) -> None:
        """Forget what came after an instant (s)."""
        while self.blocks[-1][0][-1] > time:
            count = int((self.blocks[-1][0] <= time).sum())
            self.blocks[-1] = tuple(v[:count] for v in self.blocks[-1])
            self.segments[-1] = (self.segments[-1][0], count)
            if not count:
                del self.blocks[-1], self.segments[-1]
        self.steps = [step for step in self.steps if step.start < time]
        self.events = [event for event in self.events if event.time <= time]


def _state(block: tuple[Array, ...], k: int) -> State:
    time, *values = (v[k].copy() for v in block)
    return State(float(time), *values)


def make_step(start: State, end: State, dense: Array) -> Step:
    """Return the step between two states, with its ``dense`` (d, 2, nv) output."""
    return Step(start.t, end.t - start.t, start.q, start.qd, dense.copy(), np.array([start.work, end.work]))


def make_steps(start: State, chunk: Chunk, count: int) -> list[Step]:
    """Return the first steps of a chunk that begins at a state."""
    time = np.append(start.t, chunk.time[:count])
    q, qd, work = (
        np.vstack((first, rest[:count]))
        for first, rest in ((start.q, chunk.q), (start.qd, chunk.qd), (start.work, chunk.work))
    )
    dense, starts, lengths = chunk.dense[:count].copy(), time.tolist(), np.diff(time).tolist()
    return [Step(starts[k], lengths[k], q[k], qd[k], dense[k], work[k : k + 2]) for k in range(count)]


def sample(chunk: Chunk, k: int) -> State:
    """Return one of the states that a loop has left behind."""
    values = (chunk.q[k].copy(), chunk.qd[k].copy(), chunk.qdd[k].copy(), chunk.work[k].copy())
    return State(float(chunk.time[k]), *values)
