"""Xacro files that try to run programs, to read what is not theirs, or to take everything: none gets it.

The files of ``tests/attacks/xacro`` are copied and linted by a process of its own. Those that could run a
program would make a file ``OWNED``; the secrets are an environment variable and two files outside of
the package.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fuzz.expressions import symbols_of_a_file
from mbplugin.errors import MbPluginError, UnresolvedPath
from mbplugin.readers import load
from mbplugin.readers.xacro.expression import value_of
from mbplugin.readers.xacro.functions import Refused
from mbplugin.testing import assert_lints
from places import ROOT

xacro = pytest.importorskip("xacro")

ATTACKS = ROOT / "tests" / "attacks" / "xacro"
SECRETS = ("told-from-the-environment", "told-from-outside")
HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the attacks; the folder of the package's robots."""
    shutil.copytree(ATTACKS, tmp_path / "attacks")
    here = tmp_path / "attacks" / "package" / "urdf"
    os.mkfifo(here / "pipe.yaml")
    return here


def run(folder: Path, *arguments: str, module: str = "mbplugin") -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "SECRET": SECRETS[0]},
    )
    for secret in SECRETS:
        assert secret not in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done


def owned(folder: Path) -> bool:
    return any(folder.parent.parent.rglob("OWNED"))


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "place", "word"),
    [
        ("lambda.xacro", "lambda.xacro:2", "a lambda"),
        ("functions.urdf.xacro", "functions.urdf.xacro:1", "a call of 'map'"),
        ("wildcards.xacro", "wildcards.xacro:2", "lies outside the packages"),
        ("aliases.xacro", "aliases.xacro:3", "more than 1000000 elements"),
        ("memory.xacro", "memory.xacro:2", "a format of more than 1000 digits"),
        ("shadowed.xacro", "shadowed.xacro:4", "the function 'python.str' as a value"),
        ("power.xacro", "power.xacro:2", "a power with more than"),
        ("environment.xacro", "environment.xacro:2", "'SECRET'"),
        ("optional_environment.xacro", "optional_environment.xacro:2", "'SECRET'"),
        ("environment.urdf", "environment.urdf:2", "'SECRET'"),
        ("yaml_outside.xacro", "yaml_outside.xacro:3", "lies outside the packages"),
        ("include_outside.xacro", "include_outside.xacro:2", "lies outside the packages"),
        ("include_attack.xacro", "lambda.xacro:2", "a lambda"),
        ("computed_include.xacro", "lambda.xacro:2", "a lambda"),
        ("argument.xacro", "argument.xacro:4", "a lambda"),
        ("macro_default.xacro", "macro_default.xacro:2", "a lambda"),
        ("comment.xacro", "comment.xacro:1", "a lambda"),
        ("yaml_unit.xacro", "yaml_unit.xacro:3", "a lambda"),
        ("eval.xacro", "eval.xacro:2", "$(eval"),
        ("not_a_file.xacro", "not_a_file.xacro:3", "not a file"),
        ("named.scene.toml", "lambda.xacro:2", "a lambda"),
    ],
)
def test_an_attack_is_refused_with_its_line(folder: Path, file: str, place: str, word: str) -> None:
    done = run(folder, "lint", file, "--output-format", "json")
    assert done.returncode == 2
    assert not owned(folder)
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["code"] == "MB914"
    assert word in finding["message"] and "--xacro-unsafe" in finding["help"]
    line = f":{finding['line']}" if finding["line"] else ""
    assert f"{finding['file']}{line}".endswith(place)


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "word"),
    [
        ("doubling.xacro", "has not read the file within 10 s"),
        ("forwarded.xacro", "Undefined property to forward"),
    ],
)
def test_what_takes_too_much_or_forwards_a_function_is_one_finding(
    folder: Path, file: str, word: str
) -> None:
    done = run(folder, "lint", file, "--output-format", "json")
    assert done.returncode == 2
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["code"] == "MB904" and word in finding["message"]


