"""What a cut loses: nothing where another cut loses nothing, and what is lost is said."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from mbplugin import readers
from mbplugin.closing.choice import close
from mbplugin.errors import MbPluginError
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.scene import Scene, State
from mbplugin.writers.written import ENDINGS
from models import four_bar
from random_mechanisms import loop_mechanism
from solid_bodies import with_masses

#: What the closures of a format state: none of URDF and of scenes, axes of SDF.
FORMATS = ("urdf", "scene", "mjcf", "sdf")
#: A velocity limit has no place in MJCF, wherever loops are cut.
STATED = Freedom(lower=-2.5, upper=2.75, damping=0.375, friction=0.0625)


def loops(seed: int, count: int) -> tuple[Mechanism, np.ndarray, list[set[str]]]:
    """Hinged loops of which random pairs state limits, damping and friction, and the pairs of each loop."""
    rng = np.random.default_rng(seed)
    if count == 1:
        mech, q = four_bar()
        cycles = [{pair.name for pair in mech.pairs}]
    else:
        mech, q = loop_mechanism(seed, count, "planar")
        cycles = []
    mech = with_masses(mech, seed)
    stated = {pair.name for pair in mech.pairs if len(pair.kind.free) == 1 and rng.random() < 0.6}
    pairs = tuple(replace(p, freedoms=(STATED,)) if p.name in stated else p for p in mech.pairs)
    return replace(mech, pairs=pairs), q, cycles


def spanning_without_loss(mech: Mechanism) -> bool:
    """Whether some cut of every loop is at a pair that states nothing: those that state something close none."""
    root: dict[str, str] = {}

    def find(body: str) -> str:
        while root.get(body, body) != body:
            body = root[body]
        return body

    for pair in mech.pairs:
        if pair.freedoms and pair.freedoms[0] != Freedom():
            a, b = find(pair.body_a), find(pair.body_b)
            if a == b:
                return False
            root[a] = b
    return True


def numbers(mech: Mechanism) -> dict[str, int]:
    """How many freedoms have each number; a limit that stands in other axes is still one."""
    found = dict.fromkeys(("damping", "friction", "limits"), 0)
    for freedom in (f for pair in mech.pairs for f in pair.freedoms):
        found["damping"] += freedom.damping == STATED.damping
        found["friction"] += freedom.friction == STATED.friction
        found["limits"] += (freedom.lower > -inf) + (freedom.upper < inf)
    return found


@pytest.mark.long
@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("count", [1, 2])
def test_nothing_is_lost_where_some_cut_loses_nothing(to: str, count: int) -> None:
    lossless = 0
    for seed in range(3):
        mech, q, _ = loops(seed, count)
        scene = Scene(mech, State(q, np.zeros(len(mech.qd_names))))
        try:
            found = close(scene, to, measure_drift=False, samples=3)
        except MbPluginError as error:
            assert "has one root" in str(error) or "no joint such as" in str(error)
            continue
        back = readers.load(f"x{ENDINGS[to]}", text=found.text).mechanism
        kept = numbers(back) == numbers(mech)
        if spanning_without_loss(mech):
            lossless += 1
            assert kept, (seed, [c.name for c in found.closures], found.written.left_out)
        if not kept:
            lost = [c for c in found.written.left_out if "limits" in c or "damping" in c or "friction" in c]
            assert lost, (seed, found.written.left_out)
    assert lossless


def test_what_no_cut_keeps_is_said() -> None:
    """All four hinges have limits: the loop of a URDF has no place for those of one."""
    mech, q = four_bar()
    mech = replace(mech, pairs=tuple(replace(p, freedoms=(STATED,)) for p in mech.pairs))
    found = close(Scene(mech, State(q, np.zeros(len(mech.qd_names)))), "urdf", measure_drift=False)
    (closure,) = found.closures
    assert any(closure.name in clause and "limits" in clause for clause in found.written.left_out)


def test_a_velocity_limit_that_mjcf_cannot_state_is_said() -> None:
    mech, q = four_bar()
    fast = replace(mech.pairs[0], freedoms=(Freedom(velocity=2.5),))
    mech = replace(mech, pairs=(fast, *mech.pairs[1:]))
    found = close(Scene(mech, State(q, np.zeros(len(mech.qd_names)))), "mjcf", measure_drift=False)
    assert f"velocity limits of {fast.name}" in found.written.left_out


def test_a_hinge_is_cut_that_states_nothing() -> None:
    """The file closes its loop at a hinge with damping; a connect would lose it."""
    mech, q = four_bar(types=("revolute", "universal", "spherical", "revolute"))
    ball = tuple(Freedom(damping=0.5) for _ in range(3))
    mech = replace(mech, pairs=tuple(replace(p, freedoms=ball) if p.name == "j2" else p for p in mech.pairs))
    found = close(Scene(mech, State(q, np.zeros(len(mech.qd_names)))), "mjcf", measure_drift=False)
    assert found.proved and [one.name for one in found.closures] != ["j2"]
