"""Rotations, poses, twists and wrenches, the only module that defines the layout of 6-vectors; and factorisations.

A twist is [v; ω] and a wrench [f; m], both in world axes at a stated point.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbplugin.choices import CoordinateUnit, ReactionUnit
from mbplugin.errors import BadNumber, BadUsage, answers_wrong_calls
from mbplugin.phrases import one_line_repr

#: Components in words.
MOTION_WORDS = {
    "tx": "translation along x",
    "ty": "translation along y",
    "tz": "translation along z",
    "rx": "rotation about x",
    "ry": "rotation about y",
    "rz": "rotation about z",
}
Array = NDArray[np.float64]
Order = NDArray[np.intp]
#: Arrays of flags or of indices.
AnyArray = NDArray[Any]
TRANSLATION = slice(0, 3)
ROTATION = slice(3, 6)
#: Component names in the order of a twist.
COMPONENTS = ("tx", "ty", "tz", "rx", "ry", "rz")
#: Names of the columns of a twist at the centre of mass, world axes.
TWIST_COLUMNS = ("vx", "vy", "vz", "wx", "wy", "wz")


# Component names: translation or rotation, axis, and units.
#
# ``tx`` to ``tz`` are along the axes of a joint frame, ``rx`` to ``rz`` about them.


class FreedomUnits(NamedTuple):
    """Units of a freedom: of its coordinate, rate, acceleration and force."""

    coordinate: CoordinateUnit
    rate: str
    acceleration: str
    force: ReactionUnit


_OF_TRAVELS = FreedomUnits("m", "m/s", "m/s²", "N")
_OF_TURNS = FreedomUnits("rad", "rad/s", "rad/s²", "N·m")


def is_turn(component: str) -> bool:
    """Return True if a component is a rotation."""
    return component[0] == "r"


def axis_of(component: str) -> int:
    """Return the axis index of a component, 0 to 2."""
    return "xyz".index(component[1])


def half_of(component: str) -> slice:
    """Return the slice of the half of a twist or row that contains a component."""
    return ROTATION if is_turn(component) else TRANSLATION


def units_of(component: str) -> FreedomUnits:
    """Return the units of a component."""
    return _OF_TURNS if is_turn(component) else _OF_TRAVELS


def skew(a: Array) -> Array:
    """Return the skew-symmetric matrix (..., 3, 3) of a (..., 3), with ``skew(a) @ b == cross(a, b)``."""
    a = np.asarray(a, dtype=float)
    out = np.zeros((*a.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -a[..., 2], a[..., 1], -a[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = a[..., 2], -a[..., 1], a[..., 0]
    return out


# components 1 2 0, then 2 0 1, and the other way round
_LEFT, _RIGHT = np.array([1, 2, 0, 2, 0, 1]), np.array([2, 0, 1, 1, 2, 0])
#: Number of components up to which taking six of each vector is faster than nine operations on single components.
_FEW = 250


def cross(a: Array, b: Array) -> Array:
    """Return a × b (..., 3) of a (..., 3) and b (..., 3); ``numpy.cross`` takes ten times as long for one vector."""
    if a.ndim + b.ndim > 2 and max(a.size, b.size) <= _FEW:
        products = a.take(_LEFT, -1) * b.take(_RIGHT, -1)
        return np.asarray(products[..., :3] - products[..., 3:])
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    parts = (a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0)
    if a.ndim == b.ndim == 1:
        return np.array(parts)
    # numpy.stack would take as long as the products
    out = np.empty((*parts[0].shape, 3))
    out[..., 0], out[..., 1], out[..., 2] = parts
    return out


def rotation_from_rpy(rpy: Array | tuple[float, float, float]) -> Array:
    """Return R = Rz(yaw) Ry(pitch) Rx(roll) for fixed-axis angles in radians, shape (3, 3)."""
    r, p, y = rpy
    cr, sr, cp, sp, cy, sy = np.cos(r), np.sin(r), np.cos(p), np.sin(p), np.cos(y), np.sin(y)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_from_rotation(R: Array) -> Array:
    """Return roll, pitch and yaw (3,) of a rotation R (3, 3), rad; in gimbal lock the roll is zero."""
    if np.hypot(R[0, 0], R[1, 0]) < 1e-12:
        return np.array([0.0, np.arctan2(-R[2, 0], 0.0), np.arctan2(-R[0, 1], R[1, 1])])
    yaw = np.arctan2(R[1, 0], R[0, 0])
    # Rz(-yaw) R = Ry(pitch) Rx(roll): near gimbal lock the yaw is inaccurate, and this roll compensates for it
    turned = rotation_from_rpy((0.0, 0.0, -yaw)) @ R
    return np.array([np.arctan2(-turned[1, 2], turned[1, 1]), np.arctan2(-R[2, 0], turned[0, 0]), yaw])


def make_read_only(*arrays: AnyArray) -> None:
    """Make ``arrays`` read-only, each (...), of any shape."""
    for array in arrays:
        array.setflags(write=False)


def unit(vector: Array | tuple[float, ...]) -> Array:
    """Return a vector (n,) divided by its length, scaled first because squares of tiny numbers would underflow."""
    sized = np.asarray(vector, dtype=float) / np.abs(vector).max()
    return np.asarray(sized / np.linalg.norm(sized))


def rotation_from_quaternion(xyzw: Array | tuple[float, ...]) -> Array:
    """Return the rotation of a quaternion (x, y, z, w), normalised first, shape (3, 3)."""
    x, y, z, w = unit(xyzw)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_from_rotation(R: Array) -> Array:
    """Return the quaternion (x, y, z, w), w ≥ 0, of a rotation R (3, 3), shape (4,)."""
    four_squares = np.array(
        [
            1 + R[0, 0] - R[1, 1] - R[2, 2],
            1 - R[0, 0] + R[1, 1] - R[2, 2],
            1 - R[0, 0] - R[1, 1] + R[2, 2],
            1 + R[0, 0] + R[1, 1] + R[2, 2],
        ]
    )
    largest = int(np.argmax(four_squares))
    symmetric = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    if largest == 3:
        quaternion = np.array([*symmetric, four_squares[3]])
    else:
        quaternion = np.empty(4)
        for axis in range(3):
            quaternion[axis] = R[axis, largest] + R[largest, axis]
        quaternion[largest] = four_squares[largest]
        quaternion[3] = symmetric[largest]
    quaternion /= np.linalg.norm(quaternion)
    return np.asarray(-quaternion if quaternion[3] < 0 else quaternion)


def quaternions_from_rotations(R: Array) -> Array:
    """Return the quaternions (n, 4) of rotations R (n, 3, 3) as :func:`quaternion_from_rotation` does for one."""
    # 4 q qᵀ by entries: the column of the largest component has the smallest error
    outer = np.empty((len(R), 4, 4))
    diagonal = np.einsum("nii->ni", R)
    trace = diagonal.sum(axis=1)
    outer[:, :3, :3] = R + R.transpose(0, 2, 1)
    for k in range(3):
        outer[:, k, k] = 1.0 + 2.0 * diagonal[:, k] - trace
    outer[:, 3, 3] = 1.0 + trace
    outer[:, 3, 0] = outer[:, 0, 3] = R[:, 2, 1] - R[:, 1, 2]
    outer[:, 3, 1] = outer[:, 1, 3] = R[:, 0, 2] - R[:, 2, 0]
    outer[:, 3, 2] = outer[:, 2, 3] = R[:, 1, 0] - R[:, 0, 1]
    largest = np.einsum("nii->ni", outer).argmax(axis=1)
    q = outer[np.arange(len(R)), :, largest]
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return np.where(q[:, 3:] < 0, -q, q)


def rotation_from_vector(theta: Array) -> Array:
    """Return exp(skew(theta)), theta (3,) in radians along the axis, shape (3, 3)."""
    angle = float(np.sqrt(theta @ theta))
    K = skew(theta)
    if angle < 1e-8:
        return np.eye(3) + K + 0.5 * K @ K
    sine, cosine = np.sin(angle) / angle, (1 - np.cos(angle)) / angle**2
    return np.asarray(np.eye(3) + sine * K + cosine * (K @ K))


def vector_from_rotation(R: Array) -> Array:
    """Return the rotation vector, length in [0, π], of a rotation R (3, 3), shape (3,)."""
    x, y, z, w = quaternion_from_rotation(R)
    sine = float(np.sqrt(x * x + y * y + z * z))
    factor = 2.0 if sine < 1e-12 else 2.0 * float(np.arctan2(sine, w)) / sine
    return factor * np.array([x, y, z])


def vectors_from_rotations(R: Array) -> Array:
    """Return the rotation vectors (n, 3), lengths in [0, π], of rotations R (n, 3, 3)."""
    trace = np.trace(R, axis1=1, axis2=2)
    diagonal = np.diagonal(R, axis1=1, axis2=2)
    four_squares = np.column_stack((1 + 2 * diagonal - trace[:, None], 1 + trace))
    largest = np.argmax(four_squares, axis=1)
    symmetric = np.column_stack((R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]))
    quaternion = np.column_stack((symmetric, four_squares[:, 3]))
    if (turned := np.flatnonzero(largest < 3)).size:
        axis = largest[turned]
        quaternion[turned, :3] = R[turned, :, axis] + R[turned, axis, :]
        quaternion[turned, axis] = four_squares[turned, axis]
        quaternion[turned, 3] = symmetric[turned, axis]
    quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    quaternion *= np.where(quaternion[:, 3:] < 0, -1.0, 1.0)
    sine = np.linalg.norm(quaternion[:, :3], axis=1)
    small = sine < 1e-12
    factor = np.where(small, 2.0, 2.0 * np.arctan2(sine, quaternion[:, 3]) / np.where(small, 1.0, sine))
    return np.asarray(factor[:, None] * quaternion[:, :3])


def align_z(axis: Array) -> Array:
    """Return the smallest rotation that takes z to ``axis`` (3,) of any length, shape (3, 3)."""
    x, y, z = unit(axis)
    across = x * x + y * y
    if z < 0 and across < 1e-30:
        return np.diag([1.0, -1.0, -1.0])
    # 1/(1 + z), without the cancellation that a z near −1 brings
    k = 1.0 / (1.0 + z) if z >= 0 else (1.0 - z) / across
    return np.array([[1 - k * x * x, -k * x * y, x], [-k * x * y, 1 - k * y * y, y], [-x, -y, z]])


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True, eq=False)
class Pose:
    """A rigid displacement X_AB: orientation and origin of frame B in frame A.

    Parameters
    ----------
    R : (3, 3) array
        R_AB, orientation.
    p : (3,) array
        p_AB_A, position in metres.
    """

    R: Array
    p: Array

    def __post_init__(self) -> None:
        """Take lists as arrays, and refuse other shapes.

        Raises
        ------
        BadUsage
            R is no (3, 3) matrix, or p has not three numbers.
        """
        if type(self.R) is not np.ndarray or type(self.p) is not np.ndarray:
            object.__setattr__(self, "R", _numbers(self.R, "R"))
            object.__setattr__(self, "p", _numbers(self.p, "p"))
        if self.R.shape[-2:] != (3, 3) or self.p.shape[-1:] != (3,):
            wrong, expected = ("p", "(3,)") if self.R.shape[-2:] == (3, 3) else ("R", "(3, 3)")
            raise BadUsage(
                f"{wrong} has the shape {getattr(self, wrong).shape}",
                where="Pose()",
                expected=f"{expected}: a rotation matrix R, then a position p",
                remedy="write mb.Pose.from_xyz_rpy(xyz, rpy) for a position and angles",
            )

    @classmethod
    def identity(cls) -> Pose:
        """Return the identity pose."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def from_xyz_rpy(
        cls,
        xyz: Array | tuple[float, float, float],
        rpy: Array | tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> Pose:
        """Return the pose with a position (m) and fixed-axis angles (rad)."""
        return cls(rotation_from_rpy(rpy), np.array(xyz, dtype=float))

    @classmethod
    def from_xyz_axis(
        cls, xyz: Array | tuple[float, float, float], axis: Array | Sequence[float] = (0.0, 0.0, 1.0)
    ) -> Pose:
        """Return the pose at a position (m) with z along ``axis`` (3,) of any length, by the smallest rotation."""
        return cls(align_z(np.array(axis, dtype=float)), np.array(xyz, dtype=float))

    def __matmul__(self, other: Pose) -> Pose:
        return unchecked_pose(self.R @ other.R, self.p + self.R @ other.p)

    def inverse(self) -> Pose:
        """Return X_BA."""
        return unchecked_pose(self.R.T, -self.R.T @ self.p)

    def apply(self, point: Array) -> Array:
        """Return the coordinates in A of a point (3,) given in B, shape (3,)."""
        return self.p + self.R @ point


