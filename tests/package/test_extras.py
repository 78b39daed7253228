"""Each extra: without its package there is one sentence that names it, before anything is computed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

import mbplugin as mb
from command_line import call
from mbplugin.errors import PACKAGES, MissingDependency, install_command
from mbplugin.model.scene import Request
from mbplugin.readers.mjcf.compile import mujoco_module
from mbplugin.readers.usd.stage import pxr_modules
from mbplugin.readers.xacro import expand
from places import ASSETS, ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BAR, ARM = str(ASSETS / "four_bar.scene.toml"), str(ASSETS / "arm_6r.scene.toml")
SEEDS = ROOT / "tests" / "fuzz" / "seeds"
SWEEP = ("sweep", ARM, "--out", "{}/stops", "--number", "3", "--qd", "j1=1")
#: Nothing is read of a file that there is not, before the sentence comes.
NO = "no.urdf"
#: By extra: the package that is hidden, and a command with the words of its sentence.
WITHOUT = [
    ("bullet", "pybullet", ("crosscheck", NO, "--engine", "pybullet"), "a cross-check needs PyBullet"),
    ("bullet", "pybullet", ("view", NO), "a window needs PyBullet"),
    ("bullet", "pybullet", ("view", NO, "--picture", "{}/a.png"), "a picture needs PyBullet"),
    ("mjcf", "mujoco", ("crosscheck", NO, "--engine", "mujoco"), "a cross-check needs MuJoCo"),
    ("mjcf", "mujoco", ("close", BAR, "--to", "mjcf"), "checking the MJCF that is written needs mujoco"),
    ("usd", "pxr", ("close", BAR, "--to", "usd"), "checking the USD that is written needs usd-core"),
    ("yaml", "yaml", ("matrix", str(SEEDS / "extended.urdf")), "PyYAML is not installed"),
    ("sweep", "joblib", SWEEP, "a sweep needs joblib"),
    ("sweep", "pyarrow", SWEEP, "a sweep needs pyarrow"),
    ("dask", "distributed", (*SWEEP, "--backend", "dask"), "the backend dask needs dask"),
    ("ray", "ray", (*SWEEP, "--backend", "ray"), "the backend ray needs ray"),
    ("zones", "shapely", ("estop", ARM, "--zone", "{}/a.csv"), "a zone needs shapely"),
    ("zones", "ezdxf", ("estop", ARM, "--zone", "{}/a.dxf"), "a zone as .dxf needs ezdxf"),
    ("xlsx", "openpyxl", ("reactions", NO, "--output", "{}/a.xlsx"), "an .xlsx needs openpyxl"),
    (
        "plot",
        "matplotlib",
        ("simulate", BAR, "--duration", "1", "--plot", "{}/a.png"),
        "a plot needs matplotlib",
    ),
    ("server", "pygls", ("server",), "a language server needs pygls"),
    ("browser", "playwright", ("reactions", NO, "--output", "{}/a.pdf"), "a .pdf needs playwright"),
]
#: What files are read with, in a process of its own; there it cannot be hidden from here.
FORMATS = [
    ("mjcf", "mujoco", mujoco_module, "reading MJCF needs mujoco, which"),
    ("usd", "pxr", pxr_modules, "reading USD needs usd-core, which"),
    (
        "xacro",
        "xacro",
        lambda: expand(Request("a.xacro", text="<robot/>"), frozenset()),
        "xacro file, and xacro",
    ),
]
#: Those whose commands need another extra too.
WITHOUT_VIEW = [
    ("PIL", "{}/a.png", "--picture", "a picture needs Pillow"),
    ("imageio_ffmpeg", "{}/a.mp4", "--film", "a film as .mp4 needs imageio with ffmpeg"),
]
#: Extras of developers, and of several others; the program of ``validator`` calls mbplugin, not mbplugin it.
OF_OTHERS = {"all", "docs", "test", "robots"}
CALLED_BY = {"validator"}
#: What few need is not in ``all``.
OF_FEW = {"robots", "browser", "pinocchio", "dask", "ray", "all", "docs", "test"}


class Without:
    """Find modules as Python does, but those of one package nowhere."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        hidden = name.partition(".")[0] == self.package
        return None if hidden else PathFinder.find_spec(name, path, target)  # type: ignore[arg-type]


def hide(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [finder for finder in sys.meta_path if finder is not PathFinder and "editable" not in repr(finder)]
    monkeypatch.setattr(sys, "meta_path", [*kept, Without(package)])
    for name in list(sys.modules):
        if name.partition(".")[0] == package:
            monkeypatch.delitem(sys.modules, name)


@pytest.mark.parametrize(("extra", "package", "command", "words"), WITHOUT)
def test_without_an_extra_a_sentence_names_it(
    extra: str,
    package: str,
    command: tuple[str, ...],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hide(package, monkeypatch)
    done = call(*(word.format(tmp_path) for word in command))
    assert (done.code, done.out) == (2, "")
    assert words in done.err and install_command(extra) in done.err
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("extra", "package", "read", "words"), FORMATS)
def test_without_what_reads_a_format_a_sentence_names_it(
    extra: str, package: str, read: Callable[[], object], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(package, monkeypatch)
    with pytest.raises(MissingDependency, match=rf"{words} is not installed; {install_command(extra)}"):
        read()


@pytest.mark.bullet
@pytest.mark.parametrize(("package", "file", "option", "words"), WITHOUT_VIEW)
def test_without_what_draws_a_sentence_names_it(
    package: str, file: str, option: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(package, monkeypatch)
    done = call("view", BAR, "--stop", option, file.format(tmp_path))
    assert done.code == 2 and done.err.startswith(f"mbplugin: {words}, which is not installed; ")
    assert install_command("view") in done.err and done.err.count("\n") == 1


def test_without_pandas_a_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = mb.constraint_matrix(BAR)
    hide("pandas", monkeypatch)
    with pytest.raises(
        MissingDependency, match=r"^a frame needs pandas, .*; python -m pip install pandas\.$"
    ):
        rows.to_frame()


@pytest.mark.parametrize(
    ("engine", "package", "extra"),
    [
        ("pinocchio", "pinocchio", "pinocchio"),
        ("mujoco", "mujoco", "mjcf"),
        ("pybullet", "pybullet", "bullet"),
    ],
)
def test_an_engine_that_is_not_installed_is_named(
    engine: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others answer."""
    hide(package, monkeypatch)
    answer = mb.engines(BAR, only=[engine]).engines[1]
    assert f"is not installed ({install_command(extra)})" in answer.reason


def test_no_extra_is_left_out() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    tested = {extra for extra, *_ in (*WITHOUT, *FORMATS)} | {"view", "frames", "pinocchio"}
    assert tested | CALLED_BY == set(extras) - OF_OTHERS
    # an extra that names the package itself is a circle to programs that order packages
    assert not [need for needs in extras.values() for need in needs if need.startswith("mbplugin")]
    # a message names the packages of an extra, none of which is one of ours
    names = {extra: tuple(re.split(r"[><=;]", need)[0] for need in needs) for extra, needs in extras.items()}
    assert {extra: names[extra] for extra in set(extras) - OF_OTHERS} == PACKAGES
    assert set(extras["all"]) == {need for name in set(extras) - OF_FEW for need in extras[name]}
    listed = set(
        re.findall(
            r"`(\w+)`",
            "".join(
                row.split("|")[1]
                for row in (ROOT / "docs" / "install.md").read_text().splitlines()
                if row.startswith("| `")
            ),
        )
    )
    assert listed == set(extras) - OF_OTHERS | {"all"}
