"""XML elements and their text; a name that XML cannot hold is refused in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from lxml import etree

from mbplugin.errors import BadUsage

Element: TypeAlias = etree._Element


def element(parent: Element | None, tag: str, attributes: Mapping[str, str] | None = None) -> Element:
    """Return a new element, the last one of its parent; the root has none.

    Raises
    ------
    BadUsage
        An attribute with a character that XML does not have.
    """
    made = etree.Element(tag) if parent is None else etree.SubElement(parent, tag)
    for key, value in (attributes or {}).items():
        try:
            made.set(key, value)
        except ValueError:
            raise BadUsage(
                f"the {key} {value!r} has a character that XML does not have", remedy="rename it"
            ) from None
    return made


def document_text(root: Element) -> str:
    """Return a document with one element per line."""
    etree.indent(root)
    return etree.tostring(root, encoding="unicode") + "\n"
