"""Docking and hand-over from scene and command line, against momentum and energy by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import call

TRACK = 'type = "prismatic", body_a = "world", xyz_a = [0, 0, 0], axis = [1, 0, 0]'


def scene_of(masses: dict[str, float], grips: dict[str, tuple[str, str]], holds: str = "") -> str:
    """Return a scene of bodies on one track, with closures among them and ``[[hold]]`` tables."""
    bodies = [f'{{ name = "{name}", mass = {m}, inertia = [1, 1, 1] }}' for name, m in masses.items()]
    pairs = [f'{{ name = "x_{name}", body_b = "{name}", {TRACK} }}' for name in masses]
    closures = [
        f'{{ name = "{name}", type = "fixed", body_a = "{a}", body_b = "{b}", xyz_a = [0, 0, 0], xyz_b = [0, 0, 0] }}'
        for name, (a, b) in grips.items()
    ]
    listed = (("body", bodies), ("pair", pairs), ("closure", closures))
    tables = "\n".join(f"{key} = [{', '.join(values)}]" for key, values in listed)
    return f"gravity = [0, 0, 0]\n{tables}\n{holds}"


def moved(folder: Path, text: str, *options: str) -> dict[str, object]:
    file = folder / "docking.scene.toml"
    file.write_text(text, encoding="utf-8")
    done = call("simulate", str(file), "--duration", "1", *options, "--output-format", "json")
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.mark.parametrize("stated", ["table", "option"])
@pytest.mark.parametrize(("m1", "m2", "v1", "v2"), [(2.0, 3.0, 1.5, -0.5), (0.1, 7.0, 4.0, 1.0)])
def test_two_bodies_that_dock(
    tmp_path: Path, stated: str, m1: float, m2: float, v1: float, v2: float
) -> None:
    """Both go on at (m₁v₁ + m₂v₂)/(m₁ + m₂); m₁m₂/(m₁ + m₂) Δv²/2 is lost, once, and the gap of 0.4 s stays."""
    hold = '[[hold]]\nconstraint = "coupler"\nat = 0.4\nuntil = 0.8\n'
    text = scene_of(
        {"left": m1, "right": m2}, {"coupler": ("left", "right")}, hold if stated == "table" else ""
    )
    options = ("--hold", "coupler@0.4:0.8") if stated == "option" else ()
    document = moved(tmp_path, text, "--q", "x_left=-0.5", "--qd", f"x_left={v1},x_right={v2}", *options)
    v = (m1 * v1 + m2 * v2) / (m1 + m2)
    events = document["events"]
    assert [(event["kind"], event["time"]) for event in events] == [("lock", 0.4), ("release", 0.8)]
    for name, start, before in (("x_left", -0.5, v1), ("x_right", 0.0, v2)):
        assert document["qd"][name][-1] == pytest.approx(v, rel=1e-10)
        assert document["q"][name][-1] == pytest.approx(start + 0.4 * before + 0.6 * v, abs=1e-9)
    lost = document["energy"]["kinetic"][0] - document["energy"]["kinetic"][-1]
    assert lost == pytest.approx(m1 * m2 / (m1 + m2) * (v1 - v2) ** 2 / 2, rel=1e-10)


def test_a_part_changes_hands(tmp_path: Path) -> None:
    """The giver keeps its velocity; part and taker share theirs, although both grippers switch at one instant."""
    masses = {"giver": 2.0, "part": 1.0, "taker": 3.0}
    grips = {"grip_1": ("giver", "part"), "grip_2": ("taker", "part")}
    holds = '[[hold]]\nconstraint = "grip_2"\nat = 0.5\n[[hold]]\nconstraint = "grip_1"\nuntil = 0.5\n'
    document = moved(tmp_path, scene_of(masses, grips, holds), "--qd", "x_giver=1,x_part=1,x_taker=-1")
    ends = {name: values[-1] for name, values in document["qd"].items()}
    assert ends == pytest.approx({"x_giver": 1.0, "x_part": -0.5, "x_taker": -0.5}, rel=1e-10)
    assert document["energy"]["kinetic"][0] - document["energy"]["kinetic"][-1] == pytest.approx(
        1.5, rel=1e-10
    )
