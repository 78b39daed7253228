"""The pages of calibrations, sweeps, distances and reactions say what their documents say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import FOUR_BAR, ROOT, call
from html_pages import drawing, page_of, parsed

KEPT = Path(__file__).parent / "documents"
PUBLISHED = ROOT / "examples" / "published_stops"
CALIBRATE = ("calibrate", str(PUBLISHED / "tm5_700.urdf"), str(PUBLISHED / "tm5_700.csv"))


def document(*arguments: str) -> Any:
    return json.loads(call(*arguments, "--output-format", "json").out)


def words(page: str) -> str:
    return " ".join(parsed(page).xpath("//main")[0].text_content().split())


def test_a_calibration_has_every_row_and_marks_what_is_not_explained() -> None:
    arguments = (*CALIBRATE, "--hold-out", "speed=100%")
    page, found = page_of(*arguments), document(*arguments)
    rows = parsed(page).xpath("//table[.//th='deviation']//tr[td]")
    assert len(rows) == len(found["rows"]) == 81
    by_line = {row.xpath("td")[0].text_content(): row for row in rows}
    for row in found["rows"]:
        shown = by_line[f"{row['line']}{' *' if row['held_out'] else ''}"]
        assert f"{1e3 * row['time_computed']:.1f}" in shown.text_content()
        assert (shown.get("class") == "warn") is bool(row["unexplained"])
    assert found["toml"] in "".join(parsed(page).xpath("//pre/text()"))
    assert all(sentence in words(page) for sentence in found["assumptions"])


def test_a_distance_has_every_term_and_its_assumptions_below_them() -> None:
    arguments = ("distance", str(KEPT / "estop.json"), "--term", "K=1.6,t1=0.1,D_DS=0.85,Z=0.05")
    text, found = words(page_of(*arguments)), document(*arguments)
    for term in found["terms"]:
        assert f"{term['value']:.4f}" in text and term["meaning"] in text
    assert found["stop"]["assumed"]
    assert all(text.index(one) > text.index(found["formula"]) for one in found["stop"]["assumed"])


def test_a_stopping_table_of_an_arm_that_does_not_stop_is_red() -> None:
    arm = str(ROOT / "assets" / "arm_6r.scene.toml")
    found = {}
    for axis in ("j1", "j2"):
        page = parsed(page_of("stop-table", arm, "--axes", axis, "--category", "0"))
        (verdict,) = page.xpath("//p[contains(@class,'verdict')]")
        found[axis] = (verdict.get("class"), "1 of 1 stop not at rest" in verdict.text_content())
    # stretched out, j2 runs into its limit
    assert found == {"j1": ("verdict fair", False), "j2": ("verdict bad", True)}


@pytest.mark.long
def test_the_worst_stops_with_a_dead_brake_are_red_where_the_arm_does_not_stop() -> None:
    arm = str(ROOT / "assets" / "arm_6r.scene.toml")
    arguments = ("worst-stop", arm, "--axes", "j3", "--samples", "10", "--failure", "dead")
    page, found = parsed(page_of(*arguments)), document(*arguments)
    rows = page.xpath("//table[.//th='worst outcome']//tr[td]")
    red = [bool(row.xpath("td/span[@class='badge bad']")) for row in rows]
    assert red == [one["outcome"] != "stopped" for one in found["failed"]] and any(red)
    slowest = max(one["time"] for one in found["found"] if one["outcome"] == "stopped")
    assert f"{slowest:.4g} s to rest" in page.xpath("//p[contains(@class,'verdict')]")[0].text_content()


def test_a_sweep_has_its_quantiles_and_bounds(tmp_path: Path) -> None:
    arm = str(ROOT / "assets" / "arm_6r.scene.toml")
    arguments = (
        *("sweep", arm, "--out", str(tmp_path / "stops"), "--number", "30", "--qd", "j2=1"),
        *("--bound", "0.9,0.9", "--jobs", "1"),
    )
    page, found = page_of(*arguments), document(*arguments)
    text = words(page)
    assert "ASSUMED, NOT STATED" in text and text.index("ASSUMED") < text.index("of those that stopped")
    rows = parsed(page).xpath("//table[.//th='median']//tr[td]")
    assert [row.xpath("td")[0].text_content() for row in rows] == [
        f"{one['name'].replace('_', ' ')} [{one['unit']}]" for one in found["quantities"]
    ]
    assert len(parsed(page).xpath("//table[.//th='no more than']//tr[td]")) == len(found["bounds"])
    assert str(tmp_path / "stops") in text


@pytest.mark.parametrize("file", [FOUR_BAR, str(ROOT / "tests" / "oracles" / "door_2_hinges.sdf")])
def test_reactions_are_drawn_and_listed(file: str) -> None:
    page, found = page_of("reactions", file), document("reactions", file)
    assert drawing(page)["arrows"]
    text = words(page)
    assert all(one["name"] in text for one in found["constraints"])
    assert f"{found['degree_of_redundancy']} redundant" in text


@pytest.mark.long
def test_a_page_of_reactions_leads_with_them_and_has_what_the_text_has() -> None:
    four_bar = str(ROOT / "assets" / "four_bar.scene.toml")
    arguments = ("reactions", four_bar, "--misfit-sigma", "j3.tz=0.0005", "--limit", "j1=500")
    page, found = parsed(page_of(*arguments)), document(*arguments)
    assert page.xpath("//h2/text()")[1] == "Joint reactions"
    deviations = page.xpath("//table[.//th='deviation']//tr[td]")
    sizes = [one["sigma"] for c in found["constraints"] for one in c["components"]]
    assert len(deviations) == sum(size is None or size > 0 for size in sizes) > 0
    listed = page.xpath("//h3[starts-with(., 'Largest misfit')]/following-sibling::ul[1]/li/text()")
    assert [text.split(":")[0] for text in listed] == [
        f"{one['constraint']} {one['component']}" for one in found["budget"]
    ]
    assert page.xpath("//details/summary[starts-with(., 'Undetermined in a rigid model')]")


@pytest.mark.long
@pytest.mark.bullet
def test_engines_stand_side_by_side_with_what_is_not_unique_marked() -> None:
    arguments = ("engines", str(ROOT / "tests" / "oracles" / "door_2_hinges.sdf"), "--engine", "pybullet")
    page, found = page_of(*arguments), document(*arguments)
    rows = parsed(page).xpath("//table[.//th='PyBullet']//tr[td]")
    assert len(rows) == 6 * len(found["joints"])
    marks = [row.xpath("td")[-1].text_content().startswith("unique") for row in rows]
    assert marks == [unique for joint in found["joints"] for unique in joint["unique"]]
    assert any(marks) and not all(marks)


def test_a_stopping_table_has_both_categories_in_its_charts() -> None:
    """Category 0 has one speed, the full one: a point of the curves of category 1, where its row says."""
    arm = str(ROOT / "assets" / "arm_6r.scene.toml")
    page, found = (
        parsed(page_of("stop-table", arm, "--grid", "extension=100")),
        document("stop-table", arm, "--grid", "extension=100"),
    )
    rows = [row for row in found["rows"] if row["category"] == 0]
    titles = page.xpath("//figure//circle/title/text()")
    assert len(titles) >= 2 * len(rows) > 0
    for row in rows:
        share = row["extension_percent"]
        name = f"category 0, {share} % extension" + (": limit hit" if row["outcome"] == "limit_hit" else "")
        assert f"{name}: {row['distance']:.6g} at {row['speed']:.6g}" in titles
        assert f"{name}: {1e3 * row['time']:.6g} at {row['speed']:.6g}" in titles
    names = page.xpath("//figure//span[@class='key']/text()")
    assert "category 0, 100 % extension" in names
    # j2 runs into its limit at full speed, in both categories: no time to rest, no curve, but a red point
    (chart,) = page.xpath("//figure[figcaption/strong[starts-with(., 'Axis 2, j2: time to rest')]]")
    hit = [row for row in found["rows"] if row["axis"] == 2 and row["outcome"] == "limit_hit"]
    full = [row for row in hit if row["payload_percent"] == 100]
    assert len(chart.xpath("./svg//circle[@class='point bad']")) == len(full) > 0
    (curve,) = chart.xpath(".//polyline/@points")
    curved = [row for row in found["rows"] if row["axis"] == 2 and row["category"] == 1]
    assert len(curve.split()) == len({row["speed"] for row in curved}) - 1
    assert len(page.xpath("//table//tr[@class='bad'][not(td[@class='below'])]")) == len(
        [row for row in found["rows"] if row["outcome"] != "stopped"]
    )
