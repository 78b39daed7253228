"""What is redundant and what to change, in one sentence each."""

from __future__ import annotations

from collections.abc import Container, Sequence

from mbplugin.analysis.remedies import Change, Obstacle
from mbplugin.analysis.self_stress import SelfStress
from mbplugin.linter.files.places import listed
from mbplugin.phrases import counted, shortened

#: Characters of the bodies of a loop, and of the motions that it restrains.
_LOOP, _MOTIONS = 90, 90


def redundancy_sentence(redundancy: int, stresses: Sequence[SelfStress]) -> str:
    """Return how many constraints are redundant, and which motions of which joint are restrained twice."""
    count = counted(redundancy, "redundant constraint")
    if not stresses:
        return count
    first = stresses[0]
    same = [s for s in stresses if (s.loop, s.closed_by) == (first.loop, first.closed_by)]
    if first.loop:
        who = f"the loop {shortened(first.loop, _LOOP)} restrains"
    else:
        who = f"{listed(first.constraints, 4, _LOOP)} {'restrains' if len(first.constraints) == 1 else 'restrain'}"
    motions = listed([s.restrains for s in same], 6, _MOTIONS)
    rest = redundancy - len(same)
    others = f"; {rest} more in the report" if rest else ""
    return f"{count}: {who} {motions} of {shortened(first.closed_by, 50)} twice{others}"


def remedy_sentence(
    changes: Sequence[Change], obstacles: Sequence[Obstacle], closures: Container[str], *, mjcf: bool
) -> str:
    """Return what to change: the types of a scene, or the elements that MJCF has for them.

    Parameters
    ----------
    changes, obstacles : sequence
        Of a block.
    closures : container of str
        The names of the closures, which MJCF states as equalities and not as joints.
    mjcf : bool
        Whether the file is MJCF.
    """
    if changes and mjcf:
        return listed([_in_mjcf(change, change.constraint in closures) for change in changes], 4, 220)
    if changes:
        return "make " + listed([f"{c.constraint} {c.new} instead of {c.old}" for c in changes], 4, 220)
    if not obstacles:
        return "release one of the constraints named"
    names = listed([repr(o.constraint) for o in obstacles], 4, 80)
    return f"declare the redundancy, model the bodies as flexible, or state passive = true in a [[pair]] of {names}"


def _in_mjcf(change: Change, closure: bool) -> str:
    """Return a change in the elements of MJCF: its closures are connect and weld, its joints add up."""
    name, instead = change.constraint, f"({change.new} instead of {change.old})"
    if change.new == "spherical":
        return f"make {name} a connect instead of a weld" if closure else f"make {name} a ball joint"
    slides = {"cylindrical": 1, "point-on-line": 1, "planar": 2, "point-on-plane": 2}.get(change.new, 0)
    if slides:
        joints = "a slide joint" if slides == 1 else f"{slides} slide joints"
        return f"add {joints} at {name} {instead}"
    joint = f"{'slide' if change.new == 'prismatic' else 'hinge'} joint"
    how = f"make {name} a connect and add a {joint}" if closure else f"add a {joint} at {name}"
    return f"{how} {instead}"
