"""What users, files and documents can state: the names that they share, and numbers.

It imports nothing, so that help is quick; ``mbplugin.model`` offers most of them too.
"""

from __future__ import annotations

from typing import Literal, get_args

#: Planes to which the motion of a mechanism can be restricted.
Plane = Literal["xy", "yz", "zx"]
#: The same planes with their axes in either order.
NamedPlane = Literal[Plane, "yx", "zy", "xz"]

#: Bases of a root link.
Base = Literal["fixed", "free"]

#: Mass and inertia of a link without ``<inertial>``: none, or 1 kg and 1 kg·m² as in PyBullet.
Massless = Literal["zero", "pybullet"]

ConstraintKind = Literal["pair", "closure", "coupling", "driver", "pfaffian", "lock", "contact"]

#: Whether the rigid model determines a reaction uniquely; some methods cannot decide.
Uniqueness = Literal["unique", "non-unique", "undecided"]

#: Source of a reaction component: the rigid model, a stated stiffness, an estimated one, or the inequalities of
#: contacts and limits, which leave one value.
ReactionSource = Literal["rigid", "stated", "estimated", "inequalities"]

ReactionUnit = Literal["N", "N·m"]
CoordinateUnit = Literal["rad", "m"]

#: Location of a pair in the robot, from the base outwards.
PairRole = Literal["base", "joint", "flange"]
PAIR_ROLES: tuple[PairRole, ...] = get_args(PairRole)

#: How serious a finding is.
Severity = Literal["error", "warning", "note"]

#: Simulators whose interpretation of model files is known.
Simulator = Literal["mujoco", "newton", "isaac", "gazebo", "drake", "pybullet"]
SIMULATORS: tuple[Simulator, ...] = get_args(Simulator)

#: Formats in which a model can be written.
Format = Literal["mjcf", "sdf", "urdf", "usd", "scene"]
FORMATS: tuple[Format, ...] = get_args(Format)

#: Stop categories (IEC 60204-1): immediate power-off; controlled, then power-off; controlled with power kept on.
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

#: Methods that determine the uniqueness of reactions.
Method = Literal["qr", "svd", "rank", "nullspace", "dca", "dca-extended"]

Formulation = Literal["kkt", "null-space", "projected", "voronets", "partitioning", "closing"]
#: Ways to handle redundant rows.
Redundancy = Literal["eliminate", "minimum-norm", "mass-weighted", "augmented"]
Coordinates = Literal["absolute", "joint"]

#: Jump of the rates when a constraint closes: by the momentum balance, or only the rates of a lock jump, to zero.
TransitionRule = Literal["consistent", "naive"]

#: Treatment of joint limits, in a motion and in a stop.
Limits = Literal["record", "stop", "ignore"]
StopLimits = Literal["stop", "ignore"]

#: Materials of estimated beam sections.
Material = Literal["steel", "aluminium"]

#: Axes of printed wrenches: joint frame or world.
Axes = Literal["joint", "world"]

#: Backends that compute the stops of a sweep: this machine's cores, or a cluster.
Backend = Literal["loky", "dask", "ray"]

#: Which axes move in a search for the worst stop: one at a time, or all at once.
Moving = Literal["one", "all"]
#: Measures of a worst stop: the time to rest, the travel of the axis, the path of the tool.
StopMeasure = Literal["time", "travel", "tool_distance"]
#: Failures of a single brake: it has no effect, is worn to a fraction of its torque, or grips later.
FailureKind = Literal["dead", "worn", "late"]

#: Models of other libraries that can be read from memory: package and class.
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
    """Return the package and class of a model of another library; None for anything else."""
    own = type(value)
    found = (own.__module__.partition(".")[0], own.__name__)
    return found if found in LIBRARY_MODELS else None


#: Data that an output format may be unable to hold: joint data (limits, damping, friction), drives with their laws and
#: rotors, couplings, other constraints, springs, shapes, contacts, settings (pose, gravity, plane), tables of a scene.
#: ``unread`` data of the input is in no output format.
LossKind = Literal[
    "joint", "actuator", "coupling", "constraint", "spring", "shape", "contact", "setting", "scene", "unread"
]
LOSS_KINDS: tuple[LossKind, ...] = get_args(LossKind)

#: No length, mass or inertia of a machine is larger (the sun has 2e30 kg), and squares and
#: determinants of smaller numbers cannot overflow.
LARGEST = 1e30


def decimal(text: str) -> float:
    """Return the number that a text states: ASCII digits, a point, an exponent; also ``inf`` and ``nan``.

    All numbers of users are parsed here. Python's ``float`` accepts more: ``1_000``, and digits of other scripts.

    Raises
    ------
    ValueError
        The text is not a number.
    """
    if "_" in text or not text.isascii():
        raise ValueError("no number")
    return float(text)
