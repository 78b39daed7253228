"""A trajectory as a file: arrays, or a table with units."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.csv_tables import write_csv
from mbplugin.errors import BadUsage
from mbplugin.model.component import units_of
from mbplugin.model.mechanism.coordinate_units import coordinate_units, momentum_units, rate_units
from mbplugin.model.spatial import COMPONENTS, AnyArray

if TYPE_CHECKING:
    from mbplugin.simulation.events.event import Event
    from mbplugin.simulation.trajectory.trajectory import Trajectory

ENDINGS = (".npz", ".csv")
_ENERGIES = ("kinetic", "potential", "dissipated", "applied", "driven")


@dataclass(frozen=True, eq=False)
class Column:
    """One quantity along a motion: what it is, of which element, its unit, its values (T,)."""

    what: str
    name: str
    unit: str
    values: AnyArray

    @property
    def header(self) -> str:
        """What stands above it, such as ``qd elbow [rad/s]``."""
        return f"{self.what} {self.name}".strip() + (f" [{self.unit}]" if self.unit else "")


def write(trajectory: Trajectory, path: Path, reactions: Sequence[str] = ()) -> None:
    """Write a trajectory to ``.npz`` (all arrays) or ``.csv`` (a table with units in its header).

    Parameters
    ----------
    reactions : sequence of str
        Pairs whose reactions are written too.
    """
    if path.suffix.lower() == ".csv":
        _write_table(list(columns(trajectory, reactions)), path)
        return
    arrays: dict[str, Any] = _arrays(trajectory)
    carried = [trajectory.reactions(pair) for pair in reactions]
    arrays["reaction_pairs"] = np.array(reactions, dtype=str)
    arrays["reactions"] = np.array(carried).reshape(-1, len(trajectory.time), 6)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def require_ending(path: Path) -> None:
    """Refuse a file name whose format nobody knows.

    Raises
    ------
    BadUsage
        The name has another ending.
    """
    if path.suffix.lower() not in ENDINGS:
        raise BadUsage(f"cannot save a trajectory as {path.name!r}", expected=" or ".join(ENDINGS))


def columns(trajectory: Trajectory, reactions: Sequence[str] = ()) -> Iterator[Column]:
    """Yield every quantity of a trajectory, with the reactions of some pairs."""
    mech = trajectory.mechanism
    rates = rate_units(mech)
    yield Column("time", "", "s", trajectory.time)
    for what, names, units, values in (
        ("q", mech.q_names, coordinate_units(mech), trajectory.q),
        ("qd", mech.qd_names, rates, trajectory.qd),
        ("qdd", mech.qd_names, tuple(f"{u}²" for u in rates), trajectory.qdd),
        ("momentum", mech.qd_names, momentum_units(mech), trajectory.momenta),
    ):
        for k, (name, unit) in enumerate(zip(names, units, strict=True)):
            yield Column(what, name, unit, values[:, k])
    for what in _ENERGIES:
        yield Column(what, "", "J", getattr(trajectory, what))
    yield Column("segment", "", "", trajectory.segment)
    for pair in reactions:
        wrench = trajectory.reactions(pair)
        for k, component in enumerate(COMPONENTS):
            yield Column(f"{pair} {component}", "", units_of(component).force, wrench[:, k])


def _write_table(table: Sequence[Column], path: Path) -> None:
    rows = zip(*(column.values.tolist() for column in table), strict=True)
    write_csv(path, [column.header for column in table], rows)


def _arrays(trajectory: Trajectory) -> dict[str, AnyArray]:
    mech = trajectory.mechanism
    kept = ("time", "q", "qd", "qdd", *_ENERGIES, "segment")
    return {
        **{name: getattr(trajectory, name) for name in kept},
        "momenta": trajectory.momenta,
        "q_names": np.array(mech.q_names, dtype=str),
        "qd_names": np.array(mech.qd_names, dtype=str),
        "q_units": np.array(coordinate_units(mech), dtype=str),
        "qd_units": np.array(rate_units(mech), dtype=str),
        "momenta_units": np.array(momentum_units(mech), dtype=str),
        "about": np.array(json.dumps(_about(trajectory))),
    }


def _about(trajectory: Trajectory) -> dict[str, Any]:
    """Return what is no array."""
    return {
        "mechanism": trajectory.mechanism.name,
        "outcome": trajectory.outcome,
        "notes": list(trajectory.notes),
        "planar": trajectory.planar,
        "redundancy": trajectory.redundancy,
        "coordinates": trajectory.coordinates,
        "dropped": [list(row) for row in trajectory.dropped],
        "degree_of_redundancy": trajectory.degree_of_redundancy,
        "tolerance": trajectory.tolerance,
        "active": [list(names) for names in trajectory.active],
        "residuals": trajectory.residuals,
        "events": [_event(event) for event in trajectory.events],
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "time": event.time,
        "kind": event.kind,
        "joint": event.joint,
        "velocity_before": event.velocity_before.tolist(),
        "velocity_after": event.velocity_after.tolist(),
        "impulse": [[*label, value] for label, value in event.impulse.items()],
        "text": event.text,
    }