def unchecked_pose(R: Array, p: Array) -> Pose:
    """Return the pose of arrays R (3, 3) and p (3,), m, which are not checked: models have ten thousands of poses."""
    pose = Pose.__new__(Pose)
    vars(pose).update(R=R, p=p)
    return pose


def shift_rows(rows: Array, arm: Array) -> Array:
    """Shift velocity rows (..., 6) to another reference point.

    A row acts on the twist at its reference point; ``arm`` (..., 3) points from the new reference point to
    the old one (world axes, m). Wrenches are shifted by the same rule.
    """
    out = np.array(rows, dtype=float)
    ax, ay, az = arm[..., 0], arm[..., 1], arm[..., 2]
    fx, fy, fz = out[..., 0], out[..., 1], out[..., 2]
    # arm × force, written out: the general cross product takes five times as long for a few rows
    out[..., 3] += ay * fz - az * fy
    out[..., 4] += az * fx - ax * fz
    out[..., 5] += ax * fy - ay * fx
    return out


def shift_twists(twists: Array, arm: Array) -> Array:
    """Shift twists (6, k) by ``arm`` (3,), from the old reference point to the new one (world axes, m)."""
    out = np.array(twists, dtype=float)
    out[TRANSLATION] -= skew(arm) @ out[ROTATION]
    return out


