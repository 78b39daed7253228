"""Copies of a model's file, in which only the closures are changed.

A model that stays in its format keeps all contents of its file: comments, defaults, sensors, materials, names and
their order. Only elements of closures are replaced, and parts of bodies added. The changed text is read back and
compared with the model; if it differs, or if the change is not local, the file is written anew, and the result
states the reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np

from mbplugin.errors import MbPluginError
from mbplugin.files import read_bounded
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Request, Scene
from mbplugin.phrases import listed
from mbplugin.readers import format_name, read_again
from mbplugin.readers.xml import parse_xml
from mbplugin.writers.sdf import sdf_joint
from mbplugin.writers.urdf import loop_joint
from mbplugin.writers.written import Written
from mbplugin.writers.xml_text import Edited, NoCopy, XmlText

#: Of a joint of a USD stage that closes a loop inside an articulation.
_IN_ARTICULATION = "MB129"
#: Formats whose files are copied.
_COPIED = ("mjcf", "urdf", "sdf", "usd")
#: Tolerance for numbers of a copy and of its file, relative and in SI units.
_SAME = 1e-9
#: Parts of a scene besides its mechanism; a copy must have equally many of each.
_PARTS = ("loads", "payloads", "brakes", "ramps", "springs", "stiffness", "locks", "holds", "actuators")


def is_of_format(scene: Scene, to: str) -> bool:
    """Return True if a scene was read from a file of a format."""
    request = scene.request
    return to in _COPIED and request is not None and request.text is None and format_name(request) == to


def copied(scene: Scene, target: Scene, to: str) -> tuple[Written, Scene]:
    """Return the file of a scene with the closures of another mechanism, and the scene read back from it.

    Parameters
    ----------
    scene : Scene
        The scene as read from a file of the format.
    target : Scene
        The same scene with other types of closures, at a closed pose.
    to : str
        The format to write.

    Raises
    ------
    NoCopy
        A change is not local, or the model differs from its file.
    """
    request = scene.request
    assert request is not None
    text = source_text(request)
    back = _read_as_stated(scene, text)
    unstated = loops_unstated(scene) if to == "usd" else frozenset()
    changed = changed_pairs(scene.mechanism, target.mechanism, unstated)
    if not changed:
        return Written(to, text, copy_of=request, names_from=request), back
    edited = _with_types(text, scene, target, changed, to)
    try:
        back = read_again(edited.text, _plain(request))
    except MbPluginError as error:
        raise NoCopy(f"the file with other closures cannot be read: {error.what}") from None
    _require_same(scene, back, edited, changed)
    return Written(to, edited.text, edited.held, copy_of=request, names_from=request), back


def _read_as_stated(scene: Scene, text: str) -> Scene:
    """Return the scene read from the text of a file without reading options; it must equal the given scene.

    Raises
    ------
    NoCopy
        It differs.
    """
    request = scene.request
    assert request is not None
    try:
        back = read_again(text, _plain(request))
        _require_same(scene, back, Edited(text), ())
    except (NoCopy, MbPluginError):
        if request != _plain(request):
            raise NoCopy(
                "its text does not say what options of reading do (base, snapped angles, massless)"
            ) from None
        raise NoCopy("the model is no longer that of its file") from None
    return back


def _with_types(text: str, scene: Scene, target: Scene, changed: tuple[Pair, ...], to: str) -> Edited:
    """Return the text with the types of some pairs taken from another scene."""
    if to == "mjcf":
        from mbplugin.writers.mjcf_copy import with_closures

        return with_closures(text, scene, target, changed)
    assert scene.request is not None
    if to == "usd":
        from mbplugin.writers.usd_copy import with_types

        return with_types(text, _plain(scene.request), scene.mechanism, target.mechanism, changed)
    # one element each; a reader's frames of links are those of the file
    document = XmlText(parse_xml(text, scene.request.path), text)
    for pair in changed:
        if to == "urdf":
            document.replace_in_line(
                document.find("loop_joint", pair.name), loop_joint(pair, pair.X_AP, pair.X_BS)
            )
        else:
            document.replace_in_line(document.find("joint", pair.name), sdf_joint(target, pair))
    return Edited(document.edited())


def _plain(request: Request) -> Request:
    """Return a request without options that change the meaning of a text, since a copy consists of its text only."""
    return replace(request, base=None, snap_angles=False, massless="zero")


def is_as_in_file(scene: Scene) -> bool:
    """Return True if a scene is still that of its file; a caller may have changed it."""
    if scene.request is None or scene.request.text is not None:
        return False
    try:
        _read_as_stated(scene, source_text(scene.request))
    except NoCopy:
        return False
    return True


def loops_unstated(scene: Scene) -> frozenset[str]:
    """Return the joints of a USD stage that close loops and that it does not exclude from its articulation."""
    return frozenset(defect.element for defect in scene.defects if defect.code == _IN_ARTICULATION)


def changed_pairs(before: Mechanism, after: Mechanism, unstated: Collection[str] = ()) -> tuple[Pair, ...]:
    """Return the pairs of a mechanism that have another type than before, or close a loop only now.

    Parameters
    ----------
    unstated : collection of str
        Closures of which the file does not say that they are some; only with such loops may be cut elsewhere.

    Raises
    ------
    NoCopy
        Loops are cut elsewhere.
    """
    cuts = [{pair.name for pair in mech.tree.cut} for mech in (before, after)]
    if cuts[0] != cuts[1] and not unstated:
        raise NoCopy(f"its loops are cut elsewhere, at {listed(sorted(cuts[1] - cuts[0]))}")
    moved = (cuts[0] ^ cuts[1]) | (cuts[1] & set(unstated))
    return tuple(
        pair for pair in after.pairs if pair.type != before.pair_by_name[pair.name].type or pair.name in moved
    )


def source_text(request: Request) -> str:
    """Return the text of a file with its line ends and its byte order mark, without trailing null bytes.

    Raises
    ------
    NoCopy
        The file is not UTF-8.
    """
    data = read_bounded(Path(request.path)).rstrip(b"\0")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise NoCopy("it is not UTF-8") from None


def _require_same(scene: Scene, back: Scene, edited: Edited, changed: tuple[Pair, ...]) -> None:
    """Reject a copy that differs from its model in more than the changed closures."""
    ours, theirs = scene.mechanism, back.mechanism
    added = {*edited.parts.values()}
    bodies = [body for body in theirs.bodies if body.name.partition("#")[0] not in added]
    if [body.name for body in bodies] != [body.name for body in ours.bodies]:
        raise NoCopy("its bodies without names are numbered anew once closures are changed: give each a name")
    for body, other in zip(ours.bodies, bodies, strict=True):
        share = edited.shares.get(body.name, 1.0)
        size = max(body.mass, float(np.abs(body.I_C).max(initial=0.0)))
        numbers = np.r_[share * body.mass, body.p_LC, share * body.I_C.ravel()]
        again = np.r_[other.mass, other.p_LC, other.I_C.ravel()]
        if not np.allclose(numbers, again, rtol=_SAME, atol=_SAME * max(size, 1.0)):
            raise NoCopy(f"body {body.name!r} has another mass, centre or inertia once closures are changed")
    names = {pair.name for pair in changed}
    kept = [pair for pair in ours.pairs if pair.name not in names]
    there = theirs.pair_by_name
    for pair in kept:
        if pair.name not in there or not _alike(pair, there[pair.name]):
            hint = ": give each joint a name" if re.fullmatch(r"joint\d+", pair.name) else ""
            raise NoCopy(f"joint {pair.name!r} is another one once closures are changed{hint}")
    new = {*names, *(f"{stub}_weld" for stub in added)}
    rest = there.keys() - {pair.name for pair in kept} - new
    if any(name.rpartition(".")[0] not in names for name in rest):
        raise NoCopy("it has other joints once closures are changed")
    for pair in changed:
        if pair.name not in edited.parts and (pair.name not in there or there[pair.name].type != pair.type):
            raise NoCopy(f"{pair.name!r} is not read as {pair.type}")
    if ours.couplings != theirs.couplings:
        raise NoCopy("its couplings differ once closures are changed")
    if any(len(getattr(scene, part)) != len(getattr(back, part)) for part in _PARTS):
        raise NoCopy("the model has parts that its file does not have")
    laws = {law.name: law for law in back.actuator_laws}
    for law in scene.actuator_laws:
        if laws.get(law.name) != law:
            raise NoCopy(
                f"actuator {law.name!r}, whose gains count on inertia, differs once closures are changed"
            )
    if not np.allclose(ours.gravity, theirs.gravity):
        raise NoCopy("the model is not the one of its file")


def _alike(pair: Pair, other: Pair) -> bool:
    frames = ((pair.X_AP, other.X_AP), (pair.X_BS, other.X_BS))
    return (
        (pair.type, pair.bodies, pair.closure, pair.freedoms)
        == (other.type, other.bodies, other.closure, other.freedoms)
        and all(np.allclose(X.R, Y.R, atol=_SAME) and np.allclose(X.p, Y.p, atol=_SAME) for X, Y in frames)
        and pair.lead == other.lead
    )