@pytest.mark.long
def test_a_folder_run_goes_on(folder: Path) -> None:
    done = run(folder, "lint", ".", "--output-format", "json")
    assert done.returncode == 2 and not owned(folder)
    runs = {Path(one["source"]).name: one for one in json.loads(done.stdout)["runs"]}
    # two hinges on a base that may move freely
    good = runs["good.scene.toml"]
    assert (good["model"]["name"], good["mobility"]["dof"]) == ("good", 8)
    # it is linted as a part of its scene
    assert "good.xacro" not in runs
    # every other file is refused for what it tries, or is a part of another
    rest = {name: {f["code"] for f in one["findings"]} for name, one in runs.items() if "good" not in name}
    assert {"named.scene.toml", "eval.xacro", "memory.xacro"} <= set(rest)
    assert rest.keys().isdisjoint(("part.xacro", "lambda.xacro"))
    assert all(codes & {"MB914", "MB904"} for codes in rest.values())


@pytest.mark.long
def test_pytest_collects_it_and_runs_nothing(folder: Path) -> None:
    arguments = ["--mbplugin", "-q", "."]
    done = run(folder, *arguments, module="pytest")
    assert done.returncode == 1 and "MB914" in done.stdout and not owned(folder)


@pytest.mark.long
def test_who_is_asked_by_name_allows_it(folder: Path) -> None:
    (folder / "mbplugin.toml").write_text("[xacro]\nunsafe = true\n")
    # one that lies beside the model allows nothing
    assert run(folder, "lint", "lambda.xacro").returncode == 2
    assert not owned(folder)
    assert run(folder, "matrix", "lambda.xacro").returncode == 2
    assert not owned(folder)
    (folder / "mbplugin.toml").rename(folder / "own.toml")
    # the child writes no file, but its program does
    assert "MB914" not in run(folder, "lint", "lambda.xacro", "--config", "own.toml").stdout
    assert owned(folder)
    (folder / "OWNED").unlink()
    assert run(folder, "matrix", "lambda.xacro", "--xacro-unsafe").returncode == 0
    assert owned(folder)


@pytest.mark.long
def test_a_found_configuration_opens_no_folder_outside(folder: Path) -> None:
    (folder / "mbplugin.toml").write_text('package-dirs = ["../../outside"]\n')
    done = run(folder, "lint", "yaml_outside.xacro")
    assert done.returncode == 2 and "lies outside" in done.stderr
    (folder.parent.parent / ".git").mkdir()
    assert "lies outside" not in run(folder, "lint", "good.xacro").stderr


@pytest.mark.parametrize(
    "expression",
    [
        "{x for x in [1]}",
        "{x: x for x in [1]}",
        "(x for x in [1])",
        "[x.y for x.y in [1]]",
        "[len for x in [1]]",
        "[x for x in range(999999) for y in range(999999)]",
        "f'{1}'",
        "().__class__",
        "math.__dict__",
        "'{0.__class__}'.format(1)",
        "python.type(1)",
        "python.vars()",
        "vars(1)",
        "python.type",
        "dict(**{})",
        "list(*[1])",
        "(x := 1)",
        "1 << 3",
        "[len][0](1)",
        "map(python.type, [1])",
        "sorted([1], key=python.hash)",
        "list(map(''.upper, [1]))",
        "list(map(float, ['1']))",
        "python.get('vars')",
        "python.values()",
        "python",
        "max([len], [1])",
        "max([1], [2], key=len)",
        "len",
        "python.len == python.len",
        "'%s' % [1]",
        "'%(a)s' % dict(a=1)",
        "'%9999d' % 1",
        "'{a.real}'.format(a=1)",
        "'{0[0]}'.format('ab')",
        "'{0!r}'.format(1)",
        "'{:{}}'.format(1, 2)",
        "'{:9999d}'.format(1)",
        "'{:.99999999f}'.format(1.0)",
        "'{}'.format([1])",
        "('{0}' * 9999).format('a' * 999999)",
        "'{'.format(1)",
        "('{0:b}' * 600).format(2**16000)",
        "dict(a=1).keys",
        "(1).real",
        "''.split",
        "python.isinstance([], python.type)",
        "'a' is 'a'",
        "str(python.set(['a']))",
        "round(10, -1000000000)",
        "math.factorial(100000)",
        "math.prod([10**4000, 10**4000])",
        "math.lcm(10**4000, 10**4000 - 1)",
        "'a'.replace('', 'b' * 999999).replace('', 'c' * 99999)",
        "','.join(['a' * 999999] * 3)",
        "range(10000000)",
        "(-1) ** 0.5",
        "__import__('os')",
        "open('x')",
        "eval('1')",
        "b'bytes'",
        "1j",
        "9**9**9",
        "'a' * 100000000",
        "[1] * 100000000",
        "(10**4000) * (10**4000)",
    ],
)
def test_an_expression_outside_of_the_language_is_refused(expression: str) -> None:
    symbols, namespace = symbols_of_a_file()
    with pytest.raises(Refused):
        value_of(expression, symbols, {}, namespace)