def _numbers(value: object, name: str) -> Array:
    """Return a field of a pose, R (3, 3) or p (3,), as an array.

    Raises
    ------
    BadUsage
        It holds something else than numbers.
    """
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        expected = "a rotation matrix R (3, 3), then a position p (3,), m"
        raise BadUsage(f"{name} is {value!r}", where="Pose()", expected=expected) from None


# Springs, stated by a scene or a caller.


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True, eq=False)
class Spring:
    """A spring and damper between two points, along the line that joins them.

    Parameters
    ----------
    body_a, body_b : str
        Bodies; ``world`` for the ground.
    point_a, point_b : (3,) array
        End points in the link frames, m.
    stiffness : float
        N/m.
    length : float
        Unloaded length, m.
    damping : float
        N·s/m.
    name : str
        Name for messages; may be empty.
    """

    body_a: str
    body_b: str
    point_a: Array
    point_b: Array
    stiffness: float
    length: float = 0.0
    damping: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        for name in ("point_a", "point_b"):
            point = np.array(getattr(self, name), dtype=float).reshape(3)
            point.setflags(write=False)
            object.__setattr__(self, name, point)
        _require_finite(f"the spring {self.label}", self.stiffness, self.length, self.damping)

    @property
    def label(self) -> str:
        """The name of the spring, or else of the bodies that it joins."""
        return repr(self.name) if self.name else f"{self.body_a!r}–{self.body_b!r}"

    def force_on_a(self, p_AB_W: Array, v_AB_W: Array) -> Array:
        """Return the force (3,) on body a, N; ``composite_bodies.py`` of the kernels has it compiled.

        Parameters
        ----------
        p_AB_W, v_AB_W : (3,) array
            Vector from end a to end b and its time derivative, m and m/s.
        """
        length = float(np.linalg.norm(p_AB_W))
        if length == 0.0:
            return np.zeros(3)
        e = p_AB_W / length
        tension = self.stiffness * (length - self.length) + self.damping * float(e @ v_AB_W)
        return np.asarray(tension * e)


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True)
class JointSpring:
    """A spring on one joint rate: force −stiffness · (q − rest).

    Parameters
    ----------
    joint : str
        A name of ``qd_names`` whose coordinate has the same name.
    stiffness : float
        N·m/rad or N/m.
    rest : float
        Unloaded coordinate, rad or m.
    name : str
        Name for messages; may be empty.
    """

    joint: str
    stiffness: float
    rest: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        _require_finite(f"the spring of joint {self.joint!r}", self.stiffness, self.rest)

    def force(self, coordinate: float) -> float:
        """Return the force along the joint rate at a coordinate (rad or m), N·m or N."""
        return -self.stiffness * (coordinate - self.rest)


