"""What lint says about PyBullet's own Minitaur, with its four foot closures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.linter.run import Report
from places import ASSETS

MINITAUR = ASSETS / "minitaur.scene.toml"


@pytest.fixture(scope="module")
def minitaur() -> Report:
    return mb.lint(MINITAUR)


@pytest.mark.bullet
def test_minitaur_s_rounded_angles_are_named(minitaur: Report) -> None:
    right_angle, half_turn = (f for f in minitaur.findings if f.code == "MB501")
    assert (right_angle.severity, half_turn.severity) == ("error", "warning")
    assert 'rpy="1.57075 0' in right_angle.message
    assert "π/2" in right_angle.message
    assert right_angle.evidence["error_rad"] == pytest.approx(1.57075 - np.pi / 2)
    assert half_turn.evidence["stands_for"] == "π"
    for finding in (right_angle, half_turn):
        for place in finding.evidence["places"]:
            line = Path(place["file"]).read_text().splitlines()[place["line"] - 1]
            assert f'rpy="{place["text"]}"' in line
            assert finding.evidence["literal"] in place["text"]
    # two hips and two motors in each of four legs
    assert len(right_angle.evidence["joints"]) == 16
    assert (
        right_angle.evidence["degree_of_redundancy_meant"],
        right_angle.evidence["degree_of_redundancy_written"],
    ) == (4, 0)


@pytest.mark.bullet
def test_minitaur_has_its_other_findings(minitaur: Report) -> None:
    codes = [finding.code for finding in minitaur.findings]
    assert {code: codes.count(code) for code in codes} == {
        "MB104": 1,
        # its knees have a <limit> without lower and upper
        "MB121": 1,
        "MB201": 4,
        "MB202": 4,
        "MB301": 4,
        "MB401": 1,
        "MB501": 2,
        "MB502": 1,
    }
    (near,) = (f for f in minitaur.findings if f.code == "MB502")
    assert (near.evidence["degree_of_redundancy_below"], near.evidence["degree_of_redundancy_above"]) == (
        0,
        4,
    )
    assert 2e-5 < near.evidence["relative_singular_values"][0] < 5e-5


@pytest.mark.bullet
def test_snapped_minitaur_depends_on_no_tolerance() -> None:
    codes = {finding.code for finding in mb.lint(MINITAUR, snap_angles=True).findings}
    assert not codes & {"MB501", "MB502"}
    assert "MB201" in codes


def test_linting_minitaur_reads_no_mesh_and_starts_no_engine() -> None:
    code = (
        "import sys, mbplugin\n"
        f"mbplugin.lint({str(MINITAUR)!r})\n"
        "print([m for m in ('trimesh', 'pybullet', 'numba', 'mujoco') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.bullet
def test_a_closure_weakened_as_told_leaves_no_redundancy(minitaur: Report) -> None:
    assert minitaur.analysis is not None
    lines = [f.evidence["toml"] for f in minitaur.findings if f.code == "MB202"]
    text = "\n\n".join([MINITAUR.read_text(), *lines])
    weaker = mb.analyze(mb.lint(str(MINITAUR), text=text).scene)  # type: ignore[arg-type]
    assert (weaker.degree_of_redundancy, weaker.dof) == (0, minitaur.analysis.dof)
