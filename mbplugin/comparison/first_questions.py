"""The first queries to PyBullet, combined in one process, because each start takes a second."""

from __future__ import annotations

from dataclasses import dataclass

from mbplugin.bullet.motion.run import Sampled, left_out, run_motion
from mbplugin.bullet.motion.task import Solver, Task
from mbplugin.comparison.statics import Statics, query_statics

_NO_STATICS = Statics()


@dataclass(frozen=True, eq=False)
class Begun:
    """What PyBullet says first: what it cannot do, or statics and the motions at four steps."""

    left_out: tuple[str, ...]
    statics: Statics = _NO_STATICS
    runs: tuple[Sampled, ...] = ()


def begin(task: Task, step: float, solver: Solver) -> Begun:
    """Return what PyBullet says first of a task."""
    if gone := left_out(task):
        return Begun(gone)
    return Begun((), query_statics(task), tuple(run_motion(task, step, (1, 2, 4, 8), solver)))
