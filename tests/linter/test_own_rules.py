"""Rules of other distributions, found as pip would leave them: through entry points of a real process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import DOOR_1, Outcome, call_process

MODULE = '''
from mbplugin.linter.rule import Rule


class Heavy(Rule):
    """A link is heavier than our crane.

    Remedy
    ------
    Rent another crane.
    """

    code, name, severity = "ACME101", "too-heavy", "error"

    def check(self, scene, analysis):
        for body in scene.mechanism.bodies:
            origin = scene.origin.get(("body", body.name, ""))
            yield self.finding(f"link {body.name!r} is heavy", element=body.name, origin=origin)


class Raises(Heavy):
    """It always raises."""

    code, name = "ACME102", "raises"

    def check(self, scene, analysis):
        yield self.finding("before it raises")
        raise RuntimeError("no crane\\nat all")


class Foreign(Heavy):
    """It yields what is not its own."""

    code, name = "ACME103", "foreign"

    def check(self, scene, analysis):
        yield Heavy().finding("of another rule")


class Taken(Heavy):
    """Its code is one of mbplugin's."""

    code, name = "MB201", "taken"


class Twin(Heavy):
    """Its code is that of the first."""


class NoCheck(Rule):
    """It has no check."""

    code, name, severity = "ACME105", "no-check", "note"


class Silent(Heavy):
    """It finds nothing."""

    code = "ACME106"

    def check(self, scene, analysis):
        return ()


instance = Silent()
'''


@pytest.fixture
def plugins(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which the distribution ``acme`` is installed."""
    (tmp_path / "acme.py").write_text(MODULE)
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    names = ["Heavy", "Raises", "Foreign", "Taken", "Twin", "NoCheck", "instance", "missing"]
    # they are read in the order of their names
    lines = [f"{k}-{name.lower()} = acme:{name}" for k, name in enumerate(names)]
    (info / "entry_points.txt").write_text("\n".join(["[mbplugin.rules]", *lines, "gone = nowhere:Rule", ""]))
    return {"PYTHONPATH": str(tmp_path)}


def findings(outcome: Outcome) -> list[dict[str, object]]:
    found = json.loads(outcome.out)["findings"]
    assert isinstance(found, list)
    return found


def lint(plugins: dict[str, str], *options: str) -> list[dict[str, object]]:
    outcome = call_process("lint", DOOR_1, "--output-format", "json", *options, **plugins)
    assert "Traceback" not in outcome.err
    return findings(outcome)


@pytest.mark.long
def test_a_rule_of_a_plugin_finds(plugins: dict[str, str]) -> None:
    heavy = [f for f in lint(plugins) if f["code"] == "ACME101"]
    assert [(f["name"], f["severity"], f["element"]) for f in heavy] == [("too-heavy", "error", "door")]
    assert heavy[0]["help"] == "Rent another crane."
    text = Path(DOOR_1).read_text().splitlines()
    assert 'name="door"' in text[int(str(heavy[0]["line"])) - 1]


@pytest.mark.long
def test_a_rule_that_raises_is_named_and_stops_no_other(plugins: dict[str, str]) -> None:
    without = {f["code"] for f in lint({})}
    found = lint(plugins)
    assert without | {"ACME101", "MB911"} == {f["code"] for f in found}
    (raised,) = [f for f in found if f["element"] == "raises"]
    assert raised["message"] == "rule ACME102 raises failed: no crane at all (RuntimeError)"
    assert "acme.py" in str(raised["evidence"])
    assert raised["severity"] == "error"


@pytest.mark.long
def test_a_broken_contract_is_told(plugins: dict[str, str]) -> None:
    told = {str(f["element"]): str(f["message"]) for f in lint(plugins) if f["code"] == "MB911"}
    assert "'ACME101'" in told.pop("foreign")
    assert "MB" in told.pop("3-taken")
    assert "ACME101 is taken" in told.pop("4-twin")
    assert "check" in told.pop("5-nocheck")
    assert "nowhere" in told.pop("gone")
    assert "missing" in told.pop("7-missing")
    assert set(told) == {"raises"}


@pytest.mark.long
def test_exit_codes_with_plugins(plugins: dict[str, str]) -> None:
    # a verdict without one of its rules is none
    assert call_process("lint", DOOR_1, **plugins).code == 2
    good = Path(plugins["PYTHONPATH"]) / "acme-1.0.dist-info" / "entry_points.txt"
    good.write_text("[mbplugin.rules]\nheavy = acme:Heavy\nraises = acme:Raises\n")
    assert call_process("lint", DOOR_1, "--ignore", "ACME102", **plugins).code == 1
    assert call_process("lint", DOOR_1, "--ignore", "ACME", **plugins).code == 0
    assert call_process("lint", DOOR_1, "--select", "ACME101", **plugins).code == 1
    assert call_process("lint", DOOR_1, "--select", "MB", **plugins).code == 0


@pytest.mark.long
def test_a_rule_of_a_plugin_is_documented(plugins: dict[str, str]) -> None:
    listed = call_process("rule", **plugins).out
    assert "ACME101  too-heavy" in listed
    assert "ACME106" in listed
    assert "Rent another crane." in call_process("rule", "ACME101", **plugins).out
    assert "crane" in call_process("rule", "too-heavy", **plugins).out
