"""What every result can be written as, and what a notebook shows of it."""

from __future__ import annotations

import csv
import json
import pickle
import re
import sys
import warnings
from collections.abc import Callable
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from lxml import html

import mbplugin as mb
from command_line import unstamped
from mbplugin.cli.app import run
from mbplugin.errors import BadUsage, MbPluginError, MissingDependency
from mbplugin.files import is_own
from mbplugin.rendering import Result
from mbplugin.report.results import bars, name_of, presentation_of
from public_values import ARM, FOUR_BAR, RESULTS, UNDRAWN, every_result, made, too_long


@pytest.mark.long
def test_every_result_of_the_public_functions_is_here() -> None:
    """Swept needs its folder, and StopZone its stops; both are below."""
    public = {name for name in mb.__all__ if isinstance(getattr(mb, name), type)}
    results = {name for name in public if issubclass(getattr(mb, name), Result)}
    assert results <= set(RESULTS) | {"Swept"}
    assert {name_of(made(name)) for name in RESULTS if name != "Agreement"} == set(RESULTS) - {"Agreement"}


@pytest.mark.long_after(6)
@every_result
def test_it_is_shown_in_one_line_a_text_and_a_cell(name: str) -> None:
    result = made(name)
    line, text = repr(result), str(result)
    shown = name.removeprefix("Module")  # a rule that a module holds is a Rule to its user
    assert line.startswith(f"<{shown} ") and len(line) <= 200 and "\n" not in line
    assert text.count("\n") > 2 and line not in text and "\x1b" not in text
    cell = html.fragment_fromstring(result._repr_html_())
    assert shown in cell.text_content()
    assert len(cell.xpath(".//table")) == 1
    # one screen
    assert len(cell.xpath(".//tbody/tr")) <= 12 and len(cell.xpath(".//thead//th")) <= 10
    assert not cell.xpath(".//script")


@every_result
def test_all_that_it_holds_is_one_line(name: str) -> None:
    assert not too_long(made(name), name)


@every_result
def test_it_reaches_another_process_as_a_whole(name: str) -> None:
    """Files are linted side by side, and sweeps run in many processes."""
    result = made(name)
    returned = pickle.loads(pickle.dumps(result))
    assert str(returned) == str(result) and returned.to_dict() == result.to_dict()


