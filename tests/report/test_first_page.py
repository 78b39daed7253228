"""The page of a stopping table begins with its result, and its figures show what they say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import ROOT, call
from html_pages import page_of, parsed
from mbplugin.model.brake_law import Said, Units, said_in
from mbplugin.phrases import at_most_shown, rounded_up
from mbplugin.report.html.chart import Curve
from mbplugin.report.html.stopping_table import merged
from measured_stops import boom, friction, ramp, table, written

ARM = str(ROOT / "assets" / "arm_6r.scene.toml")
SPEEDS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
SCENE = """
gravity = [0.0, 0.0, -9.81]
body = [{ name = "boom", mass = 3.0, com = [0.6, 0, 0], inertia = [0.001, 0.36, 0.36] }]
pair = [{ name = "j0", type = "revolute", body_a = "world", body_b = "boom", xyz_a = [0, 0, 0], axis = [0, 0, 1] }]
"""


def text_of(element) -> str:
    return " ".join(element.text_content().split())


@pytest.fixture
def calibrated(tmp_path: Path) -> tuple[str, str]:
    """A scene with a fitted ramp and brake, and the measured stops."""
    lines = []
    for category, law in ((0, friction(0.03, 20.0, 1.0)), (1, ramp(0.05, 0.3))):
        made = table(law, SPEEDS, repeats=2, noise=(0.004, 0.004), seed=3, category=category)
        lines += made.splitlines()[bool(category) :]
    file = written(tmp_path, "\n".join(lines) + "\n")
    scene = tmp_path / "boom.scene.toml"
    scene.write_text(SCENE + mb.calibrate(boom(), file).toml, encoding="utf-8")
    return str(scene), str(file)


@pytest.mark.long
def test_the_first_section_has_the_longest_stops_their_bounds_and_their_evidence(
    calibrated: tuple[str, str],
) -> None:
    scene, measured = calibrated
    options = ("stop-table", scene, "--speed", "j0=3", "--measured", measured)
    page = parsed(page_of(*options))
    found = json.loads(call(*options, "--output-format", "json").out)
    first = page.xpath("//main//section")[0]
    rows = first.xpath(".//table//tbody/tr")
    assert len(rows) == 2 and first.get("class") == "first"
    for row, category in zip(rows, (0, 1), strict=True):
        own = [r for r in found["rows"] if r["category"] == category]
        slow = max(own, key=lambda r: r["time_bound"])
        far = max(own, key=lambda r: r["distance_bound"])
        cells = [text_of(cell) for cell in row.xpath("td")]
        assert cells[0] == f"j0, category {category}" and cells[-1] == "calibrated"
        assert cells[1:4] == [
            at_most_shown(1e3 * slow[key]) for key in ("time", "time_interval", "time_bound")
        ]
        assert cells[4] == f"{at_most_shown(far['distance'])} rad"
        assert cells[5:7] == [at_most_shown(far[key]) for key in ("distance_interval", "distance_bound")]
    said = text_of(first)
    assert "fitted to measured stops: j0 (category 0 and 1)" in said and "ISO 10218-1:2025" in said
    assert found["record"]["files"][0]["sha256"][:16] in said
    assert "checked and released by" in said
    # what a signature is below is on this page alone
    assert len(page.xpath("//div[@class='sign']")) == 1


@pytest.mark.long
def test_measured_stops_within_their_bounds_are_not_too_short(calibrated: tuple[str, str]) -> None:
    scene, measured = calibrated
    made = mb.stopping_table(scene, speeds={"j0": 3.0}, measured=measured, share=0.999, confidence=0.99)
    assert made.measured is not None and all(row.covered for row in made.measured.rows)
    beyond = sum(row.exceeds_fit for row in made.measured.rows)
    assert beyond > 3 and f"({beyond} than the best fit" in made.measured.sentence
    assert "TOO SHORT" not in str(made)
    for row in made.measured.rows:
        assert row.time_bound is not None and row.time_bound > row.time_computed
    tight = mb.stopping_table(scene, speeds={"j0": 3.0}, measured=measured, share=0.02, confidence=0.02)
    assert "TOO SHORT" in str(tight)


@pytest.mark.long
def test_the_curves_begin_at_zero_and_show_measured_points(calibrated: tuple[str, str]) -> None:
    scene, measured = calibrated
    page = parsed(page_of("stop-table", scene, "--speed", "j0=3", "--measured", measured))
    (chart,) = page.xpath("//figure[figcaption/strong[starts-with(., 'Axis 1, j0: distance')]]")
    assert "0" in chart.xpath("./svg/text[contains(@class, 'tick end')]/text()")
    assert "0" in chart.xpath("./svg/text[contains(@class, 'tick middle')]/text()")
    names = chart.xpath(".//span[@class='key']/text()")
    assert {"measured, category 0", "measured, category 1"} <= set(names)
    assert len(chart.xpath("./svg//circle[contains(title, 'measured, category 1')]")) == 2 * len(SPEEDS)
    titles = [text_of(one) for one in page.xpath("//figure/figcaption/strong")]
    assert "Time: computed over measured" in titles
    assert "Distance: deviation of computed from measured" in titles


def test_curves_that_coincide_are_one_with_all_their_names() -> None:
    x = np.array([1.0, 2.0, 3.0])
    curves = [Curve("33", x, 2 * x), Curve("66", x, 2 * x * (1 + 1e-4)), Curve("100", x, 3 * x)]
    assert [curve.name for curve in merged(curves)] == ["33, 66 % extension", "100 % extension"]


@pytest.mark.long
def test_rows_of_each_axis_stand_below_its_name_and_what_slips_has_its_own_line() -> None:
    page = parsed(page_of("stop-table", ARM))
    found = json.loads(call("stop-table", ARM, "--output-format", "json").out)
    (rows,) = page.xpath("//table[@class='stops']/tbody")
    groups = [text_of(one) for one in rows.xpath("tr[@class='group']")]
    expected = dict.fromkeys((row["category"], row["axis"], row["joint"]) for row in found["rows"])
    assert [group.partition(",")[0] for group in groups] == [f"Category {c}" for c, _, _ in expected]
    plain = rows.xpath("tr[not(@class='group')][not(td[@class='below'])]")
    assert len(plain) == len(found["rows"])
    below = rows.xpath("tr/td[@class='below']")
    assert len(below) == sum(bool(row["slips"]) or row["outcome"] != "stopped" for row in found["rows"])
    for row, cells in zip(found["rows"], plain, strict=True):
        assert at_most_shown(1e3 * row["time"]) == text_of(cells.xpath("td")[3])


@pytest.mark.long
def test_rows_that_no_payload_changes_are_named_once(calibrated: tuple[str, str]) -> None:
    scene, _ = calibrated
    made = mb.stopping_table(scene, speeds={"j0": 3.0}, payload=2.0)
    assert "a ramp does not depend on the payload" in made.equal_loads
    assert " ".join(str(made).split()).count("does not depend on the payload") == 1
    # without a payload all rows are equal, and an assumption says so
    assert not mb.stopping_table(scene, speeds={"j0": 3.0}).equal_loads
    assert not mb.stopping_table(scene, speeds={"j0": 3.0}, payload=2.0, categories=[0]).equal_loads


def test_the_zone_is_drawn_with_its_area(tmp_path: Path) -> None:
    file = tmp_path / "zone.csv"
    options = (
        "stop-table",
        ARM,
        "--axes",
        "j1",
        "--category",
        "0",
        "--zone",
        str(file),
        "--payload-radius",
        "0",
    )
    page = parsed(page_of(*options))
    (plan,) = page.xpath("//figure[contains(@class, 'plan')]/svg")
    corners = np.array(
        [[float(x) for x in pair.split(",")] for pair in plan.xpath(".//polygon/@points")[0].split()]
    )
    area = 0.5 * abs(
        float(corners[:, 0] @ np.roll(corners[:, 1], -1) - corners[:, 1] @ np.roll(corners[:, 0], -1))
    )
    lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    x, y = np.array([[float(v) for v in line.split(",")[-2:]] for line in lines[1:]]).T
    scale = np.ptp(corners[:, 0]) / np.ptp(x)
    true = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
    assert area / scale**2 == pytest.approx(true, rel=1e-2)
    assert np.ptp(corners[:, 1]) / scale == pytest.approx(np.ptp(y), rel=1e-2)


def test_quantities_in_sentences_are_in_the_units_of_the_caller() -> None:
    one = Said("{{j}}: a ramp of {}, {} long", (np.pi, "rad/s²"), (0.25, "m"))
    assert one == "{j}: a ramp of 3.142 rad/s², 0.25 m long"
    assert said_in([one, "no quantity"], Units("deg", "mm")) == (
        "{j}: a ramp of 180 deg/s², 250 mm long",
        "no quantity",
    )
    import pickle

    again = pickle.loads(pickle.dumps(one))
    assert again == one and again.in_units(Units("deg", "mm")) == one.in_units(Units("deg", "mm"))


def test_a_table_says_its_speeds_and_ramps_in_the_units_of_the_caller(tmp_path: Path) -> None:
    scene = tmp_path / "boom.scene.toml"
    scene.write_text(
        SCENE + '[[ramp]]\njoint = "j0"\ndeceleration = 3.0\n[[brake]]\njoint = "j0"\ntorque = 20.0\n'
    )
    options = ("stop-table", str(scene), "--speed", "j0=3rad/s")
    own = " ".join(call(*options, "--units", "deg,mm").out.split())
    assert "100 % speed: j0 171.9 deg/s" in own and "a ramp of 171.9 deg/s²" in own and "per s²" not in own
    page = text_of(parsed(page_of(*options, "--units", "deg,mm")).xpath("//main")[0])
    assert "100 % speed: j0 171.9 deg/s" in page and "a ramp of 171.9 deg/s²" in page
    document = json.loads(call(*options, "--units", "deg,mm", "--output-format", "json").out)
    assert "100 % speed: j0 3 rad/s" in document["assumptions"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.39401, "0.395"), (394.01, "395"), (1234.1, "1240"), (2.0, "2"), (1.0004e-3, "0.00101"), (1e-12, "0")],
)
def test_a_length_is_rounded_up_with_three_digits(value: float, shown: str) -> None:
    assert at_most_shown(value) == shown
    assert float(at_most_shown(value)) >= value - 1e-9
    assert float(rounded_up(394.01)) == pytest.approx(394.1)


@pytest.mark.long
def test_bounds_of_another_share_are_asked_for_on_the_command_line(calibrated: tuple[str, str]) -> None:
    scene, _ = calibrated
    options = ("stop-table", scene, "--speed", "j0=3", "--category", "0", "--grid", "payload=100")
    usual, wide = (
        json.loads(call(*options, *more, "--output-format", "json").out)
        for more in ((), ("--bound", "0.999,0.99"))
    )
    assert (usual["share"], usual["confidence"]) == (0.95, 0.95)
    assert (wide["share"], wide["confidence"]) == (0.999, 0.99)
    assert wide["rows"][0]["time_bound"] > usual["rows"][0]["time_bound"]
    assert re.search(r"99 % confidence at least 99\.9 %", wide["bound_sentence"])
    refused = call(*options, "--bound", "2")
    assert refused.code == 2 and "--bound" in refused.err
