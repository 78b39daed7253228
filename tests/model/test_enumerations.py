"""Each list of names stands once: the command line, the documents, the files and the tables of docs have the same."""

from __future__ import annotations

import ast
import re
from typing import Any, get_args

import pytest

from command_line import ROOT, call
from mbplugin import choices as names
from mbplugin.analysis import DCA_METHODS
from mbplugin.analysis.uniqueness import TOOLS
from mbplugin.constraints.rows import PLANES
from mbplugin.dynamics.formulations import COORDINATES, REDUNDANCY, TABLE
from mbplugin.joint_reactions.stiffness_estimate import MATERIALS
from mbplugin.linter.rule import SEVERITIES, Severity as FindingSeverity
from mbplugin.model.mechanism.pair import PAIR_TYPES
from mbplugin.simulation.options import OUTCOMES
from mbplugin.simulation.passing_marks import EVENT_KINDS
from mbplugin.stopping.outcome import OUTCOMES as STOP_OUTCOMES
from mbplugin.stopping.sweep.plan import BACKENDS

REGISTRIES: dict[str, tuple[Any, Any]] = {
    "planes": (names.Plane, PLANES),
    "uniqueness tools": (names.Method, [*TOOLS, *DCA_METHODS]),
    "formulations": (names.Formulation, TABLE),
    "redundancy": (names.Redundancy, REDUNDANCY),
    "coordinates": (names.Coordinates, COORDINATES),
    "materials": (names.Material, MATERIALS),
    "backends": (names.Backend, BACKENDS),
    "pair types": (names.PairTypeName, PAIR_TYPES),
    "severities": (FindingSeverity, SEVERITIES),
}
OPTIONS = {
    ("lint", "--method"): names.Method,
    ("lint", "--planar"): names.Plane,
    ("lint", "--base"): names.Base,
    ("simulate", "--formulation"): names.Formulation,
    ("simulate", "--redundancy"): names.Redundancy,
    ("simulate", "--coordinates"): names.Coordinates,
    ("simulate", "--limits"): names.Limits,
    ("estop", "--limits"): names.StopLimits,
    ("reactions", "--material"): names.Material,
    ("reactions", "--axes"): names.Axes,
    ("sweep", "--backend"): names.Backend,
}
#: What makes events, and where in its arguments the kind stands.
MAKERS = {"Event": 1, "passing": 1}


@pytest.mark.parametrize("what", REGISTRIES)
def test_a_registry_has_the_declared_names(what: str) -> None:
    declared, registry = REGISTRIES[what]
    assert set(get_args(declared)) == set(registry)


@pytest.mark.parametrize(("command", "option"), OPTIONS)
def test_the_help_of_an_option_has_the_declared_names(command: str, option: str) -> None:
    text = call(command, "--help").out
    own = re.split(rf"{option} ", text)[1]
    own = re.split(r"\n\s+--[a-z]", own)[0]
    missing = [name for name in get_args(OPTIONS[command, option]) if not re.search(rf"\b{name}\b", own)]
    assert not missing, own


@pytest.mark.long
def test_every_event_is_of_a_declared_kind() -> None:
    spelled = set()
    for file in (ROOT / "mbplugin").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS:
                kinds = [
                    *node.args[MAKERS[node.func.id] :][:1],
                    *(k.value for k in node.keywords if k.arg == "kind"),
                ]
                spelled |= {
                    part.value
                    for kind in kinds
                    for part in ast.walk(kind)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                }
    assert spelled and spelled <= set(EVENT_KINDS)


def rows_below(file: str, heading: str) -> list[str]:
    """Return the names in the first cells of the first table below a line of a guide."""
    text = (ROOT / "docs" / file).read_text(encoding="utf-8").partition(heading)[2]
    table = text[text.index("\n|") + 1 :].partition("\n\n")[0]
    return [name for line in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", line.split("|")[1])]


def test_the_guides_have_the_declared_names() -> None:
    # a motion of its own is not ended by rest
    assert set(rows_below("motion.md", "`outcome` is one of these")) == set(OUTCOMES) - {"stopped"}
    assert set(rows_below("motion.md", "to rounding; any other combination")) == set(
        get_args(names.Formulation)
    )
    stops = (ROOT / "docs" / "estop.md").read_text(encoding="utf-8").partition("- The outcome is ")[2]
    sentence = stops.partition("\n-")[0]
    assert set(re.findall(r"`([a-z_]+)`", sentence.partition("(the computation")[0])) == set(STOP_OUTCOMES)
