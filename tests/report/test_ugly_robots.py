"""Pages of robots that nobody draws on a slide: names without end, and what their pages do with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browser_pages import quiet, violations
from html_pages import page_of, parsed

#: What sticks out of its drawing, or out of a cell or a button that hides the rest of it.
CLIPPED = """[...document.querySelectorAll('.chart svg text, .tiles *, .try *, figcaption *, td > *')]
  .filter((one) => one.checkVisibility() && one.textContent.trim()).filter((one) => {
    const box = one.getBoundingClientRect();
    const outer = (one.closest('svg, fieldset, .chart, td') || one.parentElement).getBoundingClientRect();
    return box.left < outer.left - 1 || box.right > outer.right + 1; })
  .map((one) => one.textContent.slice(0, 60))"""
LINK = """<link name="{}"><inertial><mass value="2"/><inertia ixx="0.02" iyy="0.02" izz="0.02"/></inertial>
<visual><origin xyz="0 0 0.15"/><geometry><box size="0.05 0.05 0.3"/></geometry></visual></link>"""
JOINT = """<joint name="{}" type="revolute"><parent link="{}"/><child link="{}"/><origin xyz="0 0 0.3"/>
<axis xyz="{}"/><limit lower="-2.5" upper="2.5" effort="100" velocity="3"/></joint>"""


def arm_of_long_names(folder: Path) -> str:
    links = [f"left_front_upper_leg_carrier_assembly_revision_{k}_welded" for k in range(4)]
    joints = [f"left_front_upper_leg_actuator_gearbox_output_joint_{k}_deg" for k in range(3)]
    axes = ("0 0 1", "0 1 0", "0 1 0")
    parts = [LINK.format(name) for name in links]
    parts += [JOINT.format(*one) for one in zip(joints, links, links[1:], axes, strict=False)]
    path = folder / "a_robot_with_a_very_long_name_exported_by_a_cad_system.urdf"
    path.write_text(f'<robot name="{path.stem}">{"".join(parts)}</robot>', encoding="utf-8")
    return str(path)


def commands(robot: str) -> dict[str, tuple[str, ...]]:
    fixed = (robot, "--base", "fixed")
    name = "left_front_upper_leg_actuator_gearbox_output_joint_{}_deg={}"
    rates = ("--qd", ",".join(name.format(k, rate) for k, rate in enumerate((0.5, 1.5, 1))))
    return {
        "lint": ("lint", *fixed),
        "reactions": ("reactions", *fixed),
        "simulate": ("simulate", *fixed, "--duration", "0.1"),
        "estop": ("estop", *fixed, *rates),
        "stop-table": ("stop-table", *fixed, "--payload", "2"),
        "worst-stop": ("worst-stop", *fixed, "--samples", "10", "--failure", "dead"),
    }


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.parametrize("name", list(commands("")))
def test_long_names_fit_every_page(visit: Any, tmp_path: Path, name: str) -> None:
    page = page_of(*commands(arm_of_long_names(tmp_path))[name])
    for width, scheme in ((400, "light"), (1400, "dark")):
        seen = visit(page, width=width, color_scheme=scheme, bypass_csp=True)
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        assert seen.page.evaluate(CLIPPED) == [], width
        assert violations(seen) == [], (width, scheme)
        quiet(seen)


@pytest.mark.slow
@pytest.mark.browser
def test_the_whole_robot_is_seen_with_its_base(visit: Any, tmp_path: Path) -> None:
    """The base is a third of the arm, stands still, and is grey."""
    seen = visit(page_of("stop-table", arm_of_long_names(tmp_path), "--base", "fixed"), color_scheme="light")
    shot = seen.pixels("canvas")
    dark = shot.max(axis=2) < 140
    assert dark.sum() > 300
    assert not dark[-3:].any() and not dark[:, :3].any() and not dark[:, -3:].any()


def test_bars_of_joints_are_told_apart_by_the_ends_of_their_names(tmp_path: Path) -> None:
    page = page_of(*commands(arm_of_long_names(tmp_path))["estop"])
    names = parsed(page).xpath("//figure[contains(@class,'phases')]//g/text/text()")
    assert len(names) == len(set(names)) > 1
    assert all(len(name) <= 14 and name.endswith("_deg") for name in names)
