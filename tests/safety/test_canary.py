"""A repository with a hostile file of each format, in a tree of canaries: no canary is opened or told.

Outside of the repository lies a file for everything that a hostile one names; each holds a name and a number that
nothing else has. The environment holds one too. A lint of the repository is watched twice: by Python's audit, which
sees every file that the command itself opens and every program that it starts, and by ``strace``, which sees those of
its processes too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from places import ROOT

SECRETS = ("c4n4ry", "4242.125", "4.242125")
ENVIRONMENT = "env-c4n4ry-of-the-user"
FORMATS = ("text", "json", "sarif", "github", "gitlab", "junit", "html")

LINK = (
    '<link name="{}"><inertial><mass value="{}"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
XACRO = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
MESH = '<link name="{}"><collision><geometry><mesh filename="{}"/></geometry></collision></link>'
BODY = 'def Xform "c4n4ry" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) { float physics:mass = 4242.125 }'
OWN = 'def Xform "own" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) { }'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The folder of the repository, ``repository``, and of the canaries, ``outside``."""
    outside, inside = tmp_path / "outside", tmp_path / "repository"
    outside.mkdir()
    (inside / ".git").mkdir(parents=True)
    o = f"{outside}"
    canary_urdf = f'<robot name="c4n4ry">{LINK.format("c4n4ry", "4242.125")}</robot>'
    for name, text in {
        "canary.urdf": canary_urdf,
        "canary.xacro": f"{XACRO}{LINK.format('c4n4ry', '4242.125')}</robot>",
        "canary.yaml": "c4n4ry: 4242.125\n",
        "canary.stl": "solid c4n4ry\nfacet normal 0 0 1\nouter loop\nvertex 0 0 4242.125\nvertex 1 0 0\nvertex 0 1 0\n"
        "endloop\nendfacet\nendsolid c4n4ry\n",
        "canary.xml": '<mujoco model="c4n4ry"><worldbody><body name="c4n4ry"><geom size="1" mass="4242.125"/></body>'
        "</worldbody></mujoco>",
        "canary.usda": f"#usda 1.0\n{BODY}\n",
        "canary.csv": "time,c4n4ry\n0,4242.125\n1,4242.125\n",
        "canary.sdf": '<sdf version="1.9"><model name="c4n4ry"><link name="c4n4ry"><inertial><mass>4242.125</mass>'
        "</inertial></link></model></sdf>",
        "mbplugin.toml": "[c4n4ry]\n",
        "config.toml": 'ignore = ["c4n4ry"]\n',
    }.items():
        (outside / name).write_text(text)
    four_bar = (ROOT / "assets" / "four_bar.urdf").read_text()
    for name, text in {
        "mesh.urdf": f'<robot name="r">{MESH.format("a", "../outside/canary.stl")}</robot>',
        "mesh_absolute.urdf": f'<robot name="r">{MESH.format("a", f"file://{o}/canary.stl")}</robot>',
        "mesh_package.urdf": f'<robot name="r">{MESH.format("a", "package://../outside/canary.stl")}</robot>',
        "entity.urdf": f'<!DOCTYPE robot [<!ENTITY x SYSTEM "file://{o}/canary.urdf">]><robot name="r">&x;</robot>',
        "xinclude.urdf": '<robot name="r" xmlns:xi="http://www.w3.org/2001/XInclude">'
        f'<xi:include href="{o}/canary.urdf"/><link name="a"/></robot>',
        "include.urdf.xacro": f'{XACRO}<xacro:include filename="../outside/canary.xacro"/></robot>',
        "include_all.urdf.xacro": f'{XACRO}<xacro:include filename="{o}/*.xacro"/><link name="a"/></robot>',
        "yaml.urdf.xacro": f"{XACRO}<link name=\"a${{load_yaml('{o}/canary.yaml')}}\"/></robot>",
        "environment.urdf.xacro": f'{XACRO}<link name="a$(env CANARY)"/><link name="b$(optenv CANARY x)"/></robot>',
        "find.urdf.xacro": f'{XACRO}<xacro:include filename="$(find ../outside)/canary.xacro"/></robot>',
        "program.urdf.xacro": (
            ROOT / "tests" / "attacks" / "xacro" / "package" / "urdf" / "functions.urdf.xacro"
        ).read_text(),
        "include.sdf": f'<sdf version="1.9"><world name="w"><include><uri>file://{o}/canary.sdf</uri></include></world></sdf>',
        "include_relative.sdf": '<sdf version="1.9"><model name="m"><include><uri>../outside/canary.sdf</uri>'
        "</include></model></sdf>",
        "mesh.sdf": '<sdf version="1.9"><model name="m"><link name="a"><collision name="c"><geometry><mesh>'
        f"<uri>{o}/canary.stl</uri></mesh></geometry></collision></link></model></sdf>",
        "include.xml": '<mujoco><include file="../outside/canary.xml"/><worldbody/></mujoco>',
        "attach.xml": '<mujoco><asset><model name="x" file="attached.xml"/></asset><worldbody><frame>'
        '<attach model="x" prefix="p"/></frame></worldbody></mujoco>',
        "attached.xml": f'<mujoco><include file="{o}/canary.xml"/><worldbody><body name="q"><geom size="1"/></body>'
        "</worldbody></mujoco>",
        "mesh.xml": f'<mujoco><asset><mesh name="m" file="{o}/canary.stl"/></asset><worldbody><body><geom type="mesh" '
        'mesh="m"/></body></worldbody></mujoco>',
        "layer.usda": f"#usda 1.0\n(subLayers = [@../outside/canary.usda@])\n{OWN}\n",
        "arguments.usda": f"#usda 1.0\n(subLayers = [@{o}/canary.usda:SDF_FORMAT_ARGS:a=b@])\n{OWN}\n",
        "expression.usda": '#usda 1.0\n(expressionVariables = {string X = "../outside/canary"}\n'
        f' subLayers = [@`"${{X}}.usda"`@])\n{OWN}\n',
        "reference.usda": f"#usda 1.0\n{OWN}\n"
        f'def Xform "other" (references = @{o}/canary.usda@</c4n4ry>) {{ }}\n',
        "driver.scene.toml": '[[model]]\nfile = "four_bar.urdf"\nbase = "fixed"\n'
        f'[[driver]]\njoint = "j0"\nfile = "{o}/canary.csv"\n',
        "environ.scene.toml": '[[model]]\nfile = "four_bar.urdf"\nbase = "fixed"\n'
        '[[driver]]\njoint = "j0"\nfile = "/proc/self/environ"\n',
        "model.scene.toml": '[[model]]\nfile = "../outside/canary.urdf"\n',
        "four_bar.urdf": four_bar,
        "four_bar.yaml": "closed_loop: []\n",
        "configured/own.urdf": f'<robot name="r">{LINK.format("a", "1")}</robot>',
        "configured/mbplugin.toml": f'package-dirs = ["{o}"]\n',
    }.items():
        (inside / name).parent.mkdir(exist_ok=True)
        (inside / name).write_text(text)
    (inside / "payload.sh").write_text("touch OWNED\n")
    # what a link leads to is not of the repository
    for name in ("canary.urdf", "canary.usda", "canary.xml", "canary.sdf"):
        (inside / f"link_{name}").symlink_to(outside / name)
    (inside / "linked").mkdir()
    (inside / "linked" / "mbplugin.toml").symlink_to(outside / "config.toml")
    (inside / "linked" / "own.urdf").write_text(f'<robot name="r">{LINK.format("a", "1")}</robot>')
    return tmp_path


