"""The examples that redraw figures of the papers: what the papers state of them comes out, by public calls alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import ROOT

STATED = {
    # wojtyra2013 §4.1, §4.3 and §4.4, figures 2 to 4
    "04_four_wheels_turn_right_and_left.py": (
        "without a push",
        "between the turns the path is a straight line: True",
        "at the end the path is a straight line: True",
        "parallel to the x axis: True",
        "agree to 1e-7 J: True",
        "B: answers up to 3.",
        "W3: answers up to 6.",
        "D: one answer",
        "W5: one answer",
    ),
    # blajer1994 (26) with figure 1, and figure 3
    "10_which_angle_leads_the_four_bar.py": (
        "(26) by hand differs by less than 1e-12: True",
        "masses as in the file: O3 is singular with the crank at 90 and 270 degrees",
        "coupler 20 times as heavy: O3 is singular with the crank at 90 and 270 degrees",
        "O3 over 0% of the turn",
    ),
    # pekal2024 table 1, figure 17, and the hybrid model of §4
    "15_which_reactions_of_a_parallelogram_are_unique.py": (
        "3f + 15 - 17 = 1   non-unique",
        "11 + 6 - 17 = 0    unique",
        "non-unique: A, B, C, D, E, F, G, H\n",
        "unique: K, L, M, N, P, Q, R\n",
        "to be flexible: 1, 2, 3, 4, 7\n",
        "every reaction has a value",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", STATED)
def test_an_example_prints_what_its_paper_states(name: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    for line in STATED[name]:
        assert line in run.stdout


@pytest.mark.parametrize("name", STATED)
def test_an_example_imports_what_is_public(name: str) -> None:
    tree = ast.parse((ROOT / "examples" / name).read_text(encoding="utf-8"))
    modules = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module}
    modules |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert {m for m in modules if m.startswith("mbplugin")} <= {"mbplugin", "mbplugin.studies"}
