"""Names that users, files and documents share: each list is declared once, here or beside what it names."""

from __future__ import annotations

from typing import Literal, get_args

#: Planes to which a mechanism can be restricted.
Plane = Literal["xy", "yz", "zx"]
#: The same planes, with their axes in either order.
NamedPlane = Literal[Plane, "yx", "zy", "xz"]

#: Bases of a root link.
Base = Literal["fixed", "free"]

#: What a link without ``<inertial>`` weighs: nothing, or 1 kg with 1 kg·m² as in PyBullet.
Massless = Literal["zero", "pybullet"]

ConstraintKind = Literal["pair", "closure", "coupling", "driver", "pfaffian", "lock"]

#: Whether the rigid model determines a reaction; a method may leave it undecided.
Uniqueness = Literal["unique", "non-unique", "undecided"]

#: What determines a component of a reaction: the rigid model, a stated or an estimated stiffness.
ReactionSource = Literal["rigid", "stated", "estimated"]

ReactionUnit = Literal["N", "N·m"]
CoordinateUnit = Literal["rad", "m"]

#: Where in the robot a pair is, from the base on.
PairRole = Literal["base", "joint", "flange"]
PAIR_ROLES: tuple[PairRole, ...] = get_args(PairRole)

#: Simulators whose reading of a file is known.
Simulator = Literal["mujoco", "newton", "isaac", "gazebo", "drake", "pybullet"]
SIMULATORS: tuple[Simulator, ...] = get_args(Simulator)

#: Formats in which a model can be written.
Format = Literal["mjcf", "sdf", "urdf", "usd", "scene"]
FORMATS: tuple[Format, ...] = get_args(Format)

#: Categories of stops (IEC 60204-1): power-off; controlled, then power-off; controlled.
StopCategory = Literal[0, 1, 2]

PairTypeName = Literal[
    "fixed",
    "revolute",
    "continuous",
    "prismatic",
    "screw",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "point-on-line",
    "point-on-plane",
    "distance",
    "floating",
]

#: Uniqueness tools.
Method = Literal["qr", "svd", "rank", "nullspace", "dca", "dca-extended"]

Formulation = Literal["kkt", "null-space", "projected", "voronets", "partitioning", "closing"]
#: Ways to handle redundant rows.
Redundancy = Literal["eliminate", "minimum-norm", "mass-weighted", "augmented"]
Coordinates = Literal["absolute", "joint"]

#: How the rates jump where a constraint closes: by the momentum balance, or only those of a lock, to zero.
TransitionRule = Literal["consistent", "naive"]

#: What happens at a joint limit, in a motion and in a stop.
Limits = Literal["record", "stop", "ignore"]
StopLimits = Literal["stop", "ignore"]

#: Materials of estimated sections.
Material = Literal["steel", "aluminium"]

#: Axes of printed wrenches: joint frame or world.
Axes = Literal["joint", "world"]

#: Backends that compute the stops of a sweep: this machine's cores, or a cluster.
Backend = Literal["loky", "dask", "ray"]

#: Which axes move in a search for the worst stop: one at a time, or all at once.
Moving = Literal["one", "all"]
#: What a worst stop is the worst in: the time to rest, the travel of the axis, the path of the tool.
StopMeasure = Literal["time", "travel", "tool_distance"]
#: How a single brake fails: it does nothing, is worn to a share of its torque, or grips later.
FailureKind = Literal["dead", "worn", "late"]

#: Models of other libraries that are taken in memory: package and class.
LIBRARY_MODELS = frozenset(
    {
        ("mujoco", "MjModel"),
        ("mujoco", "MjData"),
        ("mujoco", "MjSpec"),
        ("yourdfpy", "URDF"),
        ("urchin", "URDF"),
        ("pinocchio", "Model"),
    }
)


def library_model(value: object) -> tuple[str, str] | None:
    """Return package and class of a model of another library; None for anything else."""
    own = type(value)
    found = (own.__module__.partition(".")[0], own.__name__)
    return found if found in LIBRARY_MODELS else None


#: What a format may have no place for: numbers of joints (limits, damping, friction), drives with their laws and
#: rotors, couplings, other constraints, springs, shapes, the pose and gravity and plane, and tables of a scene. What is
#: not read of a file is in no other one.
LossKind = Literal[
    "joint", "actuator", "coupling", "constraint", "spring", "shape", "contact", "setting", "scene", "unread"
]
LOSS_KINDS: tuple[LossKind, ...] = get_args(LossKind)
