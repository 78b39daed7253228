"""The graph of a URDF: which joints close loops, which links are roots, what holds the base."""

from __future__ import annotations

from dataclasses import replace

from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import WORLD, Pair
from mbplugin.model.spatial import Pose
from mbplugin.readers.urdf.draft import Draft, carried


def mark_closures(draft: Draft) -> None:
    """Make closures of later joints to a link that has one, and of the last joint of a rootless ring.

    Such a joint says where it is on its parent. Its child's frame belongs to another joint, so its
    place there is where it lies with all joints at zero.
    """
    parent: dict[str, Pair] = {}
    closing: dict[str, str] = {}
    for pair in draft.pairs.values():
        if pair.body_b in parent:
            closing[pair.name] = f"joint {parent[pair.body_b].name!r} already has its child {pair.body_b!r}"
        else:
            parent[pair.body_b] = pair
    for name in _ring_joints(parent):
        closing[name] = "its links form a ring without a root"
    if not closing:
        return
    for name in closing:
        draft.pairs[name] = replace(draft.pairs[name], closure=True)
    X_WL = draft.zero_poses()
    for name, why in closing.items():
        pair = draft.pairs[name]
        X_BS = carried(pair.X_AP, pair.body_a, pair.body_b, X_WL)
        draft.pairs[name] = replace(pair, X_BS=X_BS)
        message = (
            f"joint {name!r} closes a loop: {why}; it is taken where it lies with all joints at zero, "
            "and PyBullet crashes on such a file"
        )
        draft.report("MB115", name, message, draft.origin[("constraint", name, "")])


def _ring_joints(parent: dict[str, Pair]) -> list[str]:
    """Return the last joint in file order of every ring of parents."""
    order = {pair.name: number for number, pair in enumerate(parent.values())}
    done: set[str] = set()
    closing = []
    for start in parent:
        path: dict[str, Pair] = {}
        link = start
        while link in parent and link not in done and link not in path:
            path[link] = parent[link]
            link = parent[link].body_a
        if link in path:
            members = list(path.values())[list(path).index(link) :]
            closing.append(max((pair.name for pair in members), key=lambda name: order[name]))
        done.update(path)
    return closing


def hold_base(draft: Draft) -> None:
    """Fix the root links to the ground if requested, and report several of them.

    Raises
    ------
    BadUsage
        A free base is requested although the root link is the ground.
    """
    successors = {pair.body_b for pair in draft.pairs.values() if not pair.closure}
    # a link inside <gazebo> is one of SDF, which needs no parent; PyBullet does not see it
    roots = [link for link in draft.links if link not in successors and link not in draft.stated_poses]
    if draft.request.base == "free" and WORLD in roots:
        raise BadUsage(
            f"the base cannot be free: the root link is {WORLD!r}, which is the ground",
            where=str(draft.origin[("body", WORLD, "")]),
            remedy="leave --base out, or rename that link",
        )
    if len(roots) > 1:
        names = ", ".join(repr(link) for link in roots)
        message = f"the model has {len(roots)} root links, {names}; PyBullet crashes on such a file"
        draft.report("MB110", roots[1], message, draft.origin[("body", roots[1], "")], roots=roots)
    if draft.request.base == "fixed":
        held = [link for link in roots if link != WORLD]
        identity = Pose.identity()
        bases = [Pair(f"{WORLD}→{link}", "fixed", WORLD, link, identity, identity) for link in held]
        draft.pairs = {**{pair.name: pair for pair in bases}, **draft.pairs}
        for pair in bases:
            draft.origin[("constraint", pair.name, "")] = draft.origin[("body", pair.body_b, "")]
