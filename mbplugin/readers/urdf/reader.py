"""URDF to Scene: links, joints, closures in every convention people use, and mimics.

PyBullet is no way in: it drops mimics and closures and crashes on loops and several roots.
"""

from __future__ import annotations

from pathlib import Path

from mbplugin.errors import UnknownFormat
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.scene import Request, Scene, state_at_home
from mbplugin.readers.common.document import document_of
from mbplugin.readers.common.unread import unread_defects
from mbplugin.readers.common.xml import Element, local_name, origin, parse_xml, where
from mbplugin.readers.urdf.closures import note_open_closures, read_closures
from mbplugin.readers.urdf.draft import Draft
from mbplugin.readers.urdf.drives import driven_joints
from mbplugin.readers.urdf.extended_urdf import Extension, add_loops, read_extension, retype_joints
from mbplugin.readers.urdf.gazebo_links import read_gazebo_links
from mbplugin.readers.urdf.joints import couplings, read_joints
from mbplugin.readers.urdf.links import read_links
from mbplugin.readers.urdf.repairs import repair_numbers
from mbplugin.readers.urdf.substitutions import expand
from mbplugin.readers.urdf.tree import hold_base, mark_closures
from mbplugin.readers.urdf.vocabulary import URDF


def read_urdf(text: str, request: Request) -> Scene:
    """Return the scene of a URDF text.

    Parameters
    ----------
    text : str
    request : Request
        The file's name for messages, package folders, base and snapping.

    Raises
    ------
    BrokenXml, UnknownFormat, BrokenModel, BadNumber, UnknownName, BadUsage
        Every message names file and line.
    """
    robot = parse_xml(text, request.path)
    if local_name(robot) != "robot":
        raise UnknownFormat(
            f"the root element is <{local_name(robot)}>", where=where(robot), expected="a URDF's <robot>"
        )
    if "$" in text or "xacro" in text:
        expand(robot, every_variable=request.xacro_unsafe)
    return _scene(robot, request)


def _scene(robot: Element, request: Request) -> Scene:
    draft = Draft(request, defects=repair_numbers(robot))
    read_links(robot, draft)
    read_gazebo_links(robot, draft)
    mimics = read_joints(robot, draft)
    mark_closures(draft)
    extension = read_extension(request)
    if extension:
        retype_joints(extension, draft)
    read_closures(robot, draft)
    if extension:
        add_loops(extension, draft)
    note_open_closures(draft)
    hold_base(draft)
    coupled = couplings(mimics, draft)
    draft.defects += unread_defects(robot, URDF, "robot")
    name = str(robot.get("name") or Path(request.path).stem)
    draft.origin[("model", name, "")] = origin(robot)
    mech = Mechanism(name, tuple(draft.bodies), tuple(draft.pairs.values()), coupled)
    return Scene(
        mechanism=mech,
        state=state_at_home(mech),
        origin=draft.origin,
        files=(request.path, *((extension.file,) if extension else ())),
        defects=tuple(draft.defects),
        shapes=draft.shapes,
        request=request,
        actuated=tuple(dict.fromkeys((*driven_joints(robot, draft), *_motors(extension, draft)))),
        documents=(document_of(robot, "urdf"),),
    )


def _motors(extension: Extension | None, draft: Draft) -> tuple[str, ...]:
    """Return the joints that an extension calls driven."""
    return tuple(name for name in extension.driven if name in draft.pairs) if extension else ()
