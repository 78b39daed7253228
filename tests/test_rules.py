"""Every rule against its fixture pair, and the rules that have an oracle against that.

``tests/cases/err/mbNNN.*`` triggers rule MBNNN and no other, at the line that says HERE;
``tests/cases/ok/mbNNN.*`` is the same model mended. Scenes ignore the rules that cannot but follow
from the same cause. Run as a program, this file prints ``docs/rules.md``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin import errors
from mbplugin.lint.registry import Rule, find_rule, rules
from mbplugin.lint.rigid import borne_bodies, grounded_bodies, rigid_groups
from mbplugin.lint.run import Report
from mbplugin.lint.solids import Solid, solid_of
from mbplugin.mechanism import Body, Mechanism, Pair
from mbplugin.sources.scene import Origin, Request, Shape
from mbplugin.spatial import Pose, rotation_from_rpy

ROOT = Path(__file__).parent.parent
CASES = ROOT / "tests" / "cases"
MINITAUR = ROOT / "assets" / "minitaur.scene.toml"
SECTIONS = ("What it does", "Why it matters", "Example", "Remedy", "References")
#: Rules without fixtures, and why.
WITHOUT_CASE = {
    "MB900": "for errors that are none of the others; no reader raises it",
    "MB909": "needs an environment in which an optional package is missing",
}
#: Where the file that offends says nothing about the line.
WITHOUT_LINE = {"MB901": "the file is empty", "MB503": "the pose is nobody's line", "MB204": "an option"}

all_rules = pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
with_case = pytest.mark.parametrize(
    "rule", [rule for rule in rules() if rule.code not in WITHOUT_CASE], ids=lambda rule: rule.code
)


def case(folder: str, rule: Rule) -> Path:
    found = sorted((CASES / folder).glob(f"{rule.code.lower()}.*"))
    assert found, f"{rule.code} has no fixture in {folder}"
    return next((path for path in found if path.name.endswith(".scene.toml")), found[0])


def run(folder: str, rule: Rule) -> Report:
    return mb.lint(case(folder, rule), package_dirs=[str(CASES / folder)], fail_on="note")


# Fixtures


@with_case
def test_an_err_case_triggers_its_rule_once_and_no_other(rule: Rule) -> None:
    report = run("err", rule)
    assert [(f.code, f.name) for f in report.findings] == [(rule.code, rule.name)]
    (finding,) = report.findings
    assert finding.severity == rule.severity
    assert finding.message and "\n" not in finding.message
    assert finding.help
    assert report.exit_code == (2 if rule.code.startswith("MB9") else 1)
    assert Path(finding.file).parent == CASES / "err"


@with_case
def test_an_err_case_is_found_at_its_line(rule: Rule) -> None:
    (finding,) = run("err", rule).findings
    lines = Path(finding.file).read_text().splitlines()
    here = [number for number, line in enumerate(lines, start=1) if "HERE" in line]
    assert here == ([] if rule.code in WITHOUT_LINE else [finding.line])


@with_case
def test_an_ok_case_is_clean(rule: Rule) -> None:
    report = run("ok", rule)
    assert not report.findings
    assert report.exit_code == 0


def test_every_case_belongs_to_a_rule() -> None:
    known = {rule.code.lower() for rule in rules()}
    for folder in ("ok", "err"):
        assert {path.name.partition(".")[0] for path in (CASES / folder).iterdir()} <= known
        assert not set(WITHOUT_CASE) & known


# Documentation


@all_rules
def test_the_docstring_is_the_documentation(rule: Rule) -> None:
    headings = re.findall(r"^(\w[\w ]*)\n-+$", rule.documentation, re.MULTILINE)
    assert tuple(headings) == SECTIONS
    assert re.match(r"[A-Z`].*\.$", rule.summary)
    assert all(len(section.strip()) > 20 for section in re.split(r"\n-+\n", rule.documentation)[1:])


def documentation_page() -> str:
    rows = [f"| {r.code} | {r.name} | {r.severity} | {r.summary} |" for r in rules()]
    return "\n".join(
        [
            "# Rules",
            "",
            "`mbplugin rule CODE` prints what a rule does, why it matters, an example and the remedy.",
            "Severity is the usual one of its findings; the exit code is 1 from `--fail-on` (default error)",
            "on, and 2 for MB9xx. `--select`, `--ignore` and `[lint] ignore` of a scene take codes or their",
            "beginnings. A code is never reused.",
            "",
            "| Code | Name | Severity | What it reports |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def test_the_page_lists_the_rules_as_the_registry_knows_them() -> None:
    assert (ROOT / "docs" / "rules.md").read_text() == documentation_page()


def test_every_error_that_lint_reports_has_a_rule() -> None:
    kinds = [errors.MbPluginError, *errors.MbPluginError.__subclasses__()]
    # a request that cannot be meant is raised, not reported
    for kind in (k for k in kinds if k is not errors.BadUsage):
        words = re.findall(r"[A-Z][a-z]+", kind.__name__)
        name = "unusable-input" if kind is errors.MbPluginError else "-".join(words).lower()
        assert find_rule(kind.code).name == name


# Inertia, with Bullet as the oracle


def bullet_zeroes(files: list[str]) -> dict[str, set[str]]:
    """What PyBullet says in a process of its own about each file."""
    code = (
        "import pybullet as p, sys\np.connect(p.DIRECT)\n"
        "for f in sys.argv[1:]:\n"
        "    print('FILE', f, flush=True)\n"
        "    p.loadURDF(f, flags=p.URDF_USE_INERTIA_FROM_FILE); p.resetSimulation()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, check=True)
    zeroed: dict[str, set[str]] = {}
    for line in (done.stdout + done.stderr).splitlines():
        if line.startswith("FILE "):
            current = zeroed.setdefault(line[5:], set())
        elif match := re.search(r"setting inertia to zero for link: (.*)", line):
            current.add(match.group(1))
    return zeroed


def test_the_links_that_bullet_zeroes_are_the_ones_reported() -> None:
    pybullet_data = pytest.importorskip("pybullet_data")
    names = (
        "TwoJointRobot_w_fixedJoints",
        "TwoJointRobot_wo_fixedJoints",
        "xarm/xarm6_robot",
        "xarm/xarm6_with_gripper",
        "xarm/link2",
        "xarm/link4",
        "mini_cheetah/mini_cheetah",
        "spherical_joint_limit",
        "laikago/laikago",
        "a1/a1",
        "franka_panda/panda",
    )
    files = [os.path.join(pybullet_data.getDataPath(), f"{name}.urdf") for name in names]  # noqa: PTH118
    expected = bullet_zeroes(files)
    assert sum(bool(links) for links in expected.values()) == 7
    for file in files:
        findings = mb.lint(file, select=["MB102", "MB103"], samples=0).findings
        impossible = {
            f.element for f in findings if f.code == "MB103" or min(f.evidence["principal_moments_kg_m2"]) < 0
        }
        assert impossible == expected[file]


@pytest.mark.parametrize(
    ("moments", "bad"),
    [
        ((0.1, 0.2, 0.3), False),
        # 0.7 + 0.1 is below 0.8 in binary, and Bullet compares just so
        ((0.7, 0.1, 0.8), True),
        ((1.0, 1.0, 2.0), False),
        ((1.0, 1.0, 2.000001), True),
    ],
)
def test_the_triangle_inequality_is_strict_to_the_last_bit(
    moments: tuple[float, float, float], bad: bool, tmp_path: Path
) -> None:
    text = (CASES / "ok" / "mb103.urdf").read_text()
    x, y, z = moments
    inertia = f'<inertia ixx="{x}" ixy="0" ixz="0" iyy="{y}" iyz="0" izz="{z}"/>'
    file = tmp_path / "robot.urdf"
    file.write_text(re.sub(r"<inertia ixx.*?/>", inertia, text))
    reported = {f.element for f in mb.lint(file, select=["MB103"]).findings}
    assert reported == bullet_zeroes([str(file)])[str(file)] == ({"base", "arm"} if bad else set())


def rigid_chain(*masses: float) -> Mechanism:
    bodies = tuple(Body(f"b{k}", mass) for k, mass in enumerate(masses))
    still = Pose.identity()
    pairs = (
        Pair("glue", "fixed", "b0", "b1", still, still),
        Pair("hinge", "revolute", "b1", "b2", still, still),
        Pair("base", "fixed", "world", "b3", still, still),
    )
    return Mechanism("chain", bodies, pairs)


def test_fixed_pairs_make_bodies_one() -> None:
    mech = rigid_chain(1.0, 0.0, 0.0, 0.0)
    assert rigid_groups(mech)["b0"] == {"b0", "b1"}
    assert grounded_bodies(mech) == {"b3"}
    assert borne_bodies(mech) == {"b1", "b3"}


# Shapes, with trimesh as the oracle


def shape(
    kind: str, *size: float, X_LS: Pose | None = None, mesh: str = "", role: str = "collision"
) -> Shape:
    return Shape(role, kind, size, X_LS or Pose.identity(), mesh)


def test_closed_forms_agree_with_fine_meshes() -> None:
    creation = pytest.importorskip("trimesh").creation
    meshes = {
        shape("box", 0.3, 0.5, 0.7): creation.box((0.3, 0.5, 0.7)),
        shape("sphere", 0.4): creation.icosphere(5, 0.4),
        shape("cylinder", 0.3, 1.1): creation.cylinder(0.3, 1.1, sections=300),
        shape("capsule", 0.3, 1.1): creation.capsule(1.1, 0.3, (200, 200)),
    }
    for own, mesh in meshes.items():
        solid = solid_of([own], None)
        assert solid is not None
        assert solid.volume == pytest.approx(mesh.volume, rel=2e-3)
        assert solid.inertia == pytest.approx(mesh.moment_inertia, rel=3e-3, abs=1e-9)
        assert np.array([solid.lower, solid.upper]) == pytest.approx(mesh.bounds, rel=1e-3)


def test_shapes_add_up_and_turn() -> None:
    whole = solid_of([shape("box", 2, 1, 1)], None)
    halves = solid_of(
        [shape("box", 1, 1, 1, X_LS=Pose(np.eye(3), np.array([x, 0, 0]))) for x in (-0.5, 0.5)],
        None,
    )
    assert whole is not None and halves is not None
    assert halves.inertia == pytest.approx(whole.inertia)
    turned = solid_of(
        [shape("box", 2, 1, 1, X_LS=Pose(rotation_from_rpy([0, 0, np.pi / 2]), np.ones(3)))], None
    )
    assert turned is not None
    assert np.diag(turned.inertia) == pytest.approx(np.diag(whole.inertia)[[1, 0, 2]])
    assert turned.lower == pytest.approx([0.5, 0, 0.5])


def test_collision_shapes_go_before_visual_ones_and_none_is_guessed(tmp_path: Path) -> None:
    box = solid_of([shape("sphere", 9.0, role="visual"), shape("box", 1, 1, 1)], None)
    assert box is not None and box.volume == 1
    assert solid_of([], None) is None
    assert solid_of([shape("plane")], None) is None
    (tmp_path / "broken.stl").write_text("solid nothing")
    broken = shape("mesh", 1, 1, 1, mesh="broken.stl")
    assert solid_of([broken], Request(str(tmp_path / "robot.urdf"))) is None


def test_a_mesh_is_read_with_its_scale(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((100, 200, 300)).export(tmp_path / "box.stl")
    mesh = shape("mesh", 1e-3, 1e-3, 1e-3, mesh="box.stl")
    solid = solid_of([mesh], Request(str(tmp_path / "robot.urdf")))
    expected = solid_of([shape("box", 0.1, 0.2, 0.3)], None)
    assert isinstance(solid, Solid) and expected is not None
    assert solid.inertia == pytest.approx(expected.inertia, rel=1e-6, abs=1e-12)


def test_a_center_of_mass_far_outside_is_reported() -> None:
    text = (CASES / "ok" / "mb105.urdf").read_text()
    far = text.replace("<collision>", '<collision>\n      <origin xyz="0.9 0 0"/>')
    (finding,) = mb.lint("far.urdf", text=far, select=["MB105"]).findings
    # from the centre of the box, 0.9 m, less half its edge
    assert finding.evidence["center_outside_m"] == pytest.approx(0.85)


# Minitaur


@pytest.fixture(scope="module")
def minitaur() -> Report:
    return mb.lint(MINITAUR)


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


def test_minitaur_has_its_other_findings(minitaur: Report) -> None:
    codes = [finding.code for finding in minitaur.findings]
    assert {code: codes.count(code) for code in codes} == {
        "MB104": 1,
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


def test_a_closure_weakened_as_told_leaves_no_redundancy(minitaur: Report) -> None:
    assert minitaur.analysis is not None
    lines = [f.evidence["toml"] for f in minitaur.findings if f.code == "MB202"]
    text = "\n\n".join([MINITAUR.read_text(), *lines])
    weaker = mb.analyze(mb.lint(str(MINITAUR), text=text).scene)  # type: ignore[arg-type]
    assert (weaker.degree_of_redundancy, weaker.dof) == (0, minitaur.analysis.dof)


# Severities that depend


def test_a_rounded_angle_that_moves_nothing_is_not_reported(tmp_path: Path) -> None:
    text = (CASES / "err" / "mb501.urdf").read_text()
    # both sides of the loop rounded alike: the axes stay parallel
    alike = text.replace("1.5707963267948966", "1.5708")
    file = tmp_path / "alike.urdf"
    file.write_text(alike)
    assert not mb.lint(file, select=["MB5"]).findings


def test_a_pose_asked_for_is_a_note() -> None:
    scene = CASES / "ok" / "mb504.scene.toml"
    (finding,) = mb.lint(scene, q={"j0": 0.1}, select=["MB504"]).findings
    assert finding.severity == "note"
    assert finding.evidence["q"]["j0"] == pytest.approx(0.1)


def test_a_small_gap_is_a_warning() -> None:
    text = (CASES / "err" / "mb504.scene.toml").read_text().replace("1.05", "1.0001")
    (finding,) = mb.lint("gap.scene.toml", text=text, select=["MB504"]).findings
    assert finding.severity == "warning"
    assert finding.evidence["gap_file_m"] == pytest.approx(1e-4, rel=1e-3)


@pytest.mark.parametrize(("type_", "severity"), [("fixed", "note"), ("continuous", "error")])
def test_zero_mass_matters_where_it_moves(type_: str, severity: str) -> None:
    text = (CASES / "err" / "mb101.urdf").read_text()
    text = text.replace('"revolute"', f'"{type_}"')
    arm = text.index('name="arm"')
    text = text[:arm] + text[arm:].replace('"0.01"', '"0"', 3)
    findings = mb.lint("case.urdf", text=text, select=["MB101"]).findings
    assert [f.severity for f in findings] == [severity]


# Scenes that came from no file


@pytest.mark.parametrize("path", sorted(CASES.glob("err/*.*")), ids=lambda path: path.name)
def test_no_rule_needs_to_know_where_things_were_written(path: Path) -> None:
    report = mb.lint(path)
    if report.scene is None:
        return
    live = replace(
        report.scene,
        origin={},
        files=(),
        request=None,
        defects=tuple(replace(defect, origin=None) for defect in report.scene.defects),
    )
    for rule in rules():
        for finding in rule.check(live, report.analysis):
            assert finding.line == 0


def test_an_origin_without_a_line_names_the_file() -> None:
    assert str(Origin("robot.xml", 0)) == "robot.xml"


if __name__ == "__main__":
    sys.stdout.write(documentation_page())