@every_result
def test_its_document_is_that_of_json_and_its_page_is_one_file(name: str, tmp_path: Path) -> None:
    result = made(name)
    json.dumps(result.to_dict(), allow_nan=False)
    result.save(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text()) == json.loads(json.dumps(result.to_dict()))
    page = html.document_fromstring(result.to_html())
    assert page.xpath("//title")
    result.save(tmp_path / "r.txt")
    assert unstamped(tmp_path / "r.txt").strip() == str(result).strip()
    result.save(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")


@every_result
def test_its_frame_is_its_table(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    frame = made(name).to_frame()
    assert len(frame) and len(frame.columns)
    made(name).save(tmp_path / "r.csv")
    with (tmp_path / "r.csv").open(encoding="utf-8") as file:
        lines = [line for line in csv.reader(file) if line and not line[0].startswith("#")]
    if name not in ("ConstraintMatrix", "StoppingTable", "Trajectory"):  # whose CSV is of their own
        assert [str(column) for column in frame.columns] == lines[0]
    assert len(lines) == len(frame) + 1


@pytest.mark.long
@every_result
def test_it_can_be_drawn(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    if name in UNDRAWN:
        with pytest.raises(BadUsage, match=rf"a {name} has no picture; use \.to_html\(\)"):
            made(name).plot(tmp_path / "r.png")
        return
    assert made(name).plot(tmp_path / "r.png").axes
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")


def test_a_plot_is_a_figure_without_a_display_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    shown: list[object] = []
    monkeypatch.setattr(pyplot, "show", lambda: shown.append(pyplot.gcf()))
    for name in ("StopReport", "Trajectory"):
        figure = made(name).plot()
        assert figure.axes and shown.pop() is figure
        pyplot.close(figure)
    # a notebook shows what a cell returns, once
    monkeypatch.setattr(pyplot, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    assert made("StopReport").plot().axes and not shown and not pyplot.get_fignums()


def test_what_is_not_finite_is_drawn_as_a_word(tmp_path: Path) -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bars(figure, "loads", "N", ["a", "b", "c"], {"load": [1.0, np.inf, 2.0]})
        figure.savefig(tmp_path / "r.png")
    (axes,) = figure.axes
    assert [bar.get_height() for bar in axes.patches] == [1.0, 0.0, 2.0]
    assert [text.get_text() for text in axes.texts] == ["infinite"] and axes.texts[0].xy[0] == 1.0


# What the tables hold


def test_the_table_of_a_calibration_holds_what_was_measured_and_computed() -> None:
    """Columns of the names time and distance, which no row has, were empty."""
    calibration = made("Calibration")
    rows = presentation_of(calibration).rows(calibration)
    names = [
        f"{what}_{how}" for what in ("time", "distance") for how in ("measured", "computed", "deviation")
    ]
    for row, own in zip(rows, calibration.rows, strict=True):
        assert [row[name] for name in names] == [getattr(own, name) for name in names]
    assert all(row["time_computed"] > 0 for row in rows)


def test_the_findings_of_a_report_are_its_items() -> None:
    report = made("Report")
    assert list(report) == list(report.findings) and len(report) == len(report.findings)
    assert report[0] is report.findings[0] and report[-1] is report.findings[-1]
    clean = mb.lint(FOUR_BAR, select=["MB101"])
    assert len(clean) == 0 and clean, "a report without findings is no missing one"


def test_a_frame_of_reactions_has_each_component_with_its_unit() -> None:
    pytest.importorskip("pandas")
    frame = made("Reactions").to_frame()
    one = frame[(frame.constraint == "j3") & (frame.component == "tx")].iloc[0]
    assert one.unit == "N"
    assert one.value == made("Reactions")["j3"]["tx"].value


def test_a_frame_of_a_motion_has_its_samples() -> None:
    pytest.importorskip("pandas")
    motion = made("Trajectory")
    frame = motion.to_frame()
    assert len(frame.columns) == len(set(frame.columns))
    np.testing.assert_array_equal(frame["time [s]"], motion.time)
    np.testing.assert_array_equal(frame["q j0 [rad]"], motion.q[:, 0])


def test_a_motion_and_a_stop_show_curves() -> None:
    for name in ("Trajectory", "StopReport"):
        cell = html.fragment_fromstring(made(name)._repr_html_())
        assert len(cell.xpath(".//figure[.//polyline]")) == 2


def test_an_error_inside_a_property_is_not_that_of_a_missing_attribute() -> None:
    class Broken(Result):
        @property
        def table(self) -> object:
            return None.rows  # type: ignore[attr-defined]

    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'rows'"):
        _ = Broken().table
    with pytest.raises(AttributeError, match=r"no attribute 'tabel'; did you mean 'table'\?"):
        _ = Broken().tabel
    assert not hasattr(Broken(), "__array__") and not hasattr(Broken(), "xyzzy")


def test_unreadable_input_is_a_report_too(tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text("no model")
    report = mb.lint(tmp_path / "r.urdf")
    (finding,) = report
    said = finding.message.partition(": ")[2][:20]
    assert finding.code.startswith("MB9") and said in str(report) and said in report._repr_html_()
    assert report.to_dict()["model"] is None


def test_names_of_a_file_are_no_markup_in_a_cell(tmp_path: Path) -> None:
    text = "<robot name='&lt;script&gt;alert(1)&lt;/script&gt;'><link name='world'/></robot>"
    report = mb.lint("r.urdf", text=text)
    assert "<script" not in report._repr_html_() and "<script" not in mb.analyze(report.scene)._repr_html_()


@pytest.mark.long
def test_one_page_has_several_results() -> None:
    page = html.document_fromstring(mb.page(made("Report"), made("Trajectory")))
    assert [h.text_content() for h in page.xpath("//h2[.='Findings' or .='Motion']")] == [
        "Findings",
        "Motion",
    ]
    with pytest.raises(BadUsage, match="at least one result"):
        mb.page()
    with pytest.raises(BadUsage, match="has no chapter"):
        mb.page(made("ReactionMask"))


def test_a_result_without_a_text_of_its_own_is_its_table() -> None:
    text = str(made("ReactionMask"))
    assert text.startswith("'four_bar': 5 joints, 18 of 30 components unique")
    assert [line.split() for line in text.splitlines() if line.split()[:1] == ["j1"]] == [
        ["j1", "yes", "yes", "no", "no", "no", "yes"]
    ]


def test_the_text_of_misfits_says_what_they_load_in_units() -> None:
    text = " ".join(str(made("MisfitResponse")).split())
    assert re.search(r"1 mrad at j3 ry: j3 ry -?[\d.]+ N·m, .* \(estimated stiffness\)", text)
    assert re.search(r"0\.1 mm at j0 tz: ", text)


def test_the_text_of_a_rule_is_that_of_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["rule", "MB201"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == str(made("Rule"))


@every_result
def test_without_pandas_there_is_a_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = made(name)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependency, match=r"^a frame needs .*; python -m pip install pandas\.$"):
        result.to_frame()


@every_result
def test_without_matplotlib_there_is_a_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = made(name)
    if name in UNDRAWN:
        return
    for module in ("matplotlib", "matplotlib.figure", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, module, None)
    for path in (None, "r.png"):
        with pytest.raises(MissingDependency, match=r"^a plot needs .*; python -m pip install matplotlib\.$"):
            result.plot(path)


@pytest.mark.long_after(13)
@every_result
def test_each_ending_is_written_or_refused_with_those_that_are(name: str, tmp_path: Path) -> None:
    result = made(name)
    for ending in (".png", ".md", ".parquet", ""):
        with pytest.raises(BadUsage, match=rf"the file of this {name} is .*, and .* is none") as caught:
            result.save(tmp_path / f"refused{ending}")
        assert not (tmp_path / f"refused{ending}").exists()
    with pytest.raises(BadUsage) as drawn:
        result.save(tmp_path / "refused.png")
    assert drawn.value.remedy == ("" if name in UNDRAWN else "draw it by .plot()")
    written = caught.value.expected.removeprefix("a file that ends in ").split(" or ")
    assert {".json", ".html", ".csv", ".txt", ".xlsx"} <= {*written}
    # paper takes a browser some seconds: test_pdf prints a report
    for ending in {*written} - {".pdf"}:
        result.save(tmp_path / f"r{ending.upper()}")
        assert (tmp_path / f"r{ending.upper()}").stat().st_size


def test_rows_of_several_lengths_are_one_table(tmp_path: Path) -> None:
    """A welded joint has a component that a revolute one has not."""
    mb.analyze(ARM).save(tmp_path / "arm.csv")
    with (tmp_path / "arm.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["type"]: row["rz"] for row in rows} == {"revolute": "", "fixed": "True"}


# Tables without rows


@pytest.mark.parametrize(
    "name",
    ["Report", "Closing", "ModelDiff", "MisfitResponse", "ActuatorForces", "Reactions", "ReactionMask"],
)
def test_the_columns_of_a_table_without_rows_are_those_of_one_with_rows(name: str) -> None:
    how = presentation_of(made(name))
    assert list(how.columns) == list(how.rows(made(name))[0])


def test_a_page_of_the_ground_alone_is_written() -> None:
    assert "no redundant" in mb.lint("r.urdf", text="<robot name='r'><link name='world'/></robot>").to_html()


def test_a_frame_without_rows_can_be_described(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    rigid = "<robot name='r'><link name='world'/></robot>"
    for result in (
        mb.lint("r.urdf", text=rigid, select=["MB101"]),
        mb.diff(ARM, ARM),
        mb.misfit_response(ARM),
        *(look(mb.lint("r.urdf", text=rigid).scene) for look in (mb.analyze, mb.reactions, mb.reaction_mask)),
    ):
        frame = result.to_frame()
        assert not len(frame) and len(frame.columns) and (frame.describe().loc["count"] == 0).all()
        result.save(tmp_path / "r.csv")
        assert (tmp_path / "r.csv").read_text().rstrip("\n").split(",") == list(frame.columns)


# Names of the commands


def test_names_of_commands_are_names_of_functions() -> None:
    twins = [(mb.matrix, mb.constraint_matrix), (mb.stop_table, mb.stopping_table), (mb.view, mb.show)]
    assert all(signature(one) == signature(other) for one, other in twins)
    assert [one.__name__ for one, _ in twins] == ["constraint_matrix", "stop_table", "view"]
    assert mb.rule("MB201") is mb.rule("redundant-constraints") and mb.rule("MB201") in mb.rules()


def test_a_model_in_another_format_is_saved_as_model_or_as_report(tmp_path: Path) -> None:
    closing = made("Closing")
    closing.save(tmp_path / "m.xml")
    assert unstamped(tmp_path / "m.xml") == closing.text
    assert is_own(tmp_path / "m.xml")
    closing.save(tmp_path / "m.json")
    for other in ("m.urdf", "m.sdf", "m"):
        with pytest.raises(BadUsage, match=r"expected a file that ends in \.xml or \.txt"):
            closing.save(tmp_path / other)
        assert not (tmp_path / other).exists()
    document = json.loads((tmp_path / "m.json").read_text())
    assert document["format"] == "mjcf" and document["assumptions"]


def test_a_sweep_is_one_call(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    swept = mb.sweep(ARM, tmp_path / "s", 12, qd={"j1": 1.0}, speed_range=(0.5, 1.0), jobs=1)
    assert not too_long(swept, "swept")
    assert "12 stops" in repr(swept) and swept.report.table.num_rows == 12
    again = mb.sweep(ARM, tmp_path / "s", 12, qd={"j1": 1.0}, speed_range=(0.5, 1.0), jobs=1)
    assert again.report.quantiles == swept.report.quantiles
    assert "time" in str(swept)
    unended = mb.sweep(ARM, tmp_path / "u", 2, qd={"j1": 1.0}, duration=0.01, jobs=1)
    pytest.importorskip("pandas")
    assert list(unended.to_frame().columns) == list(swept.to_frame().columns)
    assert (unended.to_frame().describe().loc["count"] == 0).all()


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        (lambda: made("StopReport").joint(0), "no braked joint is called 0; known names are j1"),
        (lambda: made("Reactions")[0], "there is no constraint 0; known names are"),
        (lambda: made("ReactionMask")[0], "there is no joint 0; known names are"),
        (lambda: made("Trajectory").reactions(0), "there is no pair 0; known names are"),
        (lambda: made("Trajectory").point(0), "there is no body 0; known names are"),
        (
            lambda: made("Trajectory").point("rocker", ["a", 0, 0]),
            r"\['a', 0, 0\]; expected three finite numbers",
        ),
        (lambda: made("Trajectory").resample([0.05, "a"]), r"\[0.05, 'a'\]; expected numbers in s"),
        (lambda: made("Analysis")["j9"], "there is no constraint 'j9'; known names are j0, j1"),
        (
            lambda: made("StoppingTable")["j1"],
            r"not by 'j1'; write \[row for row in table if row\['joint'\] == 'j1'",
        ),
        (
            lambda: mb.load(ARM)["j1"],
            r"no parts by name, such as 'j1'; write scene.mechanism.pair_by_name\['j1'\]",
        ),
        (lambda: mb.load(ARM)["hand"], r"write scene.mechanism.bodies\[\d\]"),
    ],
)
def test_a_part_that_is_asked_for_in_another_way_is_one_sentence(
    part: Callable[[], object], sentence: str
) -> None:
    with pytest.raises(MbPluginError, match=sentence):
        part()


def test_parts_are_asked_for_by_name_and_rows_by_number() -> None:
    table, analysis = made("StoppingTable"), made("Analysis")
    assert [table[k] for k in range(len(table))] == [*table] == [*table.rows]
    assert table
    assert [analysis[verdict.name] for verdict in analysis.constraints] == [*analysis.constraints]
