"""The ``mbplugin estop`` command that computes one row of a stopping table again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from mbplugin.model.brakes import BrakeLike, brake_in_si
from mbplugin.model.scene import Brake, Scene

#: Where a model that was handed over as text stands on a command line.
_STDIN = "-"


@dataclass(frozen=True)
class StopCommand:
    """What the commands of all rows have in common.

    Parameters
    ----------
    head : tuple of str
        Program, command, FILE and how it is read.
    tail : tuple of str
        Tool, payload of the scene left out, brakes.
    resting : mapping of str to float
        Rates of the scene's state that a row sets to zero.
    ramps : tuple of str
        Braked joints of which no deceleration is known; a command of category 1 states one.
    """

    head: tuple[str, ...]
    tail: tuple[str, ...]
    resting: Mapping[str, float]
    ramps: tuple[str, ...]

    def text(
        self,
        category: int,
        q: Mapping[str, float],
        qd: Mapping[str, float],
        payload: tuple[str, ...],
        decelerations: Mapping[str, float],
    ) -> str | None:
        """Return the command of one row, None where a name cannot be written on a command line.

        Parameters
        ----------
        q, qd : mapping of str to float
            All coordinates, and the rate of the axis, rad and m, per second.
        payload : tuple of str
            The options that state the payload.
        decelerations : mapping of str to float
            That the command states, rad/s² or m/s².
        """
        rates = {**self.resting, **qd}
        if any(not _writable(name) for name in (*q, *rates, *decelerations)):
            return None
        options = ["--category", str(category), "--q", _exact(q), "--qd", _listed(rates), *payload]
        if decelerations:
            options += ["--deceleration", _listed(decelerations)]
        return shlex.join((*self.head, *options, *self.tail))


def stop_command(
    scene: Scene | None,
    tool: str,
    brakes: Iterable[BrakeLike],
    ramps: Iterable[str],
    drops_payloads: bool,
) -> StopCommand | None:
    """Return what the commands of a table have in common; None for a model that was not read from a file.

    Parameters
    ----------
    scene : Scene or None
    tool : str
    brakes : iterable of Brake or mapping
        Those that were given besides the scene's.
    ramps : iterable of str
        Braked joints with neither a deceleration nor an effort limit.
    drops_payloads : bool
        Whether the payloads of the scene are not carried.
    """
    if scene is None or scene.request is None or scene.request.snap_angles:
        return None
    request = scene.request
    given = tuple(brake_in_si(scene.mechanism, brake) for brake in brakes)
    if not all(_writable(brake.joint) for brake in given):
        return None
    head = ["mbplugin", "estop", request.path if request.text is None else _STDIN]
    head += ["--base", request.base] if request.base else []
    for folder in request.package_dirs:
        head += ["--package-dir", folder]
    head += ["--xacro-unsafe"] if request.xacro_unsafe else []
    for name, value in request.xacro_args:
        head += ["--xacro-arg", f"{name}:={value}"]
    tail = ["--tool", tool]
    tail += ["--payload-share", "0"] if drops_payloads and scene.payloads else []
    for brake in given:
        tail += ["--brake", _brake(brake)]
    rates = zip(scene.mechanism.qd_names, scene.state.qd.tolist(), strict=True)
    resting = {name: 0.0 for name, rate in rates if rate}
    return StopCommand(tuple(head), tuple(tail), resting, tuple(ramps))


def _brake(brake: Brake) -> str:
    """Return a brake as ``JOINT:KEY=VALUE,…`` with what is not the default."""
    own = [(f.name, getattr(brake, f.name), f.default) for f in fields(Brake) if f.metadata]
    stated = {name: float(value) for name, value, default in own if value is not None and value != default}
    return f"{brake.joint}:{_listed(stated or {'engagement': brake.engagement})}"


def _exact(values: Mapping[str, float]) -> str:
    """Return ``NAME=VALUE,…`` with all digits."""
    return ",".join(f"{name}={float(value) + 0.0!r}" for name, value in values.items())


def _listed(values: Mapping[str, float]) -> str:
    """Return ``NAME=VALUE,…`` without the digits that only rounding has made."""
    return _exact({name: float(f"{value:.12g}") for name, value in values.items()})


def _writable(name: str) -> bool:
    """Whether a name survives ``NAME=VALUE,…``."""
    return "," not in name and name == name.strip()
