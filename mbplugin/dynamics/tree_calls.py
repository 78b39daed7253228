"""Forward and inverse dynamics of a tree as compiled calls, for controllers, estimators and learning.

At one state, or at many in one call. Many states are computed side by side in the lanes of vectors: the kernels are
those of a single state, translated once more for records whose fields are numbers of each lane.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numba import types

from mbplugin.dynamics.compiler import (
    Records,
    compiled,
    kernel,
    named_tuple,
    record_array,
    struct_loader,
    words_of,
)
from mbplugin.dynamics.compiler.lanes import LANES, VECTOR_OF_LANES, LanesRecord, aligned, as_lanes
from mbplugin.dynamics.kernels.articulated import free_accelerations, required_forces
from mbplugin.dynamics.kernels.composite_bodies import COMPOSITE, LOAD, RATE, SPRING
from mbplugin.dynamics.tree_model import TreeModel, massless_joint, tree_model
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model import NO_FORCES, AnyArray, AppliedForces, Array, Mechanism, Scene, scene_actions
from mbplugin.phrases import listed, shortened
from mbplugin.readers import ModelSource, model_of

#: Fields of the states of composite bodies and of rates.
OF_COMPOSITE = ("R", "p", "c", "joint", "v", "bias", "a", "f", "J", "I_A")
OF_RATE = ("s", "e", "U", "D", "root", "per_root", "u", "tau", "qdd")
#: Records of composite bodies and of rates whose states differ from lane to lane; their parameters do not.
LANED_COMPOSITE, LANED_RATE = LanesRecord(COMPOSITE, OF_COMPOSITE), LanesRecord(RATE, OF_RATE)
_VECTOR = types.float64[::1]
_MATRIX = types.float64[:, ::1]


class _OfTree:
    """The model, its records and the compiled call at one state, shared by forward and inverse dynamics."""

    _source: tuple[Mechanism, AppliedForces]
    _calls: _Calls
    _compiled: Any

    def __reduce__(self) -> tuple[type, tuple[Mechanism, AppliedForces]]:
        """Return the mechanism and its forces, from which a copy is built: addresses are those of one process."""
        return type(self), self._source

    def __repr__(self) -> str:
        calls = self._calls
        return f"{type(self).__name__}({shortened(calls.model.mech.name, 60)!r}, nv={calls.nv})"


class ForwardDynamics(_OfTree):
    """Joint accelerations of a tree by the articulated-body recursion, q̈ in M q̈ + h = τ.

    Loads, payloads, springs and rotor inertias of a scene act, and so do springs and damping of joints. Dry friction
    and brakes do not: :func:`mbplugin.simulate` has them. One object serves one thread.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
        Without closures, couplings, drivers, locks and wheels.
    actions : AppliedForces, optional
        Loads, payloads, springs and damping; those of the scene by default.

    Raises
    ------
    BadUsage
        The model has one of them.

    Examples
    --------
    ``qdd = mb.ForwardDynamics("arm.urdf")(q, qd, tau)``, rad/s² and m/s² from rad, rad/s and N·m, m, m/s and N
    """

    def __init__(self, model: ModelSource, actions: AppliedForces | None = None) -> None:
        self._source = found, given = _model(model, actions)
        records = tree_model(found, given)
        _require_tree(records, "mb.simulate(model, duration=…) integrates it")
        self._calls = _Calls(records)
        self._place, self._compiled = self._calls.place, _accelerations()

    def __call__(self, q: Array, qd: Array, tau: Array | None = None, out: Array | None = None) -> Array:
        """Compute the accelerations (nv,) at one state.

        Parameters
        ----------
        q, qd : (nq,), (nv,) array
            Joint coordinates and rates in the order of ``q_names`` and ``qd_names``, rad, rad/s, m and m/s.
        tau : (nv,) array, optional
            Forces of the drives, N·m and N; zero by default.
        out : (nv,) array, optional
            Filled and returned.

        Returns
        -------
        (nv,) array
            Joint accelerations, rad/s² and m/s².

        Raises
        ------
        BadNumber
            An array has another shape, or a coordinate is not finite.
        BrokenModel
            A joint moves no mass.
        """
        if tau is None:
            tau = self._calls.zeros
        if out is None:
            out = np.empty(self._calls.nv)
        try:
            if self._compiled(self._place, q, qd, tau, out):
                return out
        except TypeError:
            # the compiled code takes contiguous doubles only
            pass
        given = self._calls.vectors(("q", "qd", "tau", "out"), (q, qd, tau, out))
        if not self._compiled(self._place, *given):
            self._calls.refuse(given[:3])
        return out

    def many(self, q: Array, qd: Array, tau: Array | None = None) -> Array:
        """Compute the accelerations (k, nv) at k states, several at once.

        Parameters
        ----------
        q, qd : (k, nq), (k, nv) array
            As for one state.
        tau : (k, nv) array, optional
            Forces of the drives, N·m and N; zero by default.

        Returns
        -------
        (k, nv) array
            Joint accelerations, rad/s² and m/s².

        Raises
        ------
        BadNumber, BrokenModel
            As for one state.
        """
        calls = self._calls
        q, qd, tau = calls.matrices(("q", "qd", "tau"), (q, qd, tau))
        if calls.one_by_one:
            return np.array([self(*state) for state in zip(q, qd, tau, strict=True)]).reshape(qd.shape)
        out = np.empty_like(qd)
        if not calls.lanes.accelerations(q, qd, tau, out):
            calls.refuse((q, qd, tau))
        return out


class InverseDynamics(_OfTree):
    """Drive forces of a tree by the recursive Newton–Euler algorithm, τ = M q̈ + h.

    Loads, payloads, springs and rotor inertias of a scene act, and so do springs and damping of joints. Dry friction
    does not, and drivers are left out: :func:`mbplugin.inverse_dynamics` has friction, and closes loops. Forces at
    the rates of a free base are those that something else has to apply. One object serves one thread.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
        Without closures, couplings, locks and wheels.
    actions : AppliedForces, optional
        Loads, payloads, springs and damping; those of the scene by default.

    Raises
    ------
    BadUsage
        The model has one of them.

    Examples
    --------
    ``tau = mb.InverseDynamics("arm.urdf")(q, qd, qdd)``, N·m for turns, N for travels
    """

    def __init__(self, model: ModelSource, actions: AppliedForces | None = None) -> None:
        self._source = found, given = _model(model, actions)
        records = tree_model(replace(found, drivers=()), given)
        _require_tree(records, "mb.inverse_dynamics(model, q, qd, qdd) closes loops")
        self._calls = _Calls(records)
        self._place, self._compiled = self._calls.place, _forces()

    def __call__(self, q: Array, qd: Array, qdd: Array, out: Array | None = None) -> Array:
        """Compute the drive forces (nv,) for one motion.

        Parameters
        ----------
        q, qd, qdd : (nq,), (nv,), (nv,) array
            Joint coordinates, rates and accelerations in the order of ``q_names`` and ``qd_names``, rad, m and s.
        out : (nv,) array, optional
            Filled and returned.

        Returns
        -------
        (nv,) array
            N·m for turns, N for travels.

        Raises
        ------
        BadNumber
            An array has another shape.
        """
        if out is None:
            out = np.empty(self._calls.nv)
        try:
            if self._compiled(self._place, q, qd, qdd, out):
                return out
        except TypeError:
            # as in forward dynamics
            pass
        self._compiled(self._place, *self._calls.vectors(("q", "qd", "qdd", "out"), (q, qd, qdd, out)))
        return out

    def many(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Compute the drive forces (k, nv) for k motions, several at once.

        Parameters
        ----------
        q, qd, qdd : (k, nq), (k, nv), (k, nv) array
            As for one motion.

        Returns
        -------
        (k, nv) array
            N·m for turns, N for travels.

        Raises
        ------
        BadNumber
            An array has another shape.
        """
        calls = self._calls
        q, qd, qdd = calls.matrices(("q", "qd", "qdd"), (q, qd, qdd))
        if calls.one_by_one:
            return np.array([self(*motion) for motion in zip(q, qd, qdd, strict=True)]).reshape(qd.shape)
        out = np.empty_like(qd)
        calls.lanes.forces(q, qd, qdd, out)
        return out


