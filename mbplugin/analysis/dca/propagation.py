"""Steps 1–8: propagation of the results at the ground from body to body (pekal2024 §3.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Decision:
    """One reaction decided.

    Parameters
    ----------
    step : int
        2, 4 or 6 of the paper's algorithm.
    execution : int
        How often step 6 has run, from 1; 0 in the other steps.
    body : str
        The body whose balance tells, or the label of an assembly.
    """

    step: int
    execution: int
    body: str
    joint: str
    unique: bool


@dataclass(frozen=True)
class Propagation:
    """All decisions in their order, and where they end.

    Parameters
    ----------
    unique : dict of joint to bool
        What is decided.
    stalled : tuple of str
        Bodies at which the steps stop: three or more loaded handles, an undecided one among them.
    """

    decisions: tuple[Decision, ...]
    unique: Mapping[str, bool]
    stalled: tuple[str, ...]

    @property
    def executions(self) -> int:
        """How often step 6 has run with a result."""
        return max((d.execution for d in self.decisions), default=0)


def propagate(
    bodies: Sequence[str], handles: Sequence[Sequence[str]], at_ground: Sequence[Decision]
) -> Propagation:
    """Run steps 3 to 8 from the decisions of step 2.

    A unique reaction is a known load on its body, so a body with two handles that are not known to
    be unique is as good as the paper's body with two handles: both are unique or both are not.
    """
    decisions = list(at_ground)
    unique = {d.joint: d.unique for d in at_ground}
    for name, own in zip(bodies, handles, strict=True):
        if len(own) == 1 and own[0] not in unique:
            decisions.append(Decision(4, 0, name, own[0], True))
            unique[own[0]] = True
    execution = 1
    # the list is complete before anything is noted, so a body knows what was known when it began
    while new := list(_step_6(bodies, handles, unique, execution)):
        for decision in new:
            if decision.joint not in unique:
                decisions.append(decision)
                unique[decision.joint] = decision.unique
        execution += 1
    stalled = tuple(
        name
        for name, own in zip(bodies, handles, strict=True)
        if any(h not in unique for h in own) and sum(not unique.get(h, False) for h in own) > 2
    )
    return Propagation(tuple(decisions), unique, stalled)


def _step_6(
    bodies: Sequence[str], handles: Sequence[Sequence[str]], known: Mapping[str, bool], execution: int
) -> Iterator[Decision]:
    """Yield what the balance of single bodies tells about their last unknown reaction."""
    for name, own in zip(bodies, handles, strict=True):
        unknown = [h for h in own if h not in known]
        arbitrary = sum(not known[h] for h in own if h in known)
        if len(unknown) == 1 and arbitrary < 2:
            yield Decision(6, execution, name, unknown[0], arbitrary == 0)
