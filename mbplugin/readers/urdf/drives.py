"""Which joints of a URDF have a drive: its ``<transmission>`` and ``<ros2_control>`` elements, names only."""

from __future__ import annotations

from collections.abc import Iterator

from mbplugin.readers.common.xml import Element, children
from mbplugin.readers.urdf.draft import Draft


def driven_joints(robot: Element, draft: Draft) -> tuple[str, ...]:
    """Return the joints that have a drive, each once, in file order of the elements.

    A joint of ``<ros2_control>`` has one where it takes commands; with states only it is a sensor.
    """
    named = [*_of_transmissions(robot), *_of_ros2_control(robot)]
    return tuple(dict.fromkeys(name for name in named if name in draft.pairs))


def _of_transmissions(robot: Element) -> Iterator[str]:
    for transmission in children(robot, "transmission"):
        for joint in children(transmission, "joint"):
            yield (joint.get("name") or joint.text or "").strip()


def _of_ros2_control(robot: Element) -> Iterator[str]:
    for control in children(robot, "ros2_control"):
        for joint in children(control, "joint"):
            if children(joint, "command_interface"):
                yield (joint.get("name") or "").strip()
        yield from _of_transmissions(control)