@pytest.mark.long
@pytest.mark.parametrize("name", ["/etc/hostname", "../../elsewhere.yaml", "own.txt"])
def test_values_are_loaded_from_yaml_of_the_packages(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "package" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "package" / "package.xml").write_text("<package><name>p</name></package>")
    for file in (folder / "own.txt", folder / "own.yaml", tmp_path / "elsewhere.yaml"):
        file.write_text("a: 1")
    robot = folder / "r.xacro"
    robot.write_text(f"{HEAD}<link name=\"a${{xacro.load_yaml('own.yaml')['a']}}\"/></robot>")
    assert load(robot).mechanism.bodies[0].name == "a1"
    robot.write_text(robot.read_text().replace("own.yaml", name))
    with pytest.raises(MbPluginError) as caught:
        load(robot)
    assert caught.value.code == "MB914"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 * 3 + 4 / 8 - 7 // 2 + 7 % 4", 6.5),
        ("2**10 - 10**-1", 1023.9),
        ("-pi / 2 + math.pi", math.pi / 2),
        ("radians(180)", math.pi),
        ("sin(0.5) + math.cos(0.5) + atan2(1, 2) + sqrt(2)", 3.2348693),
        ("1 if 2 > 1 and not False else 0", 1),
        ("3 if 1 == 2 or 'a' in 'cab' else 4", 3),
        ("1 < 2 < 3", 1),
        ("[1, 2, 3][-1] + (4, 5)[0] + {'a': 6}['a'] + [1, 2, 3][1:][0]", 15),
        ("max(1, 2) + min([3, 4])", 5),
        ("python.abs(-2) + python.sum([1, 2]) + len('abc') + float('1.5') + int('7')", 16.5),
        ("round(2.567, 1)", 2.6),
        ("[float(x) for x in '1 2 3'.split()][2]", 3),
        ("[x + y for x, y in python.zip([1, 2], [3, 4]) if x > 1][0]", 6),
        ("len([x for x in 'ab' for y in 'cde'])", 6),
        ("len(python.set(['a', 'b', 'a']) - python.set(['b']))", 1),
        ("python.set('b a'.split()) == python.set(['a', 'b'])", 1),
        ("1 if None is None and python.isinstance([1], (list, dict)) else 2", 1),
        ("python.any(['a' in x for x in ['b', 'ca']])", 1),
        ("sorted([3, 1, 2])[0] + len(range(4))", 5),
        ("len('%.3f' % 1.23456)", 5),
        ("float('{a}.{:02d}{{}}{{'.format(5, a=3).replace('{', '').replace('}', ''))", 3.05),
        ("float('{0}{1}{0}'.format(1, 2)) + float('{:>6.2f}'.format(1.239))", 122.24),
        ("dict(a=1, b=2).get('c', 9)", 9),
        ("len(xacro.tokenize('a,b;c'))", 3),
        ("xacro.dotify(dict(a=dict(b=4))).a.b", 4),
    ],
)
def test_the_language_computes(expression: str, value: float) -> None:
    symbols, namespace = symbols_of_a_file()
    assert value_of(expression, symbols, {}, namespace) == pytest.approx(value, abs=1e-6)
    # as xacro itself does
    assert xacro.safe_eval(expression, dict(xacro._global_symbols)) == pytest.approx(value, abs=1e-6)


