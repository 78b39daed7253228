"""Units, place, names, order, cut, mirror, a split link, a pendulum: none of it changes a verdict.

`make test` runs a part; the slow half runs every transformation of every robot, more than 2 000 each.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from invariance.cases import ON_URDF, TRANSFORMATIONS, cases
from invariance.mirror import S
from invariance.sources import Source, sources
from invariance.urdf_file import read
from mbplugin.model.mechanism.kinematics import forward
from places import ROOT, TESTS

#: Every so many cases in `make test`; prime to the number of transformations.
PART = 101
#: Of a thousand cases, those that rounded angles or a rank at the tolerance excuse.
EXCUSED = 5


def run(chosen: list) -> tuple[Counter, list[str]]:
    counts: Counter[str] = Counter()
    wrong = []
    for case in chosen:
        outcome, text = case.run()
        counts[outcome] += 1
        if outcome == "different":
            wrong.append(f"{case.name}: {text}")
    return counts, wrong


@pytest.mark.long
def test_some_verdicts_do_not_change(tmp_path: Path) -> None:
    chosen = cases(sources(tmp_path))[::PART]
    assert {case.transformation for case in chosen} == set(TRANSFORMATIONS)
    counts, wrong = run(chosen)
    assert not wrong, "\n".join(wrong)
    assert counts["same"] > 0.85 * len(chosen)


@pytest.mark.slow
@pytest.mark.parametrize("half", [0, 1])
def test_no_verdict_changes(tmp_path: Path, half: int) -> None:
    chosen = cases(sources(tmp_path))[half::2]
    # a fourth of them are of example-robot-data, an extra
    assert len(chosen) > 1500
    counts, wrong = run(chosen)
    print(counts)
    assert not wrong, "\n".join(wrong)
    assert 1000 * counts["weak"] <= EXCUSED * len(chosen)
    assert counts["same"] > 0.85 * len(chosen)


@pytest.mark.long
def test_the_sources_have_loops_and_redundancy(tmp_path: Path) -> None:
    some = [s for s in sources(tmp_path) if s.name.startswith(("assets/", "random"))][::5]
    p = [s.analysis.degree_of_redundancy for s in some]
    partly = [v for s in some for v in s.analysis.constraints if any(c.unique for c in v.components)]
    assert sum(x > 0 for x in p) > len(p) / 2
    assert any(not v.unique for v in partly)


@pytest.fixture
def arm(tmp_path: Path) -> Source:
    source = Source("assets/arm_6r.urdf", ROOT / "assets" / "arm_6r.urdf", tmp_path)
    assert source.urdf is not None and source.analysis.degree_of_redundancy > 0
    return source


@pytest.mark.parametrize("name", sorted(ON_URDF))
def test_a_file_is_transformed_as_its_mechanism_is(arm: Source, name: str) -> None:
    """Where the bodies stand tells whether the rewritten text is what it says."""
    case = next(c for c in cases([arm]) if c.transformation == name)
    change = case.changed()
    after = change.analysis()
    before = forward(arm.analysis.mechanism, arm.analysis.q).p_WL
    there = forward(after.mechanism, after.q).p_WL
    order = [b.name for b in after.mechanism.bodies]
    if name == "in another order":
        there = there[[order.index(b.name) for b in arm.analysis.mechanism.bodies]]
    scale = {"in millimetres": 1e3, "in kilometres": 1e-3}.get(name, 1.0)
    expected = scale * before @ change.turn.T
    assert after.assembly.worst_file < 1e-9 * after.assembly.length
    got = there[: len(before)]
    # moved: up to the place of the origin
    shift = got[0] - expected[0] if name == "moved" else np.zeros(3)
    np.testing.assert_allclose(got, expected + shift, atol=1e-9 * scale)


def test_a_mirror_shows_pseudo_vectors_the_other_way(arm: Source) -> None:
    """Twice in the mirror is the model itself, and the reflected axes turn by the same angles."""
    case = next(c for c in cases([arm]) if c.transformation == "mirrored")
    mech = mb.analyze(case.changed().model, samples=0).mechanism
    for pair in arm.analysis.mechanism.pairs:
        if pair.kind.free == ("rz",):
            own, shown = pair.X_AP.R[:, 2], mech.pair_by_name[pair.name].X_AP.R[:, 2]
            np.testing.assert_allclose(shown, -S @ own, atol=1e-9)


@pytest.mark.parametrize("axis", ["", "<axis/>", '<axis xyz="0 0 0"/>', '<axis xyz="0 1e-13 0"/>'])
def test_an_axis_that_the_reader_completes_is_transformed_as_it_is_read(axis: str, tmp_path: Path) -> None:
    text = (TESTS / "cases" / "err" / "mb106.urdf").read_text()
    assert text.count('<axis xyz="0 0 0"/>') == 1
    file = tmp_path / "hinge.urdf"
    file.write_text(text.replace('<axis xyz="0 0 0"/>', axis))
    # the name gives the seed
    source = Source("tests/cases/err/mb106.urdf", file, tmp_path)
    assert source.urdf is not None and source.urdf.q["hinge"] != 0.0
    assert source.urdf.robot.findall("loop_joint")
    outcomes = {case.transformation: case.run() for case in cases([source])}
    assert outcomes == dict.fromkeys(TRANSFORMATIONS, ("same", ""))


def test_what_is_no_plain_urdf_is_left_to_the_mechanism() -> None:
    assert read(ROOT / "tests" / "fuzz" / "seeds" / "closures.urdf") is None
    assert read(ROOT / "assets" / "four_bar.urdf") is not None