def _require_finite(what: str, *values: float) -> None:
    for value in values:
        if not (isinstance(value, Real) and isfinite(value)):
            raise BadNumber(f"{what} has the value {value!r}", expected="finite numbers in SI units")


# Dense factorisations by direct calls of the LAPACK routines that ``scipy.linalg`` wraps.
#
# Importing ``scipy.linalg`` takes twice as long as importing NumPy, since it loads most of NumPy and SciPy, and for the
# small matrices of one mechanism its wrappers take ten times as long as the factorisation. The routines are in an
# extension module that needs neither.


@cache
def _lapack() -> Any:
    """Load SciPy's LAPACK extension module without its package, or with it if the module is not at its usual path."""
    name = "scipy.linalg._flapack"
    package = find_spec("scipy")
    if name in sys.modules or package is None or sys.platform == "win32":
        # on Windows, importing the package registers the folder of its libraries
        return importlib.import_module("scipy.linalg.lapack")
    folders = [str(Path(folder) / "linalg") for folder in package.submodule_search_locations or ()]
    spec = PathFinder.find_spec(name, folders)
    if spec is None or spec.loader is None:
        return importlib.import_module("scipy.linalg.lapack")
    # registered, so that a later import of the package reuses it
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pivoted_qr(A: Array) -> tuple[Array, Array, Order]:
    """Return Q (m, m), R (m, n) and the column order (n,) with A[:, order] = Q R, for A (m, n)."""
    m, n = A.shape
    if not A.size:
        return np.eye(m), np.zeros((m, n)), np.arange(n)
    factors, order, scales = _factored(A)
    reflectors = np.empty((m, m))
    reflectors[:, :n] = factors[:, :m]
    (Q,) = _called(_lapack().dorgqr, reflectors, scales)
    return Q, np.triu(factors), order


