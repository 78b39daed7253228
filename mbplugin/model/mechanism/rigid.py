"""Bodies that fixed pairs make one: what a massless link among them costs nothing."""

from __future__ import annotations

from mbplugin.model.mechanism import WORLD, Mechanism


def rigid_groups(mech: Mechanism) -> dict[str, frozenset[str]]:
    """Return the group of each body: itself and all that fixed pairs tie to it, the ground too."""
    group = {name: {name} for name in (WORLD, *(body.name for body in mech.bodies))}
    for pair in mech.pairs:
        if pair.type == "fixed" and group[pair.body_a] is not group[pair.body_b]:
            # the smaller into the larger, so that no name moves often
            few, many = sorted((group[pair.body_a], group[pair.body_b]), key=len)
            many |= few
            for name in few:
                group[name] = many
    distinct = {id(members): members for members in group.values()}
    frozen = {key: frozenset(members) for key, members in distinct.items()}
    return {name: frozen[id(members)] for name, members in group.items()}
