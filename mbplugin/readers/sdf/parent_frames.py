"""Joints that are not where the frame is that their ``<parent>`` names."""

from __future__ import annotations

import numpy as np

from mbplugin.model.scene import Defect
from mbplugin.readers.common.xml import child, origin
from mbplugin.readers.sdf.document import Reading
from mbplugin.readers.sdf.frames import Frames, Node

#: A joint is where a frame is up to this distance, m.
_SAME_PLACE = 1e-6


def report_apart(node: Node, frames: Frames, reading: Reading) -> None:
    """Note a joint whose parent is a ``<frame>`` in another place.

    A format reads the pose of a joint in its child, and of the parent only the body. Whoever names a frame there
    has most often placed it where the joint is meant to be.
    """
    assert node.member is not None
    place = child(node.member.element, "parent")
    if place is None:
        return
    frame = frames.find(node.reference((place.text or "").strip(), node.member.pose.where))
    if frame.kind != "frame":
        return
    distance = float(np.linalg.norm(frames.pose(frame).p - frames.pose(node).p))
    if distance > _SAME_PLACE:
        message = (
            f"joint {node.name!r} is {distance:.3g} m away from the frame {frame.name!r} that its <parent> names; "
            "SDF places a joint in its child, so a mechanism other than the one meant is analyzed"
        )
        evidence = {"distance_m": distance, "frame": frame.name}
        reading.defects.append(Defect("MB119", frames.label(node), message, origin(place), evidence))
