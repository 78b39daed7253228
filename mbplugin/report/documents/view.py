"""The JSON document of ``mbplugin view``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from mbplugin.report.documents.part import Document, Model, key

if TYPE_CHECKING:
    from mbplugin.model.scene import Scene
    from mbplugin.visualization.gui.show import Viewed


class Output(Document):
    """What was shown or drawn."""

    source: str = key("the FILE as it was given")
    model: Model
    outcome: Literal["closed", "ended", "written"]
    written: list[str] = key("pictures and films", read="files")
    notes: list[str] = key("what is not shown as it is")


def view_document(viewed: Viewed, source: str, scene: Scene) -> dict[str, Any]:
    """Return the document of a view.

    Parameters
    ----------
    source : str
        The FILE as it was given.
    """
    return Output.of(viewed, source=source, model=(scene.mechanism.name, scene.files))
