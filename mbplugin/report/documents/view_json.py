"""The JSON document of ``mbplugin view``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbplugin.report.documents import schema as s
from mbplugin.report.documents.json import SCHEMA_VERSION

if TYPE_CHECKING:
    from mbplugin.model.scene import Scene
    from mbplugin.view.gui.show import Viewed


def view_document(viewed: Viewed, source: str, scene: Scene) -> dict[str, Any]:
    """Return the document of a view.

    Parameters
    ----------
    viewed : Viewed
    source : str
        The FILE as it was given.
    scene : Scene
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "source": source,
        "model": {"name": scene.mechanism.name, "files": list(scene.files)},
        "outcome": viewed.outcome,
        "written": list(viewed.files),
        "notes": list(viewed.notes),
    }


def view_schema() -> s.Schema:
    """Return the schema of a view without its header."""
    return s._object(
        schema_version=s._VERSION,
        source=s._described(s._TEXT, "the FILE as it was given"),
        model=s._object(name=s._TEXT, files=s._list(s._TEXT)),
        outcome={"enum": ["closed", "ended", "written"]},
        written=s._described(s._list(s._TEXT), "pictures and films"),
        notes=s._described(s._list(s._TEXT), "what is not shown as it is"),
    )
