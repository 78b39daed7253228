"""The case of a number: files in a folder, and a command line about them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from places import ASSETS

from .beside import baseline, motion_csv, motion_npz, stop_json
from .commands import SUBJECTS, command_line
from .configurations import configuration, project
from .dice import Dice
from .extended import extension
from .meshes import meshes
from .mjcf import mjcf
from .packages import fragment, packages
from .reports import kept
from .scene import scene
from .sdf import sdf
from .sketch import Sketch, sketch
from .spreadsheets import measured_stops, profile, recorded
from .srdf import srdf
from .urdf import urdf
from .usd import usd, usd_part
from .xacro import xacro

#: A small file that others may include.
_PART = {
    "part.sdf": b'<sdf version="1.6"><model name="part"><link name="a"/></model></sdf>',
    "part.xml": b'<mujoco><worldbody><body name="inc"><geom size="0.1"/></body></worldbody></mujoco>',
    "part.xacro": b'<robot xmlns:xacro="http://www.ros.org/wiki/xacro">'
    b'<xacro:property name="e" value="1"/></robot>',
}
#: Commands whose reports a distance is computed from, and names that outputs of the cases have.
_STOPS = ("estop", "stop-table", "worst-stop")
_TAKEN = (
    "out.txt",
    "out.json",
    "out.html",
    "t.npz",
    "t.csv",
    "m.csv",
    "r.json",
    "w.xml",
    "w.scene.toml",
    "stops",
)
_KINDS = ("urdf", "urdf", "urdf", "sdf", "sdf", "mjcf", "xacro", "extended", "packages", "fragment", "usd")


@dataclass(frozen=True)
class Case:
    """What is run.

    Parameters
    ----------
    arguments : tuple of str
        Of ``mbplugin``, in the folder of the files.
    files : dict of file name to content
    before : tuple of str
        Arguments of a run before that one, which leaves a report or a sweep; empty: none.
    damage : str
        Decides how what it leaves is damaged.
    """

    arguments: tuple[str, ...]
    files: dict[str, bytes]
    before: tuple[str, ...] = ()
    damage: str = ""

    def write(self, folder: Path) -> None:
        """Write the files into a folder."""
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


def case(seed: int, number: int) -> Case:
    """Return a case; seed and number alone decide what it is."""
    dice = Dice(f"structured:{seed}:{number}")
    # half of the cases are about what has files of its own
    kind = dice.any(tuple(SUBJECTS)) if dice.chance(0.6) else ""
    mechanism = sketch(dice)
    files = meshes(dice) if kind in ("", "options") else {}
    if kind in ("measured", "recorded", "profile", "against", "sweep") and dice.chance(0.6):
        # what is read of a robot that moves is read to its end
        files |= _arm()
        main = ["arm_6r.scene.toml"]
    else:
        main = _model(mechanism, files, dice, kind)
    if kind in ("", "options") and dice.chance(0.35):
        # of a folder, the file that is a robot
        models = [name for name in main if name in files and "model" in name.rpartition("/")[2]]
        files["model.scene.toml"] = _encoded(scene(mechanism, models or main[-1:], dice))
        main.insert(0, "model.scene.toml")
    _add_beside(mechanism, files, dice, kind)
    subject = SUBJECTS.get(kind)
    words = tuple(command_line(mechanism, main, sorted({*files, *_left(kind)}), dice, subject))
    before: tuple[str, ...] = ()
    if kind == "against":
        if dice.chance(0.5):
            files["old.json"] = kept(words[0], dice)
        elif not {"-", "--save", "--write"} & set(words):
            before = (*_without(words, "--against", "--output-format", "--output"), "--output-format", "json")
            before += ("--output", "old.json")
    elif kind == "sweep" and dice.chance(0.7):
        before = words
    return Case(words, files, before, f"damage:{seed}:{number}" if before else "")


def _left(kind: str) -> tuple[str, ...]:
    """Return the files that options name before they are there."""
    return ("old.json",) if kind == "against" else ()


def _without(words: tuple[str, ...], *options: str) -> tuple[str, ...]:
    """Return a command line without some options and their values."""
    left = [k for k, word in enumerate(words) if word in options or (k and words[k - 1] in options)]
    return tuple(word for k, word in enumerate(words) if k not in left)


@cache
def _arm() -> dict[str, bytes]:
    return {name: (ASSETS / name).read_bytes() for name in ("arm_6r.scene.toml", "arm_6r.urdf")}


def _add_beside(mechanism: Sketch, files: dict[str, bytes], dice: Dice, kind: str) -> None:
    """Add the files that options name, those of the subject for certain."""
    often = 1.0 if kind == "recorded" else 0.2
    if dice.chance(often):
        files["motion.csv"] = motion_csv(mechanism, dice) if dice.chance(0.5) else recorded(mechanism, dice)
    if dice.chance(0.1):
        files["motion.npz"] = motion_npz(mechanism, dice)
    if kind == "configuration" or dice.chance(0.07):
        files["mbplugin.toml"] = configuration(dice)
        if dice.chance(0.2):
            files["pyproject.toml"] = project(dice)
    if kind == "baseline" or dice.chance(0.07):
        document = kept("lint", dice) if dice.chance(0.5) else baseline(dice)
        files["known.json"] = document
    if kind == "measured" or dice.chance(0.07):
        files["measured.csv"] = measured_stops(mechanism, dice)
    if kind == "profile" or dice.chance(0.07):
        files["profile.csv"] = profile(dice)
    if dice.chance(0.1):
        files["stop.json"] = stop_json(dice) if dice.chance(0.5) else kept(dice.any(_STOPS), dice)
    if kind == "options":
        # what is there already is not to be replaced
        files |= dict.fromkeys(dice.some(_TAKEN, 3), b"mine\n")


def _model(mechanism: Sketch, files: dict[str, bytes], dice: Dice, subject: str) -> list[str]:
    """Add a model in one of the formats; return the names of its files."""
    kind, known = "usd" if subject == "usd" else dice.any(_KINDS), sorted(files)
    if kind == "usd":
        files["model.usda"], files["part.usda"] = usd(mechanism, dice), usd_part(dice)
        return ["model.usda"]
    if kind in ("urdf", "extended"):
        name, text = "model.urdf", urdf(mechanism, known, dice)
        if kind == "extended":
            files["model.yaml"] = _encoded(extension(mechanism, dice))
    elif kind == "xacro":
        files["d.yaml"], files["part.xacro"] = b"{k: 2}\n", _PART["part.xacro"]
        name, text = "model.urdf.xacro", xacro(mechanism, known, ["part.xacro"], dice)
    elif kind == "packages":
        made = packages(mechanism, files, dice)
        files |= {place: _encoded(content) for place, content in made.items()}
        # the repository as a whole, its robot, or its macros
        return [dice.any((".", "arm", *["arm/urdf/model.urdf.xacro"] * 4)), *sorted(made)]
    elif kind == "fragment":
        name = dice.any(("part.urdf", "part.urdf.xacro"))
        files[name] = _encoded(fragment(mechanism, dice))
        return [dice.any((".", ".", name)), name]
    else:
        ending, writer = {"sdf": ("sdf", sdf), "mjcf": ("xml", mjcf)}[kind]
        part = f"part.{ending}"
        name, text = f"model.{ending}", writer(mechanism, known, [part], dice)
        files[part] = _PART[part]
    files[name] = _encoded(text)
    if kind in ("urdf", "xacro", "extended") and dice.chance(0.3):
        files["model.srdf"] = _encoded(srdf(mechanism, dice))
    return [name]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
