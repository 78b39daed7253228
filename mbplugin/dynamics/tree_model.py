"""A mechanism as the kernels see it: records of composite bodies, rates, forces and rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from mbplugin.constraints.reduction.scaling import characteristic_length
from mbplugin.constraints.rows.build import all_rows
from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.dynamics.kernels.articulated import factor
from mbplugin.dynamics.kernels.composite_bodies import Composites, find_composites
from mbplugin.dynamics.kernels.forces import fill_rate_forces, gather, load_records, spring_records
from mbplugin.dynamics.kernels.motion import move
from mbplugin.dynamics.kernels.resistance import add_law, resist, resistance_records
from mbplugin.dynamics.kernels.row_evaluation import update_rows
from mbplugin.dynamics.kernels.rows import RowTable, row_table, row_units
from mbplugin.dynamics.kernels.solve import row_rate
from mbplugin.dynamics.kernels.tree import composite_records, rate_records
from mbplugin.errors import BadNumber, BrokenModel
from mbplugin.model.applied_forces import NO_FORCES, AppliedForces, BrakeForce, rate_values
from mbplugin.model.brake_law import BrakeLaw
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.identity import Holder, RowLabel, freedom_held
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray, Array


@dataclass(frozen=True, eq=False)
class TreeModel:
    """Records for the kernels; their state fields are overwritten by every evaluation.

    Parameters
    ----------
    composites_of : Solids
        Which composite body each body belongs to.
    length : float
        Characteristic length that makes rows dimensionless, m.
    composites, rates, loads, springs, resistances : record arrays
    brakes : tuple of (index, BrakeForce)
        Brakes with the resistance that each adds to when it closes.
    drive : (d, 3) array
        Value, rate and acceleration of every driven freedom.
    power : (3,) array
        Power of dampers and friction, of applied forces, and of drivers, W.
    """

    mech: Mechanism
    actions: AppliedForces
    planar: str | None
    composites_of: Composites
    length: float
    table: RowTable
    composites: AnyArray
    rates: AnyArray
    loads: AnyArray
    springs: AnyArray
    resistances: AnyArray
    brakes: tuple[tuple[int, BrakeForce], ...]
    drive: Array
    power: Array

    def evaluate(self, q: Array, qd: Array, time: float = 0.0, drive: Array | None = None) -> None:
        """Fill poses, twists, inertias, rows and forces at a state.

        Parameters
        ----------
        q, qd : (nq,), (nv,) array
        time : float
            For the controller and the drivers, s.
        drive : (d, 3) array, optional
            What the drivers prescribe, in place of what the mechanism says.

        Raises
        ------
        BrokenModel
            A joint that moves no mass.
        BadNumber
            A controller that returns something else than nv finite numbers.
        """
        self.power[:] = 0.0
        # of arrays that cannot be written the kernels would be compiled once more
        q, qd = np.array(q, dtype=float), np.array(qd, dtype=float)
        move(self.composites, self.rates, q, qd)
        if not factor(self.composites, self.rates):
            raise massless_joint(self)
        if drive is None:
            self.set_drive(time)
        else:
            self.drive[:] = drive
        update_rows(
            self.composites, self.table.joint_frames, self.table.rows, self.table.terms, self.drive, q
        )
        gather(self.composites, self.rates, self.loads, self.springs, q, qd, self.power)
        rows, terms = self.table.rows, self.table.terms
        resist(self.composites, self.rates, rows, terms, self.resistances, qd, self.power)
        self.control(time, q, qd)

    def control(self, time: float, q: Array, qd: Array) -> None:
        """Add the controller's forces at q (nq,) and qd (nv,) to ``tau``, where there is one, and their power."""
        if self.actions.controller is not None:
            force = self.controller_force(time, q, qd)
            self.rates["tau"] += force
            self.power[1] += float(force @ qd)

    def slide(self, qd: Array) -> None:
        """Let every resistance slide in the sense of its rate at qd (nv,) and the pose evaluated last."""
        rows, terms, qd = self.table.rows, self.table.terms, np.array(qd)
        for resistance in self.resistances:
            resistance["sense"] = np.sign(row_rate(self.composites, rows, terms, resistance["row"], qd))

    def close_brake(self, brake: BrakeForce) -> None:
        """Let a brake act from now on, on top of the friction of its freedom."""
        for n, other in self.brakes:
            if other is brake:
                add_law(self.resistances[n], brake.law)

    def set_drive(self, time: float) -> None:
        """Fill what the drivers prescribe at a time; a driver without a value has kept it from the start."""
        for d, (driver, _) in enumerate(self.table.driven):
            self.drive[d] = driver.at(time)

    def controller_force(self, time: float, q: Array, qd: Array) -> Array:
        """Return the controller's forces (nv,) at q (nq,) and qd (nv,), N·m and N.

        Raises
        ------
        BadNumber
            A controller that returns something else than nv finite numbers.
        """
        assert self.actions.controller is not None
        force = np.asarray(self.actions.controller(time, q.copy(), qd.copy()), dtype=float)
        if force.shape != qd.shape or not np.isfinite(force).all():
            raise BadNumber(
                f"the controller returned {force} at t = {time:.9g} s",
                expected=f"{len(qd)} finite numbers, in the order of qd_names",
            )
        return force