def pivots(A: Array) -> tuple[Array, Order]:
    """Return the absolute pivots of A (m, n), (min(m, n),), and the column order (n,), largest pivot first."""
    if not A.size:
        return np.zeros(0), np.arange(A.shape[1])
    factors, order, _ = _factored(A)
    return np.abs(np.diag(factors)), order


def pivot_order(A: Array) -> Order:
    """Return the column order (n,) of a pivoted QR factorisation of A (m, n), largest pivot first."""
    return pivots(A)[1]


def solve_triangular(A: NDArray[Any], rhs: Array, *, lower: bool = False, transposed: bool = False) -> Array:
    """Return A⁻¹ rhs, or A⁻ᵀ rhs, for a triangular A (n, n) and rhs (n,) or (n, k)."""
    if not rhs.size:
        return np.zeros_like(rhs)
    return np.asarray(_lapack().dtrtrs(A, rhs, lower=lower, trans=transposed)[0]).reshape(rhs.shape)


def _factored(A: Array) -> tuple[Array, Order, Array]:
    """Return the packed R and reflectors (m, n), the column order (n,) and the reflectors' scales, for A (m, n)."""
    factors, order, scales = _called(_lapack().dgeqp3, np.asarray_chkfinite(A))
    return factors, order - 1, scales


def _called(routine: Any, *arrays: Array) -> tuple[Any, ...]:
    """Return the result of a LAPACK routine, called with the workspace size that it reports as optimal."""
    room = int(routine(*arrays, lwork=-1)[-2][0])
    *found, _, info = routine(*arrays, lwork=room)
    if info < 0:
        raise ValueError(f"LAPACK refuses argument {-info} of {routine.__name__}")
    return tuple(found)
