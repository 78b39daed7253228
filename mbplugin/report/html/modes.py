"""The page of small motions: modes as swings of the mechanism, their table, and their equations."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, radians
from typing import Any

import numpy as np

from mbplugin.errors import CannotClose
from mbplugin.model import Array, Mechanism, forward, rate_units
from mbplugin.phrases import counted, listed
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.chart import Html, choice, element, section, table, unshown
from mbplugin.report.html.view import base64_of, body_places
from mbplugin.report.picture.bodies import joint_points
from mbplugin.report.text.models import STABILITY_MEANING, mode_cells, mode_shape, rest_rows
from mbplugin.simulation.equilibrium import Linearization, Mode

#: Limits of a drawn swing: the turn of any body, rad, and the travel of any joint or centre of mass, relative to the
#: radius of the picture.
_TURN, _TRAVEL = radians(20), 0.15
#: Poses of a swing from one extreme to the other; odd, so that the pose of rest is among them.
_POSES = 21
#: A swing that exceeds its limits by this factor has left the branch of the linear mode.
_BENT = 1.5
#: Halvings of an amplitude whose loops do not close, and the small amplitude that gives the rates of a mode.
_HALVINGS, _SMALL = 8, 1e-4
#: Maximum number of modes that can be seen, of rows of tables, and of independent coordinates with matrices.
_MODES, _ROWS, _MATRIX = 12, 60, 8
#: Duration of one period on the page, s.
PERIOD = 2.0


@dataclass(frozen=True, eq=False)
class Swing:
    """A mode as it is drawn: closed poses from one extreme to the other.

    Parameters
    ----------
    number : int
        Of the mode, from 1.
    mode : Mode
    amplitude : float
        Of the joint that moves most, rad or m.
    joint : str
        The rate of that joint.
    unit : str
        "rad" or "m".
    places : (n, N, 7) array
        Position and quaternion xyzw of all bodies.
    """

    number: int
    mode: Mode
    amplitude: float
    joint: str
    unit: str
    places: Array

    @property
    def title(self) -> str:
        """The mode as it is called in a list."""
        frequency = mode_cells(self.mode)[0]
        return f"mode {self.number}: {frequency}{' Hz' if self.mode.stiffness > 0 else ''}"

    @property
    def words(self) -> str:
        """The mode, its amplitude, and the ratio of true time to the time on the page."""
        deflection = f"{self.title}: {self.joint} ± {self.amplitude:.3g} {self.unit}"
        if self.mode.stiffness > 0:
            return f"{deflection}; one period takes {1 / self.mode.frequency:.3g} s, and {PERIOD:g} s here"
        if self.mode.stiffness < 0:
            return f"{deflection}; it does not swing, but grows by e in {self.mode.growth_time:.3g} s"
        return f"{deflection}; it does not swing: no force drives it back"


def swings_of(found: Linearization, radius: float) -> tuple[Swing, ...]:
    """Return the lowest modes as swings about the pose of rest, for a picture with a radius in m.

    A mode whose loops do not close even near the pose of rest is left out.
    """
    made = (_swing(found, n, mode, radius) for n, mode in enumerate(found.modes[:_MODES], 1))
    return tuple(swing for swing in made if swing is not None)


def swings_data(swings: tuple[Swing, ...]) -> dict[str, Any]:
    """Return swings as data for the viewer; empty if there is none."""
    if not swings:
        return {}
    places = np.concatenate([swing.places[..., :3].reshape(-1, 3) for swing in swings])
    return {
        "period": PERIOD,
        "bodies": swings[0].places.shape[1],
        "modes": [{"words": swing.words, "poses": base64_of(swing.places)} for swing in swings],
        "reach": [places.min(axis=0), places.max(axis=0)],
    }


def swings_bar(swings: tuple[Swing, ...], count: int) -> Html:
    """Return the controls that choose one of ``count`` modes, play it, and deflect it by hand."""
    options = [element("option", swing.title, value=k) for k, swing in enumerate(swings)]
    return element(
        "div",
        element(
            "div", element("label", "swing in ", element("select", options, data_mode=True)), class_="bar"
        ),
        element(
            "div",
            element("button", "play", type="button", data_play=True, aria_pressed="false"),
            element(
                "input",
                type="range",
                min=-1000,
                max=1000,
                value=0,
                step=1,
                data_deflection=True,
                aria_label="deflection, from one extreme to the other",
            ),
            class_="bar film",
        ),
        # on paper too, where the first mode is seen
        element("p", element("output", swings[0].words, data_amplitude=True)),
        element("p", f"{_AMPLITUDE}{_undrawn(swings, count)}", class_="fine"),
        class_="swings",
    )


def _undrawn(swings: tuple[Swing, ...], count: int) -> str:
    """Return a sentence on the modes that are not drawn; empty if all ``count`` are."""
    drawn = {swing.number for swing in swings}
    left = [str(n) for n in range(1, min(count, _MODES) + 1) if n not in drawn]
    said = f" Only the {_MODES} lowest of {count} modes are drawn." if count > _MODES else ""
    if left:
        said += f" Not drawn: {listed([f'mode {n}' for n in left], _MODES)}, where loops do not close or nothing moves."
    return said


_AMPLITUDE = (
    f"A linear mode has no amplitude of its own. It is drawn up to a turn of {np.degrees(_TURN):.0f}° of a body or a"
    f" travel of {100 * _TRAVEL:.0f} % of the picture's radius, whichever comes first, and less where loops do not"
    " close so far. Computed poses: loops are closed in each. The transparent robots are the extremes."
)


def _swing(found: Linearization, number: int, mode: Mode, radius: float) -> Swing | None:
    """Return the swing in a mode; None if its loops do not close, or if it moves nothing that is seen."""
    mech, k = found.mechanism, int(np.abs(mode.shape).argmax())
    amplitude = _amplitude(found, mode, radius)
    if not np.isfinite(amplitude):
        return None
    for _ in range(_HALVINGS):
        places = _places(found, mode, amplitude, radius)
        if places is not None:
            unit = rate_units(mech)[k].removesuffix("/s")
            return Swing(number, mode, amplitude, mech.qd_names[k], unit, places)
        amplitude /= 2
    return None


def _amplitude(found: Linearization, mode: Mode, radius: float) -> float:
    """Return the amplitude, rad or m, at which the linear motion reaches the limits; infinite if nothing can."""
    mech = found.mechanism
    turns = rate_units(mech)[int(np.abs(mode.shape).argmax())] == "rad/s"
    small = _SMALL if turns else _SMALL * radius
    try:
        turn, travel = _moved(mech, found.equilibrium.q, found.pose(mode, small))
    except CannotClose:
        return inf
    limits = (
        small * limit / moved if moved else inf
        for limit, moved in ((_TURN, turn), (_TRAVEL * radius, travel))
    )
    return float(min(limits))


def _places(found: Linearization, mode: Mode, amplitude: float, radius: float) -> Array | None:
    """Return the poses of all bodies over a swing, (n, N, 7).

    None if some pose cannot be closed, or is far from the linear motion.
    """
    mech, rest = found.mechanism, found.equilibrium.q
    poses = []
    for share in np.linspace(-1.0, 1.0, _POSES):
        try:
            q = found.pose(mode, float(share) * amplitude)
        except CannotClose:
            return None
        turn, travel = _moved(mech, rest, q)
        if turn > _BENT * _TURN or travel > _BENT * _TRAVEL * radius:
            return None
        poses.append(body_places(forward(mech, q)))
    return np.array(poses)


def _moved(mech: Mechanism, q: Array, other: Array) -> tuple[float, float]:
    """Return the largest turn, rad, and the largest travel, m, of a body between poses q (nq,) and other (nq,)."""
    a, b = forward(mech, q), forward(mech, other)
    turn, travel = 0.0, 0.0
    points = joint_points(mech)
    for name, k in mech.body_index.items():
        X_WA, X_WB = a.of(k), b.of(k)
        # the distance of two rotation matrices is √8 sin(angle / 2): accurate for small angles, unlike their trace
        distance = float(np.linalg.norm(X_WB.R - X_WA.R))
        turn = max(turn, 2 * float(np.arcsin(min(1.0, distance / np.sqrt(8)))))
        own = np.vstack((points[name], mech.bodies[k].p_LC))
        steps = own @ (X_WB.R - X_WA.R).T + X_WB.p - X_WA.p
        travel = max(travel, float(np.linalg.norm(steps, axis=1).max()))
    return turn, travel


# The section with the numbers.


def modes_section(chapter: Chapter) -> Html | None:
    """Return the section with the pose of rest, the modes, and the matrices of a few coordinates."""
    found = chapter.modes
    assert found is not None
    rest = found.equilibrium
    poses = [(name, *cells) for name, cells in rest_rows(rest)]
    held = f" Held: {listed(rest.held, 6)}." if rest.held else ""
    names = found.mechanism.qd_names
    modes = [
        (str(n), *mode_cells(mode), mode_shape(mode, names)) for n, mode in enumerate(found.modes[:_ROWS], 1)
    ]
    return section(
        "Equilibrium and modes",
        table(("mode", "f [Hz]", "damping", "grows by e [s]", "shape"), modes, caption="Modes")
        if found.modes
        else None,
        unshown(len(found.modes), _ROWS),
        table(("coordinate", "at rest", "unit", "moved"), poses[:_ROWS], caption="Pose of rest"),
        unshown(len(poses), _ROWS),
        _equations(found),
        lead=f"{rest.stability.capitalize()}: {STABILITY_MEANING[rest.stability]}. {counted(rest.steps, 'step')} of the"
        f" search from the start; forces of up to {rest.force:.2g} N or N·m are left.{held} Shapes are joint rates"
        " relative to the largest.",
    )


def _equations(found: Linearization) -> Html | None:
    """Return mass, damping and stiffness; None without freedoms, or with too many to read."""
    names = found.equilibrium.coordinates
    if not 0 < len(names) <= _MATRIX:
        return None
    pairs = found.mechanism.pair_by_name
    heads = [choice(name, "joint") if name in pairs else Html(element("span", name)) for name in names]
    tables = [
        table(
            ("", *heads),
            [(name, *(f"{value:.6g}" for value in row)) for name, row in zip(names, matrix, strict=True)],
            caption=caption,
        )
        for caption, matrix in (
            ("Mass M [kg·m², kg·m, kg]", found.mass),
            ("Damping D [N·m·s, N·s, N·s/m]", found.damping),
            ("Stiffness K [N·m, N, N/m]", found.stiffness),
        )
    ]
    words = "Equations of small motions, M s̈ + D ṡ + K s = 0"
    return element("details", element("summary", words), *tables)