def lint(tree: Path, *arguments: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=tree / "repository",
        timeout=500,
        env={**os.environ, "CANARY": ENVIRONMENT, "PYTHONPATH": str(ROOT)},
    )


def assert_nothing_told(tree: Path, done: subprocess.CompletedProcess[str]) -> None:
    said = done.stdout + done.stderr
    assert "Traceback" not in said and done.returncode == 2
    assert not (tree / "repository" / "OWNED").exists()
    # the names of the files that are refused are the repository's own words
    said = re.sub(r"[\w./:~-]*canary\.\w+", "", said)
    for secret in (*SECRETS, ENVIRONMENT, "4242", "HOME="):
        assert secret not in said, said[max(0, said.index(secret) - 300) : said.index(secret) + 100]


WATCHED = """
import json, sys
seen = []
def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        seen.append([event, str(arguments[0])])
    elif event in ("os.system", "os.exec", "os.posix_spawn", "socket.connect", "socket.bind", "subprocess.Popen"):
        seen.append([event, str(arguments[:2])])
sys.addaudithook(watch)
from mbplugin.cli import main
sys.argv = ["mbplugin", *sys.argv[2:]]
try:
    code = main()
except SystemExit as end:
    code = end.code
finally:
    with open(sys.argv[-1] + ".seen", "w") as file:
        json.dump(seen, file)
sys.exit(code)
"""


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("configured", "configured/mbplugin.toml:1: package-dirs names"),
        (".", "configured/mbplugin.toml:1: package-dirs names"),
        ("linked", "linked/mbplugin.toml: this link leads out of the repository"),
    ],
)
def test_a_configuration_that_leads_outside_ends_the_run(tree: Path, folder: str, said: str) -> None:
    done = lint(tree, sys.executable, "-m", "mbplugin", "lint", folder)
    assert_nothing_told(tree, done)
    assert said in done.stderr and done.stdout == ""


