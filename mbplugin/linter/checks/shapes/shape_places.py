"""The meshes that links show, each with its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.linter.checks.per_scene import per_scene
from mbplugin.linter.checks.shapes.mesh_cache import extent_of_file
from mbplugin.linter.checks.urdf_elements import written_links
from mbplugin.linter.files.places import body_place
from mbplugin.model.document import Node
from mbplugin.model.scene import Origin, Scene, Shape
from mbplugin.readers.meshes.named import mesh_path


@dataclass(frozen=True)
class ShownMesh:
    """A mesh of a link: whose it is, where it is written, how it is scaled, and its file.

    The file is None where it is not found.
    """

    link: str
    origin: Origin | None
    shape: Shape
    path: str | None


#: The volume of the box around a primitive shape.
_BOXES: dict[str, Callable[..., float]] = {
    "box": lambda x, y, z: x * y * z,
    "sphere": lambda r: 8 * r**3,
    "cylinder": lambda r, h: 4 * r * r * h,
    "capsule": lambda r, h: 4 * r * r * (h + 2 * r),
}


def written_solids(link: Node) -> Iterator[Node]:
    """Yield the elements inside ``<geometry>`` of a link."""
    for shape in link.children("visual", "collision"):
        for geometry in shape.children("geometry"):
            yield from geometry.children()


# finding a file takes longer than reading its size
@per_scene
def shown_meshes(scene: Scene) -> tuple[ShownMesh, ...]:
    """Return the meshes of a scene, each file once per link and scale."""
    return tuple(_shown(scene))


def _shown(scene: Scene) -> Iterator[ShownMesh]:
    places = {
        (link.name, solid.get("filename")): solid.origin
        for link in written_links(scene)
        for solid in written_solids(link)
        if solid.tag == "mesh"
    }
    paths: dict[tuple[str, str], str | None] = {}
    for link, shapes in scene.shapes.items():
        seen = set()
        for shape in shapes:
            if shape.kind == "mesh" and shape.mesh and (shape.mesh, shape.size) not in seen:
                seen.add((shape.mesh, shape.size))
                place = places.get((link, shape.mesh)) or body_place(scene, link)
                key = (shape.mesh, shape.beside)
                if key not in paths:
                    paths[key] = mesh_path(shape, scene.request)
                yield ShownMesh(link, place, shape, paths[key])


def box_volume(scene: Scene, link: str, shapes: Sequence[Shape]) -> float | None:
    """Return the volume of the boxes around shapes of a link together, m³.

    None where the size of one is not known without reading more than vertices, or there is none.
    """
    paths = {(m.shape.mesh, m.shape.size): m.path for m in shown_meshes(scene) if m.link == link}
    total = 0.0
    for shape in shapes:
        if shape.kind == "mesh":
            path = paths.get((shape.mesh, shape.size))
            edges = None if path is None else extent_of_file(path)
            if edges is None or len(shape.size) != 3:
                return None
            total += abs(float(np.prod(edges * np.array(shape.size))))
        elif shape.kind in _BOXES:
            total += abs(_BOXES[shape.kind](*shape.size))
        else:
            return None
    return total if shapes else None