def _model(source: ModelSource, actions: AppliedForces | None) -> tuple[Mechanism, AppliedForces]:
    """Return the mechanism of a model, and the forces that act on it: those of its scene unless given."""
    model = model_of(source)
    if not isinstance(model, Scene):
        return model, actions or NO_FORCES
    return model.mechanism, actions or scene_actions(model)


def _require_tree(model: TreeModel, remedy: str) -> None:
    """Raise BadUsage if rows constrain the joint rates."""
    if model.table.persistent:
        raise BadUsage(
            f"constraint {model.table.labels[0].constraint!r} closes the tree",
            expected="a model whose joints move independently",
            remedy=remedy,
        )


class _Calls:
    """Records of a tree for compiled calls, and the arrays that these take.

    Parameters
    ----------
    model : TreeModel

    Attributes
    ----------
    place : int
        Address of the records, as long as this object exists.
    one_by_one : bool
        Whether many states have to be computed one after the other.
    """

    def __init__(self, model: TreeModel) -> None:
        self.model, self.nv = model, len(model.rates)
        self.nq = len(model.mech.q_names)
        self._state = TreeState(
            *(model.composites, model.rates, model.loads, model.springs, model.power),
            np.array([self.nq, self.nv]),
        )
        self.zeros = np.zeros(self.nv)
        self._q, self._qd = (self.nq,), (self.nv,)
        self._words = np.array(words_of(self._state), dtype=np.int64)
        self.place = int(self._words.ctypes.data)
        # the line of a spring may vanish in one state only
        self.one_by_one = len(model.springs) > 0

    @cached_property
    def lanes(self) -> ManyStates:
        """Records of all lanes."""
        return ManyStates(*self._state[:3])

    def vectors(self, names: tuple[str, ...], given: tuple[Any, ...]) -> tuple[Array, Array, Array, Array]:
        """Return three vectors, q (nq,) and two (nv,), as the compiled code takes them, and ``out`` (nv,), unchanged.

        Raises
        ------
        BadNumber
            One has another shape or no numbers; ``out`` cannot be filled.
        """
        out = given[3]
        if not (isinstance(out, np.ndarray) and out.shape == self._qd and out.dtype == float):
            raise BadNumber("out cannot be filled", expected=f"an array of {self.nv} doubles")
        if not (out.flags.c_contiguous and out.flags.writeable):
            raise BadNumber("out cannot be filled", expected="a contiguous array that may be written")
        q, a, b = (
            self._array(*item) for item in zip(names, given[:3], (self._q, self._qd, self._qd), strict=False)
        )
        return q, a, b, out

    def matrices(self, names: tuple[str, ...], given: tuple[Any, ...]) -> tuple[Array, Array, Array]:
        """Return q (k, nq) and two arrays (k, nv) as the compiled code takes them; zeros for ``tau`` that is None.

        Raises
        ------
        BadNumber
            One has another shape or no numbers.
        """
        try:
            count = len(given[0])
        except TypeError:
            count = 0
        shapes = ((count, self.nq), (count, self.nv), (count, self.nv))
        q, a, b = (
            np.zeros(shape) if values is None and name == "tau" else self._array(name, values, shape)
            for name, values, shape in zip(names, given, shapes, strict=True)
        )
        return q, a, b

    def refuse(self, given: tuple[Array, ...]) -> NoReturn:
        """Raise the error of a state q (nq,) or (k, nq), qd, tau (nv,) or (k, nv) without accelerations.

        Raises
        ------
        BadNumber
            A number is not finite.
        BrokenModel
            A joint moves no mass.
        """
        for name, values in zip(("q", "qd", "tau"), given, strict=True):
            if not np.isfinite(values).all():
                raise BadNumber(f"{name} has numbers that are not finite")
        raise massless_joint(self.model)

    def _array(self, name: str, values: object, shape: tuple[int, ...]) -> Array:
        """Return values as an array of a shape, (n,) or (k, n), contiguous and writable.

        Raises
        ------
        BadNumber
            They have another shape, or are no numbers.
        """
        try:
            made = np.array(values, dtype=float, order="C")
        except (TypeError, ValueError):
            raise BadNumber(f"{name} has no real numbers", expected=f"an array {shape}") from None
        if made.shape != shape:
            names = self.model.mech.q_names if name == "q" else self.model.mech.qd_names
            raise BadNumber(
                f"{name} has the shape {made.shape}",
                expected=f"{shape}, in the order {listed(list(names), 6)}",
            )
        return made


