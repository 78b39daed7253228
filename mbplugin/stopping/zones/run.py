"""``stop_zone``: what a robot, its tool and its payload sweep during a stop, a table or a sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isfinite

from mbplugin.arguments import checked
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Payload, Scene
from mbplugin.phrases import listed
from mbplugin.readers.common.paths import named_package
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.stopping.outcome.values import StopReport
from mbplugin.stopping.sweep.plan import SweepPlan
from mbplugin.stopping.sweep.stops import stopper_of
from mbplugin.stopping.table.values import StoppingTable
from mbplugin.stopping.zones.libraries import shapely
from mbplugin.stopping.zones.motion import StopMotion, motion_of_trajectory
from mbplugin.stopping.zones.pieces import BodyPieces, body_pieces
from mbplugin.stopping.zones.union import ZoneUnion
from mbplugin.stopping.zones.zone import StopZone

#: Called with (stops done, stops in all).
Progress = Callable[[int, int], None]
#: Bounds of the resolution, m.
_FINEST, _COARSEST = 1e-5, 1.0


@checked
def stop_zone(
    scene: ModelSource,
    stops: StopReport | StoppingTable | SweepPlan,
    *,
    resolution: float = 0.002,
    payload_radius: float | None = None,
    solid: bool = False,
    progress: Progress | None = None,
) -> StopZone:
    """Compute the zone that a robot, its tool and its payload sweep during stops.

    The zone contains every point of the shapes at every time from the signal to rest: between two samples
    of a link it is the hull of both, grown by the sagitta of the path; holes are filled.

    Parameters
    ----------
    scene : path, PyBullet client or Scene
        Of the robot, with its shapes: collision shapes, else visual ones.
    stops : StopReport, StoppingTable or SweepPlan
        Of this robot.
    resolution : float
        Largest sagitta between two samples, and growth of the outline, m. The samples are at most 0.05 rad
        apart, so that a point 1 m from the axis has a sagitta of 0.3 mm or more.
    payload_radius : float, optional
        Radius of the ball around the centre of mass of each payload, m. A payload states no shape.
    solid : bool
        Also make the solids of an STL file.
    progress : callable, optional
        Called with (stops done, stops in all).

    Raises
    ------
    BadUsage
        Payloads without a radius, a stop of another robot, or a zone of too many solids.
    BadNumber
        A resolution or a radius that cannot be.
    MissingDependency
        shapely is not installed.
    """
    shapely()
    scene = model_of(scene)
    if not isinstance(scene, Scene):
        raise BadUsage(f"{scene!r} has no shapes", expected="a Scene, which mbplugin.load returns")
    if not _FINEST <= resolution <= _COARSEST:
        raise BadNumber(f"the resolution is {resolution:g} m", expected=f"{_FINEST:g} to {_COARSEST:g} m")
    payloads, count, motions = _motions_of(scene, stops)
    robot = _robot(scene, payloads, payload_radius)
    union = ZoneUnion(scene.mechanism, robot, resolution, solid)
    for done, motion in enumerate(motions, start=1):
        union.add(motion)
        if progress is not None:
            progress(done, count)
    polygons = union.polygons()
    return StopZone(
        scene.mechanism.name,
        count,
        polygons,
        union.lower,
        union.upper,
        union.sagitta,
        resolution,
        robot.without_shape,
        (
            *_warnings(stops),
            *_assumptions(robot, scene.mechanism, payloads, payload_radius, union.sagitta, resolution),
        ),
        union.triangles(),
    )


def _motions_of(
    scene: Scene, stops: StopReport | StoppingTable | SweepPlan
) -> tuple[tuple[Payload, ...], int, Iterable[StopMotion]]:
    """Return what the robot carries, how many stops there are, and their motions."""
    if isinstance(stops, StoppingTable):
        _require_same(scene, stops.model)
        if not stops.motions:
            raise BadUsage("the table has no motions", expected="a table that stopping_table returned")
        return stops.payloads, len(stops.motions), stops.motions
    if isinstance(stops, StopReport):
        _require_same(scene, stops.scenario.mech.name, stops.scenario.mech.q_names)
        return stops.scenario.actions.payloads, 1, [motion_of_trajectory(stops.trajectory)]
    if isinstance(stops, SweepPlan):
        _require_same(scene, stops.scenario.mech.name, stops.scenario.mech.q_names)
        return stops.scenario.actions.payloads, stops.count, _sweep_motions(stops)
    raise BadUsage(f"{stops!r} is no stop", expected="a StopReport, a StoppingTable or a SweepPlan")


def _warnings(stops: StopReport | StoppingTable | SweepPlan) -> Iterator[str]:
    """Yield what is assumed in the stops."""
    own = stops if isinstance(stops, StoppingTable) else stops.scenario
    yield from filter(None, (own.of_effort.warning, own.tool_choice.warning))


def _require_same(scene: Scene, name: str, q_names: tuple[str, ...] | None = None) -> None:
    own = scene.mechanism
    if name != own.name or q_names not in (None, own.q_names):
        raise BadUsage(f"the stop is that of {name!r}, not of {own.name!r}", expected="a stop of the scene")


def _sweep_motions(plan: SweepPlan) -> Iterator[StopMotion]:
    """Yield the motions of a sweep, stop by stop: each is computed again from its number."""
    stopper = stopper_of(plan.scenario)
    for k in range(plan.count):
        stopper.stop(*plan.draw(k))
        yield stopper.motion()


def _robot(scene: Scene, payloads: tuple[Payload, ...], radius: float | None) -> BodyPieces:
    """Return the pieces of the robot with its payloads.

    Raises
    ------
    BadUsage, BadNumber
        Payloads without a radius, or a radius that cannot be.
    """
    if radius is not None and not (isfinite(radius) and 0 <= radius <= 100):
        raise BadNumber(f"the radius of the payload is {radius:g} m", expected="0 to 100 m")
    if payloads and radius is None:
        raise BadUsage(
            f"the size of the payload at {payloads[0].body!r} is not stated",
            expected="the radius, m, of a ball around its centre of mass that contains it",
            remedy="state it with --payload-radius (payload_radius); 0 leaves its shape out",
        )
    return body_pieces(scene.mechanism, scene.shapes, payloads, radius or 0.0, scene.request)


def _assumptions(
    robot: BodyPieces,
    mech: Mechanism,
    payloads: tuple[Payload, ...],
    radius: float | None,
    sagitta: float,
    resolution: float,
) -> tuple[str, ...]:
    said = [
        "computed, not measured",
        "world axes, m; seen from above, holes filled; a mesh counts as its convex hull",
        f"between samples grown by the sagitta of the path, at most {1e3 * sagitta:.3g} mm; the outline by at most"
        f" {2e3 * resolution:.3g} mm",
    ]
    if payloads:
        said.append(f"each payload is a ball of {radius:g} m around its centre of mass")
    return (*said, *_too_small(robot, mech))


def _too_small(robot: BodyPieces, mech: Mechanism) -> Iterator[str]:
    """Yield what is not in the zone: shapes that cannot be read, and those that links with mass do not state."""
    if robot.unread:
        files = list(dict.fromkeys(file for files in robot.unread.values() for file in files))
        packages = dict.fromkeys(name for file in files if (name := named_package(file)))
        folder = f"the folder that holds {', '.join(packages)}" if packages else "their folder"
        remedy = f"; state {folder} with --package-dir" if files else ""
        which = f" ({listed([repr(file) for file in files], most=2)})" if files else ""
        yield (
            f"TOO SMALL: the shapes of {', '.join(robot.unread)} cannot be read{which}: only joints and centres"
            f" of mass of these links are in the zone{remedy}"
        )
    # a frame without mass, such as a flange, has nothing that could be left out
    bare = [
        name
        for name in robot.without_shape
        if name not in robot.unread and mech.bodies[mech.body_index[name]].mass > 0
    ]
    if bare:
        yield (
            f"TOO SMALL: {', '.join(bare)} state no shape: only joints and centres of mass of these links are in"
            " the zone; state their collision shapes"
        )