def test_a_whole_robot_is_expanded() -> None:
    scene = load(ATTACKS / "package" / "urdf" / "good.xacro")
    left, right = scene.mechanism.pairs
    assert (left.name, right.name) == ("left", "right")
    # offsets of ±1 times the second length, a turn of 90 degrees
    np.testing.assert_allclose([left.X_AP.p[1], right.X_AP.p[1]], [0.25, -0.25])
    np.testing.assert_allclose(left.X_AP.R, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-12)
    freedom = left.freedoms[0]
    np.testing.assert_allclose([freedom.lower, freedom.upper], [-math.pi / 2, math.pi / 2])
    # (first length)² · 4; damping 2 where two sides are left, none for the right one
    np.testing.assert_allclose([freedom.effort, freedom.damping], [1.0, 2.0])
    assert right.freedoms[0].damping == 0.0


@pytest.mark.long
def test_a_package_is_found_in_the_folders_that_the_user_gives(tmp_path: Path) -> None:
    package = tmp_path / "elsewhere" / "deep" / "any_folder"
    package.mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>limbs</name></package>")
    (package / "leg.xacro").write_text(f'{HEAD}<link name="leg"/></robot>')
    file = tmp_path / "own" / "robots" / "r.xacro"
    file.parent.mkdir(parents=True)
    (tmp_path / "own" / "package.xml").write_text("<package><name>own</name></package>")
    file.write_text(f'{HEAD}<xacro:include filename="$(find limbs)/leg.xacro"/></robot>')
    with pytest.raises(UnresolvedPath, match=r"r.xacro:1: package 'limbs' is not found"):
        load(file)
    scene = load(file, package_dirs=[tmp_path / "elsewhere"])
    assert [body.name for body in scene.mechanism.bodies] == ["leg"]


@pytest.mark.long
def test_variables_of_ros_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "r.xacro"
    file.write_text(f'{HEAD}<link name="$(env ROS_DISTRO)$(optenv HUSKY_TOP _none)"/></robot>')
    monkeypatch.setenv("ROS_DISTRO", "humble")
    monkeypatch.delenv("HUSKY_TOP", raising=False)
    assert load(file).mechanism.bodies[0].name == "humble_none"
    monkeypatch.setenv("HUSKY_TOP", "1")
    with pytest.raises(MbPluginError, match="'HUSKY_TOP', which is not one of ROS"):
        load(file)
    assert load(file, xacro_unsafe=True).mechanism.bodies[0].name == "humble1"


@pytest.mark.long
def test_tests_of_a_robot_may_allow_it(tmp_path: Path) -> None:
    file = tmp_path / "r.xacro"
    file.write_text(f'{HEAD}<link name="a${{(lambda: 1)()}}"/></robot>')
    with pytest.raises(AssertionError, match="MB914"):
        assert_lints(file)
    assert_lints(file, xacro_unsafe=True)


def fuzzed(seed: int, number: int) -> dict[str, object]:
    """Evaluate expressions of the grammar in a process of its own: an audit hook cannot be taken out again."""
    command = ["-m", "tests.fuzz.expressions", "--seed", str(seed), "--number", str(number)]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


@pytest.mark.long
def test_no_expression_gives_anything_but_data_or_does_anything() -> None:
    result = fuzzed(seed=1, number=4_000)
    # the grammar reaches what is computed, what is refused and what fails
    assert result["seen"] == [] and {"data", "refused", "TypeError"} <= result["ends"].keys()  # type: ignore[attr-defined]


@pytest.mark.long
def test_no_expression_of_very_many_does() -> None:
    assert fuzzed(seed=2, number=200_000)["seen"] == []