@pytest.mark.long
@pytest.mark.parametrize("output_format", FORMATS)
def test_nothing_outside_the_repository_is_opened_or_told(tree: Path, output_format: str) -> None:
    for folder in ("configured", "linked"):  # with their configurations no file would be linted
        shutil.rmtree(tree / "repository" / folder)
    output = tree / "report"
    command = [
        "-c",
        WATCHED,
        "-",
        "lint",
        ".",
        "--jobs",
        "1",
        "--output-format",
        output_format,
        "--output",
        f"{output}",
    ]
    done = lint(tree, sys.executable, *command)
    done.stdout += output.read_text()
    assert_nothing_told(tree, done)
    seen = json.loads(output.with_suffix(".seen").read_text())
    opened = [name for event, name in seen if event == "open"]
    outside = os.path.realpath(tree / "outside")
    led = [os.path.realpath(tree / "repository" / name) for name in opened]
    assert not [name for name in led if name.startswith(f"{outside}/")]
    assert not [name for name in opened if name.startswith("/proc/") and "environ" in name]
    # the only programs are Python itself, isolated
    assert all(event in ("open", "subprocess.Popen") for event, _ in seen)
    assert all(
        sys.executable in name and "'-I'" in name for event, name in seen if event == "subprocess.Popen"
    )
    if output_format == "json":
        # each hostile file was looked at
        names = {Path(run["source"]).name for run in json.loads(output.read_text())["runs"]}
        assert {
            "mesh.urdf",
            "yaml.urdf.xacro",
            "include.sdf",
            "attach.xml",
            "layer.usda",
            "environ.scene.toml",
        } <= names
        assert not any(name.startswith("link_") for name in names)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_process_of_a_lint_opens_anything_outside_or_starts_a_program(tree: Path) -> None:
    for folder in ("configured", "linked"):  # with their configurations no file would be linted
        shutil.rmtree(tree / "repository" / folder)
    log = tree / "calls"
    calls = ("strace", "-f", "-qq", "-e", "trace=open,openat,openat2,execve,connect", "-o", str(log))
    done = lint(tree, sys.executable, "-P", "-m", "mbplugin", "lint", ".", "--jobs", "1", before=calls)
    assert_nothing_told(tree, done)
    lines = log.read_text().splitlines()
    assert len(lines) > 500
    # OpenUSD looks for what a stage names where no file can be opened: that fails
    opened = [line for line in lines if " = -1 " not in line]
    outside = [line for line in opened if f'"{tree}/outside' in line or '"../outside' in line]
    assert outside == []
    assert not [line for line in lines if "environ" in line and "ENOENT" not in line and "/proc" in line]
    started = {
        re.findall(r'execve\("([^"]*)"', line)[0] for line in lines if "execve(" in line and "= 0" in line
    }
    assert started <= {sys.executable, os.path.realpath(sys.executable)}


@pytest.mark.long
def test_the_canaries_are_seen_where_they_may_be_read(tree: Path) -> None:
    """The test could not fail if nothing were told of what is read."""
    options = ["--package-dir", f"{tree / 'outside'}", "--output-format", "json"]
    done = lint(tree, sys.executable, "-m", "mbplugin", "lint", "model.scene.toml", *options)
    assert "c4n4ry" in done.stdout
