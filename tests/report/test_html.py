"""The HTML report: what it says is what the values say, and no name of a file becomes markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, DOOR_1, DOOR_2, FOUR_BAR, ROOT, call
from html_pages import HOSTILE, drawing, floats, hostile_model, page_of, parsed
from mbplugin.comparison.agreement import Agreement, Curves, Row
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import rotation_from_quaternion
from mbplugin.phrases import joined_by_words
from mbplugin.report.html import html_page
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.chart import Html, element, json_script
from mbplugin.report.html.view import film_data, path_bytes

MINITAUR = str(ASSETS / "minitaur.scene.toml")
CRANK = str(ASSETS / "crank_rocker.scene.toml")


@pytest.fixture(scope="module")
def minitaur() -> str:
    return page_of("lint", MINITAUR, code=1)


@pytest.mark.long
@pytest.mark.bullet
def test_the_verdict_comes_first_and_every_finding_has_a_row(minitaur: str) -> None:
    page = parsed(minitaur)
    report = mb.lint(MINITAUR)
    words = " ".join(page.xpath("//main")[0].text_content().split())
    assert words.startswith("minitaur: 4 redundant constraints, mobility 8")
    rows = page.xpath("//table[contains(@class,'findings')]/tbody/tr")
    assert [row.get("data-code") for row in rows] == [finding.code for finding in report.findings]
    for row, finding in zip(rows, report.findings, strict=True):
        assert finding.message in row.text_content()
        (rule,) = page.xpath(f"//details[@id='{row.xpath('td/a/@href')[0][1:]}']")
        assert rule.xpath("summary")[0].text == f"{finding.code} {finding.name}"
        assert "Why it matters" in rule.xpath("h3/text()")
    assert len(page.xpath("//button[@data-stress]")) == 4
    assert report.analysis is not None
    pasted = "".join(page.xpath("//pre/text()"))
    for remedy in report.analysis.remedies:
        assert remedy.toml in pasted


@pytest.mark.long
@pytest.mark.bullet
def test_a_page_is_small_and_needs_nothing_else(minitaur: str) -> None:
    assert len(minitaur.encode()) < 3_000_000
    page = parsed(minitaur)
    links = page.xpath("//@src | //@href | //@srcset | //@action")
    assert [link for link in links if not link.startswith(("#", "data:"))] == []
    assert re.search(r"@import|url\(", "".join(page.xpath("//style/text()"))) is None


@pytest.mark.bullet
def test_only_the_script_of_the_page_may_run(minitaur: str) -> None:
    page = parsed(minitaur)
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    scripts = page.xpath("//script[not(@type)]/text()")
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    assert policy.startswith(f"default-src 'none'; script-src {allowed}; style-src")
    assert "connect-src" not in policy and "unsafe-inline'; img-src data:" in policy
    own, viewer = scripts
    assert "The MIT License" in viewer[:200] and "three.js 0." in viewer[:20] and len(own) < 2000


def test_the_viewer_is_made_of_its_sources() -> None:
    folder = ROOT / "mbplugin" / "report" / "html"
    sources = [*sorted((folder / "viewer").glob("*.js")), folder / "viewer" / "package-lock.json"]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    made_of = (folder / "viewer.min.js").read_text("utf-8").rstrip().rpartition("\n")[2]
    assert made_of == f"/* made of {digest} */", "make viewer"


@pytest.mark.bullet
def test_bodies_stand_where_the_analysis_closed_them(minitaur: str) -> None:
    data = drawing(minitaur)
    analysis = mb.analyze(mb.load(MINITAUR))
    poses = forward(analysis.mechanism, analysis.q)
    told = floats(data["poses"], 7)
    assert [body["name"] for body in data["bodies"][1:]] == [b.name for b in analysis.mechanism.bodies]
    assert told[:, :3] == pytest.approx(poses.p_WL, abs=1e-6)
    for seven, R_WL in zip(told, poses.R_WL, strict=True):
        assert rotation_from_quaternion(seven[3:]) == pytest.approx(R_WL, abs=1e-6)
    # the self-stress of a leg joins its two shins
    for stress in data["stresses"]:
        assert sum(name.startswith("lower_leg") for name in stress["bodies"]) == 2


def test_groups_and_the_steps_of_divide_and_conquer_are_told() -> None:
    page = parsed(page_of("lint", FOUR_BAR, "--explain-dca", "--group", "j0,j3"))
    result = mb.analyze(mb.load(FOUR_BAR), method="dca", groups=[("j0", "j3")])
    assert result.dca is not None
    (trace,) = page.xpath("//section[h2='Divide and conquer']//pre/text()")
    assert trace == result.dca.trace
    (row,) = page.xpath("//section[h2='Groups']//tbody/tr")
    group = result.groups[0]
    assert [cell.text for cell in row][:2] == ["j0, j3", group.reaction]
    assert row[3].text == ("unique" if group.resultant_unique else "non-unique")


@pytest.mark.bullet
def test_geometries_are_told_once_and_can_be_read_back(minitaur: str) -> None:
    data = drawing(minitaur)
    used = [part[0] for body in data["bodies"] for part in body["parts"]] + [
        j["mesh"] for j in data["joints"]
    ]
    assert set(used) == set(range(len(data["geometries"]))) and len(used) > len(set(used))
    for shape in data["geometries"]:
        faces = np.frombuffer(base64.b64decode(shape["f"]), "<u4" if shape["wide"] else "<u2")
        assert len(faces) % 3 == 0 and faces.max() == len(floats(shape["v"], 3)) - 1


def test_names_stay_text(tmp_path: Path) -> None:
    page = page_of("lint", str(hostile_model(tmp_path)))
    assert "<img" not in page.replace('<img class="still"', "")
    tree = parsed(page)
    assert tree.xpath("//img[not(@class='still')]") == [] and tree.xpath("//*[@onerror]") == []
    # the view's data and two scripts, and nothing that a name has opened
    assert len(tree.xpath("//script")) == 3
    names = {body["name"] for body in drawing(page)["bodies"]}
    assert set(HOSTILE) <= names
    text = tree.xpath("//main")[0].text_content()
    assert all(name in text for name in HOSTILE)


def test_markup_escapes_all_but_markup() -> None:
    made = element(
        "b", "<i>&\"'", Html("<i>x</i>"), [1, None, "<"], title='"><script>', hidden=True, open=None
    )
    assert made == '<b title="&quot;&gt;&lt;script&gt;" hidden>&lt;i&gt;&amp;&quot;&#x27;<i>x</i>1&lt;</b>'
    document = {"a": "</script><!--", "b": float("inf"), "c": np.arange(2)}
    text = json_script("d", document)
    assert text.count("<") == 2
    assert json.loads(text[text.index(">") + 1 : text.rindex("<")]) == {**document, "b": None, "c": [0, 1]}


def test_names_that_are_no_text() -> None:
    made = element("p", "a\udcff\0b\u202ec\nd")
    assert made.isprintable() is False and made.replace("\n", "").isprintable()
    assert element("p", "x\u202e", title="x\u202e") == '<p title="x\\u202e">x\\u202e</p>'
    # the view finds by its name what a table names
    assert "x\\\\u202e" in json_script("d", {"name": "x\u202e"})
    assert made.count("\n") == 1 and made.startswith("<p>a\\udcff") and made.endswith("d</p>")


def test_several_files_are_one_page(tmp_path: Path) -> None:
    (tmp_path / "broken.urdf").write_text("<robot")
    page = parsed(page_of("lint", DOOR_2, DOOR_1, str(tmp_path / "broken.urdf"), code=2))
    runs = page.xpath("//details[@class='run']")
    assert [f"#{run.get('id')}" for run in runs] == page.xpath("//nav//a/@href")
    assert [run.get("open") is not None for run in runs] == [True, False, False]
    assert "MB902" in runs[2].text_content() and not runs[2].xpath(".//canvas")
    assert len(page.xpath("//canvas")) == 2


@pytest.mark.long
def test_a_page_needs_no_engine() -> None:
    code = (
        "import sys, mbplugin as mb; from mbplugin.cli.lint import rendered;"
        f"rendered('html', [mb.lint({FOUR_BAR!r})]);"
        "print(sorted({'pybullet', 'numba', 'matplotlib', 'mujoco'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_make_says_what_the_browser_tests_need(tmp_path: Path) -> None:
    for tool in ("make", "sh"):
        found = shutil.which(tool)
        assert found
        (tmp_path / tool).symlink_to(found)
    done = subprocess.run(
        ["make", "browser"],
        cwd=ROOT,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and done.stdout.count("\n") == 1
    assert "apt-get install chromium xvfb" in done.stdout


def test_reports_beside_the_page(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    outcome = call("lint", FOUR_BAR, "--report", f"html={target}")
    assert outcome.out.startswith("four_bar") and target.read_text("utf-8").startswith("<!doctype html>")


def test_a_load_that_nothing_carries_is_told_and_the_rest_is_there() -> None:
    page = page_of("lint", str(ASSETS / "four_bar.urdf"), "--base", "free")
    text = parsed(page).text_content()
    assert "Joint reactions are left out: the mechanism falls under the load" in text
    assert len(drawing(page)["bodies"]) > 3


@pytest.mark.long
@pytest.mark.parametrize("command", ["lint", "reactions"])
def test_joints_that_are_held_by_assumption_are_named_on_the_page(command: str) -> None:
    page = page_of(command, str(ASSETS.parent / "tests" / "oracles" / "sarrus_6R.sdf"))
    assert "b0 is taken as held" in parsed(page).text_content()


def test_a_motion_has_curves_and_a_film() -> None:
    page = page_of("simulate", CRANK, "--duration", "0.5", "--reactions", "O1")
    motion = mb.simulate(mb.load(CRANK), duration=0.5)
    film = drawing(page)["film"]
    poses = floats(film["poses"], 7).reshape(len(film["time"]), -1, 7)
    assert (film["time"][0], film["time"][-1]) == (0.0, 0.5)
    for k, q in ((0, motion.q[0]), (-1, motion.q[-1])):
        assert poses[k, :, :3] == pytest.approx(forward(motion.mechanism, q).p_WL, abs=1e-5)
    assert np.array(film["reach"]) == pytest.approx(
        np.array([poses[..., :3].min(axis=(0, 1)), poses[..., :3].max(axis=(0, 1))]), abs=1e-6
    )
    titles = parsed(page).xpath("//figcaption/strong/text()")
    assert "Angles" in titles and "Energy and work" in titles
    assert any("force on its successor" in title for title in titles)


def test_a_film_of_many_bodies_has_fewer_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    motion = mb.simulate(mb.load(CRANK), duration=0.1)
    many = film_data(motion)
    monkeypatch.setattr("mbplugin.report.html.view._BYTES", 10_000)
    few = film_data(motion)
    assert len(few["poses"]) < 14_000 < len(many["poses"])
    assert few["time"][[0, -1]] == pytest.approx(many["time"][[0, -1]])


@pytest.mark.long
def test_a_stop_shows_its_ghosts_and_its_path() -> None:
    arm = str(ASSETS / "arm_6r.scene.toml")
    page = page_of("estop", arm)
    stop = mb.estop(mb.load(arm))
    data = drawing(page)
    naive, signal = (floats(ghost["poses"], 7)[:, :3] for ghost in data["ghosts"])
    assert naive == pytest.approx(forward(stop.trajectory.mechanism, stop.naive.q).p_WL, abs=1e-6)
    assert signal == pytest.approx(forward(stop.trajectory.mechanism, stop.trajectory.q[0]).p_WL, abs=1e-6)
    assert floats(data["path"], 3) == pytest.approx(stop.tool.path, abs=1e-6)
    text = parsed(page).text_content()
    assert all(sentence in text for sentence in joined_by_words(stop.assumed))
    assert "computed, not measured" in text


def test_an_agreement_is_told_row_by_row() -> None:
    rows = (
        Row("mass", "<link>", "kg", 5.78e-34, 1e-6),
        Row("coordinate", "<j2>", "rad", 1e-6, 1e-5, (2e-3, 1e-3), (1.0,), 0.5),
        Row("coordinate", "<j1>", "rad", 2e-5, 1e-5, (4e-3, 2e-3), (1.0,), 0.25),
    )
    curves = Curves(("<j1>",), np.arange(3.0), np.ones((3, 1)), np.zeros((3, 1)))
    found = Agreement(
        "disagrees",
        "<j1> parts",
        rows,
        (1e-3, 5e-4),
        (1.01,),
        1.0,
        {"iterations": 500.0},
        ("nothing",),
        curves,
    )
    page = parsed(html_page(Chapter(title="check", agreement=found)))
    text = page.text_content()
    assert "PyBullet disagrees" in text and "Disagrees: <j1> parts." in text and "iterations 500" in text
    told = [[cell.text for cell in line][:5] for line in page.xpath("//tbody/tr")]
    # what disagrees comes first, what only stands comes last
    assert told[0] == ["coordinate", "<j1>", "2e-05", "1e-05", "rad"]
    assert [row[1] for row in told] == ["<j1>", "<j2>", "<link>"]
    # what is only rounding is 0
    assert told[2][2] == "0"
    assert [row.get("class") for row in page.xpath("//tbody/tr")] == ["bad", None, None]
    assert [row[-1].text_content() for row in page.xpath("//tbody/tr")] == ["disagrees", "agrees", "agrees"]
    # where PyBullet does not converge, a deviation within its wide bound is no agreement
    open_ = parsed(html_page(Chapter(title="check", agreement=replace(found, verdict="not asymptotic"))))
    assert [row[-1].text for row in open_.xpath("//tbody/tr")][1:] == ["undecided", "agrees"]
    assert "Undecided: " in open_.xpath("//p[contains(@class,'verdict')]")[0].text
    by_step, along = page.xpath("//figure")
    # both coordinates are angles
    for figure_ in (by_step, along):
        assert "[rad]" in figure_.xpath(".//text/text()")
    first, second = by_step.xpath(".//polyline/@points")
    (x0, y0), (x1, y1) = (tuple(map(float, point.split(","))) for point in first.split())
    (_, z0), (_, z1) = (tuple(map(float, point.split(","))) for point in second.split())
    # both halve with the step: parallel lines on paper of powers of ten, the larger error above
    assert y1 - y0 == pytest.approx(z1 - z0, abs=0.11) and y0 < z0 and x1 != x0


def test_places_beyond_single_precision_are_drawn_as_far_away_as_it_goes() -> None:
    written = np.frombuffer(base64.b64decode(path_bytes(np.array([[1e300, -1e300, 1.0]]))), dtype="<f4")
    assert np.isfinite(written).all() and written[2] == 1.0
    assert written[0] == -written[1] == np.finfo("<f4").max


def test_a_motion_of_no_bodies_has_a_page(tmp_path: Path) -> None:
    (tmp_path / "empty.sdf").write_text('<sdf version="1.7"><model name="m"/></sdf>', encoding="utf-8")
    outcome = call("simulate", str(tmp_path / "empty.sdf"), "--duration", "0.01", "--output-format", "html")
    assert outcome.code == 0 and outcome.out.startswith("<!doctype html>")
