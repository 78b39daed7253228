"""Names of compiled MuJoCo objects, and the lines they were written on."""

from __future__ import annotations

from typing import Any

from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.scene import Defect, Origin
from mbplugin.readers.common.xml import Element, local_name, origin


class Names:
    """Unique names for the bodies and constraints of a compiled model.

    Parameters
    ----------
    mujoco : module
    model : MjModel
    roots : list of Element
        The files the model was compiled from.
    """

    def __init__(self, mujoco: Any, model: Any, roots: list[Element]) -> None:
        self._mujoco, self._model = mujoco, model
        self._file = str(roots[0].base)
        self._lines = _lines(roots)
        self._taken: dict[str, set[str]] = {"body": set(), "constraint": set()}
        self.defects: list[Defect] = []
        self._bodies = [WORLD] + [
            self.unique("body", self.written("body", i) or f"body{i}") for i in range(1, model.nbody)
        ]

    def body(self, index: int) -> str:
        """Return the name of a body; the ground has index 0."""
        return self._bodies[index]

    def written(self, kind: str, index: int) -> str:
        """Return the name in the file of a body, joint, equality or tendon; empty where it has none."""
        type = getattr(self._mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        return self._mujoco.mj_id2name(self._model, type, index) or ""

    def joint(self, index: int) -> str:
        """Return the name of a joint, as written or numbered as MuJoCo numbers it."""
        return self.written("joint", index) or f"joint{index}"

    def unique(self, kind: str, name: str) -> str:
        """Take a name; one that another body or constraint has is numbered.

        That is no defect of the file: MuJoCo refuses names that are used twice, and only names made here,
        or a joint and an equality of one name, meet in this namespace.
        """
        chosen, count = name, 1
        while chosen in self._taken[kind]:
            count += 1
            chosen = f"{name}#{count}"
        self._taken[kind].add(chosen)
        return chosen

    def origin(self, kind: str, name: str) -> Origin:
        """Return where a body, joint or equality is written; line 0 where that is not known."""
        element = self.element(kind, name)
        return Origin(self._file, 0) if element is None else origin(element)

    def element(self, kind: str, name: str) -> Element | None:
        """Return the element of a body, joint or equality with a name of its own."""
        return self._lines.get((kind, name))

    def not_read(self, kind: str, name: str, message: str) -> None:
        """Note something in the file that has no place in the mechanism."""
        self.defects.append(Defect("MB113", name, message, self.origin(kind, name)))


def _lines(roots: list[Element]) -> dict[tuple[str, str], Element]:
    """Map (kind, name) to its element, for what the files name."""
    found: dict[tuple[str, str], Element] = {}
    for element in (element for root in roots for element in root.iter()):
        name = str(element.get("name", ""))
        outer = element.getparent()
        if not name or outer is None:
            continue
        kind = local_name(element)
        if local_name(outer) == "equality":
            kind = "equality"
        elif kind == "freejoint":
            kind = "joint"
        found.setdefault((kind, name), element)
    return found
