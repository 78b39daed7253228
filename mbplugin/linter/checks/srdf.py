"""The SRDF beside a URDF: groups, states and disabled pairs, as a document."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from mbplugin.errors import MbPluginError
from mbplugin.model.document import Document
from mbplugin.model.scene import Request, Scene
from mbplugin.readers.common.document import document_of
from mbplugin.readers.common.paths import find, read_text
from mbplugin.readers.common.xml import local_name, parse_xml


def srdf_beside(document: Document, scene: Scene) -> Document | None:
    """Return the SRDF that has the name of a URDF and lies beside it; None where there is none.

    One that cannot be read is none: the program that needs it refuses it with its own message.
    """
    file = document.root.origin.file
    if scene.request is None or scene.request.text is not None or not file:
        return None
    name = Path(file).name.partition(".")[0]
    beside: Request = replace(scene.request, path=file, text=None)
    path = find(str(beside.folder / f"{name}.srdf"), beside)
    if path is None:
        return None
    try:
        root = parse_xml(read_text(path), path)
    except MbPluginError:
        return None
    return document_of(root, "srdf") if local_name(root) == "robot" else None
