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
        Both values with their unit.
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

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        if self.same:
            after = f", after {counted(len(self.normalised), 'normalisation')}" if self.normalised else ""
            return f"the same robot{after}"
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