# Compiled calls.


class TreeState(NamedTuple):
    """Records of a tree at one state; power (3,), W; numbers (2,) of coordinates and rates."""

    composites: Records
    rates: Records
    loads: Records
    springs: Records
    power: Array
    sizes: AnyArray


_load_tree: Any = struct_loader(
    named_tuple(
        [*(record_array(kind) for kind in (COMPOSITE, RATE, LOAD, SPRING)), _VECTOR, types.intp[::1]],
        TreeState,
    )
)


def accelerations_at(place: Any, q: Array, qd: Array, tau: Array, out: Array) -> bool:
    """Fill ``out`` (nv,) with accelerations; return True if the arrays fit and every rate moves mass.

    At q (nq,), qd (nv,) under the drive forces tau (nv,). ``place`` is the address of a :class:`TreeState`.
    """
    m = _load_tree(place)
    return _fits(m, q, qd, tau, out) and bool(
        free_accelerations(m.composites, m.rates, m.loads, m.springs, m.power, q, qd, tau, out)
    )


def forces_at(place: Any, q: Array, qd: Array, qdd: Array, out: Array) -> bool:
    """Fill ``out`` (nv,) with the drive forces of a motion; return True if the arrays fit.

    The motion is q (nq,), qd (nv,) and qdd (nv,).

    ``place`` is the address of a :class:`TreeState`.
    """
    m = _load_tree(place)
    if not _fits(m, q, qd, qdd, out):
        return False
    required_forces(m.composites, m.rates, m.loads, m.springs, m.power, q, qd, qdd, out)
    return True