def tree_model(
    mech: Mechanism,
    actions: AppliedForces = NO_FORCES,
    *,
    locks: Sequence[Constraint] = (),
    planar: str | None = None,
    q: Array | None = None,
    apart: bool = False,
) -> TreeModel:
    """Return the records of a mechanism; ``q`` (nq,) is the pose that sets the characteristic length.

    ``locks`` are constraints that may close later and be given up; their rows stand behind those that
    always hold. Brakes are open at first. ``apart`` keeps bodies that fixed pairs hold together apart.
    """
    composites_of = find_composites(mech, actions.payloads, apart=apart)
    rates = rate_records(mech, composites_of, rate_values(mech, actions.armature, "armature"))
    fill_rate_forces(mech, rates, actions)
    resisted = list(resisted_freedoms(mech, actions))
    freedoms = [(pair, freedom) for pair, freedom, _ in resisted]
    table = row_table(mech, composites_of, plane_columns(planar), cast(Sequence[Lock], locks), freedoms)
    first = len(table.labels) - len(resisted)
    places = {(pair.name, freedom): n for n, (pair, freedom) in enumerate(freedoms)}
    brakes = tuple((places[brake.joint, brake.freedom], brake) for brake in actions.brakes)
    table = replace(table, labels=_named_after_brakes(table.labels, [first + n for n, _ in brakes]))
    length = _length(mech, q)
    table.rows["unit"][: len(table.labels)] = row_units(table, length)
    return TreeModel(
        mech,
        actions,
        planar,
        composites_of,
        length,
        table,
        composite_records(mech, composites_of),
        rates,
        load_records(mech, composites_of, actions),
        spring_records(mech, composites_of, actions),
        resistance_records(first, [law for _, _, law in resisted]),
        brakes,
        np.zeros((len(table.driven), 3)),
        np.zeros(3),
    )


def resisted_freedoms(mech: Mechanism, actions: AppliedForces) -> Iterator[tuple[Pair, str, BrakeLaw]]:
    """Yield freedoms with friction or a brake, and dampers in cut pairs: pair, freedom, law of its own."""
    braked = {(brake.joint, brake.freedom) for brake in actions.brakes}
    for pair in mech.pairs:
        cut = pair.name not in mech.tree.joint_of_pair
        for component, freedom in zip(pair.kind.free, pair.freedoms, strict=True):
            viscous = freedom.damping if actions.damping and cut else 0.0
            dry = freedom.friction if actions.friction else 0.0
            by_load = actions.friction and freedom.load_friction > 0
            if viscous or dry or by_load or (pair.name, component) in braked:
                yield pair, component, BrakeLaw(dry, dry, viscous)


def _named_after_brakes(labels: tuple[RowLabel, ...], braked: Sequence[int]) -> tuple[RowLabel, ...]:
    """Return the labels of rows, where some hold by a brake instead of friction."""
    return tuple(
        label._replace(constraint=str(Holder("brake", freedom_held(label)[0]))) if i in braked else label
        for i, label in enumerate(labels)
    )


def _length(mech: Mechanism, q: Array | None) -> float:
    """Return the characteristic length at a pose q (nq,), m; 1 where there is none."""
    if q is None:
        return 1.0
    poses = forward(mech, q)
    return characteristic_length(all_rows(mech, poses, q), poses.p_WC, mech)


def massless_joint(model: TreeModel, rates: AnyArray | None = None) -> BrokenModel:
    """Return the error for a joint that moves no mass; ``rates`` (nv,) says which those are."""
    rate = int(np.flatnonzero(~(model.rates["D"] > 0) if rates is None else rates)[-1])
    name = model.mech.qd_names[rate]
    joint = next(joint for joint in model.mech.tree.joints if joint.qd.start <= rate < joint.qd.stop)
    if joint.pair is not None:
        return BrokenModel(
            f"joint rate {name!r} moves no mass", remedy="give what it moves a mass or an armature"
        )
    return BrokenModel(
        f"the base {joint.outer!r} is free, and its rate {name!r} moves no mass",
        remedy="hold the base (base='fixed' or --base fixed) or give it a mass",
    )
