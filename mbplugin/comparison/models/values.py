"""The result of ``diff``: what differs between two models, and what was normalised before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from mbplugin.model.scene import Origin
from mbplugin.phrases import counted, one_line, one_line_repr
from mbplugin.rendering import Result

#: What may differ between two models.
DifferenceKind = Literal[
    "mass",
    "center",
    "inertia",
    "frame",
    "body",
    "axis",
    "origin",
    "limit",
    "zero",
    "effort",
    "velocity",
    "damping",
    "friction",
    "acceleration",
    "deceleration",
    "jerk",
    "load_friction",
    "armature",
    "spring",
    "lead",
    "length",
    "type",
    "ends",
    "joint",
    "loop",
    "coupling",
    "gravity",
    "base",
    "redundancy",
    "mobility",
    "dynamics",
    "reactions",
]
#: What is normalised.
NormalisedKind = Literal[
    "fixed links",
    "frame",
    "link frame",
    "ground",
    "base",
    "gravity",
    "armature",
    "cut",
    "order",
    "axis",
    "zero",
    "effort",
    "damping",
    "friction",
    "velocity",
]


#: What a file states of a joint besides its geometry.
StatedKind = Literal[
    "limit",
    "effort",
    "velocity",
    "damping",
    "friction",
    "acceleration",
    "deceleration",
    "jerk",
    "load_friction",
    "armature",
    "spring",
]


@one_line_repr
@dataclass(frozen=True)
class Difference:
    """One thing that differs.

    Parameters
    ----------
    kind : str
    element_a, element_b : str
        Name in either model; empty where it has none.
    value_a, value_b : str
        Both values with their unit: those of the files, in SI units, or named as computed.
    cause : str
        What probably happened; empty where nothing is obvious.
    place_a, place_b : Origin, optional
        Where it is written.
    """

    kind: DifferenceKind
    element_a: str
    element_b: str
    value_a: str
    value_b: str
    cause: str = ""
    place_a: Origin | None = None
    place_b: Origin | None = None

    @property
    def element(self) -> str:
        """The name of the element, in the first model where it is there."""
        return self.element_a or self.element_b


@dataclass(frozen=True)
class Normalised:
    """A legitimate difference that was taken away before the models were compared."""

    kind: NormalisedKind
    element: str
    text: str


@dataclass(frozen=True)
class NotCompared:
    """What at least one model states and is not compared.

    Parameters
    ----------
    kind : str
        ``scene`` for what a scene adds to a robot.
    side : "A", "B" or ""
        The model whose format has no place for it.
    elements : tuple of str
        Joints of the first model of which the other one states it.
    text : str
    """

    kind: StatedKind | Literal["scene"]
    side: Literal["A", "B", ""]
    elements: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Quantities:
    """Numbers of one model: bodies and joints after merging, redundancy and mobility, mass in kg."""

    name: str
    bodies: int
    joints: int
    loops: int
    couplings: int
    mass: float
    degree_of_redundancy: int | None
    dof: int | None


@dataclass(frozen=True, eq=False)
class ModelDiff(Result):
    """Whether two models are the same robot.

    Parameters
    ----------
    a, b : Quantities
    differences : tuple of Difference
    normalised : tuple of Normalised
    not_compared : tuple of NotCompared
        What one format has no place for, and what scenes add to the robot.
    bodies, joints : mapping of str to str
        Which names of the first model are which of the second.
    poses : int
        Random poses at which the dynamics were compared; 0 where the trees do not correspond.
    mass_matrix, gravity_forces, wrenches : float or None
        Largest relative differences over these poses, of wrenches in the components that both rigid models determine;
        None where they were not compared.
    tolerance : float
        Relative, of masses; of angles in rad.
    """

    a: Quantities
    b: Quantities
    differences: tuple[Difference, ...]
    normalised: tuple[Normalised, ...]
    bodies: Mapping[str, str]
    joints: Mapping[str, str]
    poses: int
    mass_matrix: float | None
    gravity_forces: float | None
    wrenches: float | None
    tolerance: float
    notes: tuple[str, ...] = ()
    not_compared: tuple[NotCompared, ...] = ()

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        if self.same:
            after = f", after {counted(len(self.normalised), 'normalisation')}" if self.normalised else ""
            left = len({one.kind for one in self.not_compared if one.kind != "scene"})
            among = (
                f", in what both files can state ({counted(left, 'quantity', 'quantities')} left)"
                if left
                else ""
            )
            return f"the same robot{after}{among}"
        elements = len({(d.element_a, d.element_b) for d in self.differences})
        return f"{counted(len(self.differences), 'difference')} in {counted(elements, 'element')}"

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    def __repr__(self) -> str:
        said = "the same robot" if self.same else counted(len(self.differences), "difference")
        facts = (said, f"{len(self.normalised)} normalised", f"tolerance {self.tolerance:g}")
        return one_line(self, f"{self.a.name} / {self.b.name}", facts)