@kernel
def _fits(m: Any, q: Array, a: Array, b: Array, c: Array) -> bool:
    """Return True if q (nq,), a (nv,), b (nv,) and c (nv,) have the sizes of the tree."""
    nv = m.sizes[1]
    return bool(len(q) == m.sizes[0] and len(a) == nv and len(b) == nv and len(c) == nv)


@lru_cache(maxsize=1)
def _accelerations() -> Any:
    """Return the compiled :func:`accelerations_at`."""
    return compiled(accelerations_at, types.boolean(types.intp, *[_VECTOR] * 4))


@lru_cache(maxsize=1)
def _forces() -> Any:
    """Return the compiled :func:`forces_at`."""
    return compiled(forces_at, types.boolean(types.intp, *[_VECTOR] * 4))


# Many states, several of them in the lanes of vectors.


class LanesState(NamedTuple):
    """Records and states of all lanes.

    Parameters
    ----------
    composites, rates, loads, springs : record arrays
    power, q, qd, given, out : (3,), (nq,), (nv,), (nv,), (nv,) array
        Numbers of each lane; ``given`` are forces or accelerations, and ``out`` the others.
    q_of, qd_of, given_of, out_of : (nq, LANES), (nv, LANES), (nv, LANES), (nv, LANES) array
        The same memory as single numbers.
    """

    composites: Records
    rates: Records
    loads: Records
    springs: Records
    power: AnyArray
    q: AnyArray
    qd: AnyArray
    given: AnyArray
    out: AnyArray
    q_of: Array
    qd_of: Array
    given_of: Array
    out_of: Array


_load: Any = struct_loader(
    named_tuple(
        [types.Array(kind, 1, "C") for kind in (LANED_COMPOSITE, LANED_RATE)]
        + [record_array(kind) for kind in (LOAD, SPRING)]
        + [VECTOR_OF_LANES] * 5
        + [_MATRIX] * 4,
        LanesState,
    )
)


