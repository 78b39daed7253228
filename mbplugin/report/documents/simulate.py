"""The JSON document of ``mbplugin simulate`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from mbplugin.model.enumerations import Coordinates, Formulation, Limits, Redundancy, TransitionRule
from mbplugin.report.documents.part import Count, Part, PlanarModel, Recorded, Series, Size, by_name, key
from mbplugin.report.documents.stopping.stops import EffortLimits
from mbplugin.simulation.events.event import EventKind
from mbplugin.simulation.outcome import Outcome
from mbplugin.stopping.scenario.effort_limits import assumed_brakes, brakes_of_effort

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.trajectory import Trajectory

_SeriesByName = dict[str, Series]


class _Request(Part):
    duration: Size = key("s")
    integrator: str
    step: Size | None = key("s")
    rtol: Size
    atol: Size
    formulation: Formulation
    redundancy: Redundancy
    coordinates: Coordinates
    transition: TransitionRule = key(
        "how locks close: by the momentum balance, or their own rates set to zero", optional=True
    )
    samples: Count | None
    limits: Limits
    damping: bool
    friction: bool
    max_seconds: Size = key("of computing, s; a longer motion ends as budget_spent")


class _Energy(Part):
    kinetic: Series = key("J")
    potential: Series = key("J; gravity has none at the origin of the world")
    dissipated: Series = key("work lost in dampers and friction since the start, J")
    applied: Series = key("work done by loads, torques and controllers, J")
    driven: Series = key("work done by drivers, J")


class _Impulse(Part):
    constraint: str
    component: str
    value: float
    unique: bool = key("whether the rigid model determines it")


class _MotionEvent(Part):
    time: Size = key("s")
    kind: EventKind
    joint: str
    velocity_before: Series = key("rad/s and m/s, as the keys of qd")
    velocity_after: Series
    impulse: list[_Impulse] = key("N·s and N·m·s, on the successor")
    text: str

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the object of an event."""
        impulse = [(*label, size, label not in value.open_impulses) for label, size in value.impulse.items()]
        return super().of(value, impulse=impulse)


class _PairReaction(Part):
    wrench: list[Annotated[list[float], Field(min_length=6, max_length=6)]] = key(
        "force (N) and moment (N·m) on the successor at the origin of S, axes of P"
    )
    unique: list[Annotated[list[bool], Field(min_length=6, max_length=6)]] = key(
        "whether the rigid model determines each component"
    )
    determined: list[Annotated[list[bool], Field(min_length=6, max_length=6)]] = key(
        "whether the rigid model or the stated stiffness does; only with stated stiffness", optional=True
    )


class _Leading(Part):
    time: float = key("s, from when on")
    names: list[str] = key("joint rates")


class Output(Recorded):
    """A motion."""

    source: str = key("the FILE as it was given")
    model: PlanarModel
    request: _Request
    outcome: Outcome
    degree_of_redundancy: Count
    tolerance: Size = key("relative rank tolerance")
    time: Series = key("s; an event has two samples, before and after it")
    q: _SeriesByName = key("rad, m and components of quaternions xyzw, by coordinate")
    qd: _SeriesByName = key("rad/s and m/s, by joint rate")
    qdd: _SeriesByName = key("rad/s² and m/s², by joint rate")
    momentum: _SeriesByName = key("M(q) q̇, N·m·s and N·s, by joint rate", optional=True)
    energy: _Energy
    active: list[list[str]] = key("what held besides the constraints, by segment")
    segment: list[Count] = key("which entry of active held at each sample")
    independent: list[_Leading] = key(
        "the independent joint rates from a time on, of formulations closing and partitioning", optional=True
    )
    residuals: dict[str, Size] = key("largest position residual of every closing constraint, m or rad")
    events: list[_MotionEvent]
    reactions: dict[str, _PairReaction] = key("of the requested pairs")
    statistics: dict[str, float]
    assumed: list[str] = key("what brakes leave out, one sentence for each joint", optional=True)
    of_effort: EffortLimits = key("brakes that are not stated", optional=True)
    notes: list[str]


def simulate_document(
    motion: Trajectory,
    request: Mapping[str, Any] | None,
    pairs: Sequence[str],
    source: str,
    files: Sequence[str],
) -> dict[str, Any]:
    """Return the document of one motion, with the reactions of some pairs.

    A motion does not know its request: without one, ``request`` is null.
    """
    mech = motion.mechanism
    return Output.of(
        motion,
        source=source,
        model=(mech.name, files, motion.planar or False),
        request=request,
        q=by_name(mech.q_names, motion.q.T),
        qd=by_name(mech.qd_names, motion.qd.T),
        qdd=by_name(mech.qd_names, motion.qdd.T),
        momentum=by_name(mech.qd_names, motion.momenta.T),
        energy=motion,
        assumed=assumed_brakes(motion.actions.brakes),
        of_effort=brakes_of_effort(motion.actions.brakes),
        reactions={
            pair: (
                motion.reactions(pair),
                motion.uniqueness(pair),
                motion.determined(pair) if motion.stiffness else None,
            )
            for pair in pairs
        },
    )
