"""Which constraints and bodies a finding is about, for the 3D view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.linter.finding import Finding


class Concerned(NamedTuple):
    """Names of constraints and of bodies."""

    constraints: tuple[str, ...]
    bodies: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.constraints or self.bodies)


def concerned(finding: Finding, analysis: Analysis) -> Concerned:
    """Return what a finding names: its element, and the names in its evidence.

    A redundant constraint stands for its loop: where only one constraint is named and a self-stress loads
    it, all that this self-stress loads is concerned.
    """
    mech = analysis.mechanism
    known = {c.name for c in mech.constraints()}
    named = dict.fromkeys((finding.element, *_texts(finding.evidence)))
    constraints = [name for name in named if name in known]
    bodies = [name for name in named if name in mech.body_index and name not in known]
    if len(constraints) == 1 and not bodies:
        loops = [s.constraints for s in analysis.self_stresses if constraints[0] in s.constraints]
        constraints = list(dict.fromkeys((*constraints, *(name for loop in loops for name in loop))))
    return Concerned(tuple(constraints), tuple(bodies))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