class ManyStates:
    """Records of a tree without springs for many states.

    Parameters
    ----------
    composites, rates, loads : (b,), (nv,), (l,) record array
        Of the tree, with its parameters.

    Attributes
    ----------
    address : int
        Address of a :class:`LanesState`, as long as this object exists.
    """

    def __init__(self, composites: AnyArray, rates: AnyArray, loads: AnyArray) -> None:
        nq = int(max(composites["q_start"] + composites["freedoms"] + composites["quaternion"], default=0))
        nv = len(rates)
        q, qd, given, out, power = (aligned((n, LANES), float) for n in (nq, nv, nv, nv, 3))
        self._state = LanesState(
            in_lanes(composites, LANED_COMPOSITE),
            in_lanes(rates, LANED_RATE),
            loads,
            np.zeros(0, SPRING),
            *(as_lanes(power), as_lanes(q), as_lanes(qd), as_lanes(given), as_lanes(out)),
            *(q, qd, given, out),
        )
        self._words = np.array(words_of(self._state), dtype=np.int64)
        self.address = int(self._words.ctypes.data)

    def accelerations(self, q: Array, qd: Array, tau: Array, out: Array) -> bool:
        """Fill ``out`` (k, nv) with accelerations; return True if every rate moves mass at each state.

        Parameters
        ----------
        q, qd, tau : (k, nq), (k, nv), (k, nv) array
            States and drive forces, rad, rad/s and N·m, m, m/s and N.
        """
        return bool(_accelerations_in_lanes()(self.address, q, qd, tau, out))

    def forces(self, q: Array, qd: Array, qdd: Array, out: Array) -> None:
        """Fill ``out`` (k, nv) with the drive forces of motions.

        Parameters
        ----------
        q, qd, qdd : (k, nq), (k, nv), (k, nv) array
            Coordinates, rates and accelerations, rad, m and s.
        """
        _forces_in_lanes()(self.address, q, qd, qdd, out)


def accelerations_in_lanes(place: int, q: Array, qd: Array, tau: Array, out: Array) -> bool:
    """Fill ``out`` (k, nv) with accelerations; return True if every rate moves mass.

    At q (k, nq), qd (k, nv) under drive forces tau (k, nv). ``place`` is the address of a :class:`LanesState`.
    """
    m, regular = _load(place), True
    for first in range(0, len(q), LANES):
        _fill(m, first, q, qd, tau)
        if not free_accelerations(
            m.composites, m.rates, m.loads, m.springs, m.power, m.q, m.qd, m.given, m.out
        ):
            regular = False
        _read(m, first, out)
    return regular


def forces_in_lanes(place: int, q: Array, qd: Array, qdd: Array, out: Array) -> bool:
    """Fill ``out`` (k, nv) with the drive forces of motions, and return True.

    The motions are q (k, nq), qd (k, nv) and qdd (k, nv).

    ``place`` is the address of a :class:`LanesState`.
    """
    m = _load(place)
    for first in range(0, len(q), LANES):
        _fill(m, first, q, qd, qdd)
        required_forces(m.composites, m.rates, m.loads, m.springs, m.power, m.q, m.qd, m.given, m.out)
        _read(m, first, out)
    return True


@kernel
def _fill(m: Any, first: int, q: Array, qd: Array, given: Array) -> None:
    """Fill the lanes with states from ``first`` on of q (k, nq), qd (k, nv) and given (k, nv).

    The last state fills lanes that would be empty.
    """
    for lane in range(LANES):
        k = min(first + lane, len(q) - 1)
        for i in range(q.shape[1]):
            m.q_of[i, lane] = q[k, i]
        for j in range(qd.shape[1]):
            m.qd_of[j, lane] = qd[k, j]
            m.given_of[j, lane] = given[k, j]


@kernel
def _read(m: Any, first: int, out: Array) -> None:
    """Fill ``out`` (k, nv) from ``first`` on with the results of the lanes."""
    for lane in range(min(LANES, len(out) - first)):
        for j in range(out.shape[1]):
            out[first + lane, j] = m.out_of[j, lane]


@lru_cache(maxsize=1)
def _accelerations_in_lanes() -> Any:
    """Return the compiled :func:`accelerations_in_lanes`."""
    return compiled(accelerations_in_lanes, types.boolean(types.intp, *[_MATRIX] * 4))


@lru_cache(maxsize=1)
def _forces_in_lanes() -> Any:
    """Return the compiled :func:`forces_in_lanes`."""
    return compiled(forces_in_lanes, types.boolean(types.intp, *[_MATRIX] * 4))


def in_lanes(records: AnyArray, kind: LanesRecord) -> AnyArray:
    """Return records (n,) with equal values in all lanes."""
    out = aligned((len(records),), kind.laned)
    for name in records.dtype.names or ():
        values = records[name]
        out[name] = values[..., None] if out[name].ndim > values.ndim else values
    return out
