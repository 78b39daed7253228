"""Every word of a document changed, one at a time: what a reader makes of it, as one comparable value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace

import numpy as np
from lxml import etree

from mbplugin.errors import MbPluginError
from mbplugin.model.scene import Scene
from mbplugin.readers.unread import Use, Vocabulary

Reader = Callable[[str], Scene]

#: Says where and how something is written, or repeats it as written, not what the model is.
_PLACES = ("origin", "request", "files", "documents")


def value(thing: object) -> object:
    """Return a thing as plain tuples that can be compared, without places in files."""
    if isinstance(thing, np.ndarray):
        return tuple(thing.ravel().tolist())
    if isinstance(thing, Mapping):
        return tuple(sorted((str(k), value(v)) for k, v in thing.items() if k != "lines"))
    if isinstance(thing, (tuple, list)):
        return tuple(value(item) for item in thing)
    if is_dataclass(thing):
        return tuple(value(getattr(thing, f.name)) for f in fields(thing) if f.name not in _PLACES)
    return thing


def outcome(text: str, read: Reader) -> object:
    """Return the scene of a document as a plain value, or why it is refused."""
    try:
        return value(read(text))
    except MbPluginError as error:
        return ("refused", error.what)


def mechanics(scene: Scene) -> object:
    """Return a scene without what was said about its file."""
    return value(replace(scene, defects=()))


def path_of(element: etree._Element) -> str:
    """Return tags from below the root to an element; models in each other count once."""
    tags: list[str] = []
    while element is not None:
        prefix = f"{element.prefix}:" if element.prefix else ""
        tags.insert(0, prefix + etree.QName(element).localname)
        element = element.getparent()
    return "/".join(tags)


def words(document: str) -> Iterator[tuple[str, str]]:
    """Yield every attribute ``path@name`` and every text ``path@`` of a document, with its value."""
    for element in etree.fromstring(document).iter():
        for name, said in element.attrib.items():
            yield f"{path_of(element)}@{name}", said
        if not len(element) and (element.text or "").strip():
            yield f"{path_of(element)}@", element.text.strip()


def changed(document: str, number: int, new: str | None, rename: bool = False) -> str:
    """Return a document with word ``number`` of ``words`` changed, or its attribute misspelt."""
    root = deepcopy(etree.fromstring(document))
    count = 0
    for element in root.iter():
        for name in list(element.attrib):
            if count == number:
                if rename:
                    element.set(name + "x", element.attrib.pop(name))
                else:
                    element.set(name, str(new))
            count += 1
        if not len(element) and (element.text or "").strip():
            if count == number:
                element.text = new
            count += 1
    return etree.tostring(root, encoding="unicode")


def other(said: str) -> str:
    """Return another value of the same kind: a number that is larger, the other truth, another word."""
    opposites = {"true": "false", "false": "true", "1": "0", "0": "1", "enable": "disable"}
    if said in opposites:
        return opposites[said]
    head, *rest = said.split() or [""]
    try:
        return " ".join([repr(float(head) + 0.125), *rest])
    except ValueError:
        return said + "_other"


def use_of(vocabulary: Vocabulary, path: str) -> Use | None:
    """Return what becomes of a word, ``root/element/element@attribute``; None: it is misspelt.

    The key of the root's entry is its tag, and an attribute without a name is the element's text.
    """
    tags, _, attribute = path.partition("@")
    root, *inner = tags.split("/")
    known = vocabulary[root]
    for tag in inner:
        use = known.children.get(tag, known.foreign)
        if not isinstance(use, str):
            return use
        known = vocabulary[use]
    return known.attributes.get(attribute, known.rest)
