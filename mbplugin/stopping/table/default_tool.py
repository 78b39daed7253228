"""The default tool of a robot: the end of its arm, in front of the fingers of a gripper, or the base on its wheels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mbplugin.errors import BadUsage
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.phrases import listed
from mbplugin.stopping.table.wheels import likely_wheels, stated_wheels

#: Moving joints of an arm, at least: a head or a gripper on a cart has fewer.
_ARM = 3


@dataclass(frozen=True)
class DefaultTool:
    """A body, and why it is the tool."""

    body: str
    reason: str


def default_tool(mech: Mechanism) -> DefaultTool:
    """Return the base of a robot on wheels without an arm, else the body farthest out in front of a gripper.

    The chain of joints to the body farthest out is followed from the ground. It ends where a gripper begins:
    at bodies fixed to each other that two or more branches of moving joints leave, each of fewer joints than
    lead there, and that no loop closes elsewhere. Of bodies fixed to each other the one farthest out is
    taken, the last of the file among equals.

    Raises
    ------
    BadUsage
        There is no body.
    """
    if not mech.bodies:
        raise BadUsage("the model has no body that could be a tool", expected="a model with a link")
    tree = _Tree(mech)
    rolling = _rolling_base(mech, tree)
    if rolling is not None:
        return rolling
    last = tree.farthest({body.name for body in mech.bodies})
    for hub in tree.hubs_to(last):
        fingers = tree.fingers(hub)
        if fingers:
            names = ", ".join(joint.pair.name for joint in fingers if joint.pair is not None)
            return DefaultTool(
                tree.farthest(tree.fixed_to(hub)),
                f"the arm ends there, in front of the joints of a gripper ({names})",
            )
    return DefaultTool(last, "the body farthest out")


def _rolling_base(mech: Mechanism, tree: _Tree) -> DefaultTool | None:
    """Return the body that all wheels carry; None where there are no wheels, or where it carries an arm."""
    stated = stated_wheels(mech)
    wheels = stated or likely_wheels(mech)
    base = tree.common_hub(wheels) if stated or len(wheels) > 1 else None
    # a body that rolls by itself has no other base
    others = [wheel for wheel in wheels if tree.hub(wheel) != base]
    if base is None or not others or tree.longest_branch(base, set(wheels)) >= _ARM:
        return None
    carry = "carry" if len(others) > 1 else "carries"
    seem = carry if stated else "seem to carry, as they turn without end"
    return DefaultTool(base, f"the base, which {listed(others, 4)} {seem}")


class _Tree:
    """The spanning tree, bodies that are fixed to each other taken as one: the hub is their innermost."""

    def __init__(self, mech: Mechanism) -> None:
        self._mech, self._joints = mech, mech.tree.joints
        self._hub, self._moving, self._depth = {WORLD: WORLD}, {WORLD: 0}, {WORLD: 0}
        for joint in self._joints:
            free = _moves(joint)
            self._hub[joint.outer] = joint.outer if free else self._hub.get(joint.inner, joint.inner)
            self._moving[joint.outer] = self._moving.get(joint.inner, 0) + free
            self._depth[joint.outer] = self._depth.get(joint.inner, 0) + (0 if free else 1)

    def farthest(self, bodies: set[str]) -> str:
        """Return the body with most moving, then most fixed joints in front of it."""
        index = self._mech.body_index
        return max(
            bodies, key=lambda name: (self._moving.get(name, 0), self._depth.get(name, 0), index[name])
        )

    def fixed_to(self, hub: str) -> set[str]:
        """Return the bodies of a hub."""
        return {name for name, own in self._hub.items() if own == hub and name != WORLD}

    def hubs_to(self, body: str) -> list[str]:
        """Return the hubs that joints move, from the ground to a body."""
        return [self._hub[j.outer] for j in self._mech.tree.way_in(body) if _moves(j)][::-1]

    def hub(self, body: str) -> str:
        """Return the innermost of the bodies that are fixed to a body."""
        return self._hub[body]

    def common_hub(self, bodies: Sequence[str]) -> str | None:
        """Return the outermost hub that carries all of some bodies, None where none does."""
        ways = [self.hubs_to(body) for body in bodies]
        common = [hubs[0] for hubs in zip(*ways, strict=False) if len(set(hubs)) == 1]
        return common[-1] if common else None

    def longest_branch(self, hub: str, without: set[str]) -> int:
        """Return how many moving joints the longest branch of a hub has that carries none of some bodies."""
        branches = (self._beyond(j.outer) for j in self._branches(hub))
        free = [bodies for bodies in branches if bodies.isdisjoint(without)]
        return max((self._moving[body] - self._moving[hub] for bodies in free for body in bodies), default=0)

    def _branches(self, hub: str) -> list[TreeJoint]:
        """Return the moving joints that leave a hub."""
        return [j for j in self._joints if _moves(j) and self._hub.get(j.inner) == hub]

    def fingers(self, hub: str) -> list[TreeJoint]:
        """Return the joints at which the fingers of a gripper leave a hub, none where it carries none."""
        branches = self._branches(hub)
        lengths = []
        for branch in branches:
            bodies = self._beyond(branch.outer)
            if self._closes_elsewhere(bodies, hub):
                return []
            lengths.append(max(self._moving[body] for body in bodies) - self._moving[hub])
        return branches if len(branches) > 1 and max(lengths) < self._moving[hub] else []

    def _beyond(self, body: str) -> set[str]:
        """Return a body and all that it carries."""
        found = {body}
        for joint in self._joints:
            if joint.inner in found:
                found.add(joint.outer)
        return found

    def _closes_elsewhere(self, bodies: set[str], hub: str) -> bool:
        """Whether a loop of these bodies goes through others than the hub."""
        near = bodies | self.fixed_to(hub)
        ends = (pair.bodies for pair in self._mech.tree.cut)
        return any((a in bodies or b in bodies) and not {a, b} <= near for a, b in ends)


def _moves(joint: TreeJoint) -> bool:
    return joint.pair is None or bool(joint.pair.kind.free)
