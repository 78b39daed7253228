"""The case of a number: files in a folder, and a command line about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .beside import baseline, configuration, measured_csv, motion_csv, motion_npz, stop_json
from .commands import command_line
from .dice import Dice
from .extended import extension
from .meshes import meshes
from .mjcf import mjcf
from .packages import fragment, packages
from .scene import scene
from .sdf import sdf
from .sketch import Sketch, sketch
from .srdf import srdf
from .urdf import urdf
from .xacro import xacro

#: A small file that others may include.
_PART = {
    "part.sdf": b'<sdf version="1.6"><model name="part"><link name="a"/></model></sdf>',
    "part.xml": b'<mujoco><worldbody><body name="inc"><geom size="0.1"/></body></worldbody></mujoco>',
    "part.xacro": b'<robot xmlns:xacro="http://www.ros.org/wiki/xacro">'
    b'<xacro:property name="e" value="1"/></robot>',
}
_KINDS = ("urdf", "urdf", "urdf", "sdf", "sdf", "mjcf", "xacro", "extended", "packages", "fragment")


@dataclass(frozen=True)
class Case:
    """What is run.

    Parameters
    ----------
    arguments : tuple of str
        Of ``mbplugin``, in the folder of the files.
    files : dict of file name to content
    """

    arguments: tuple[str, ...]
    files: dict[str, bytes]

    def write(self, folder: Path) -> None:
        """Write the files into a folder."""
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


def case(seed: int, number: int) -> Case:
    """Return a case; seed and number alone decide what it is."""
    dice = Dice(f"structured:{seed}:{number}")
    mechanism = sketch(dice)
    files = meshes(dice)
    main = _model(mechanism, files, dice)
    if dice.chance(0.35):
        # of a folder, the file that is a robot
        models = [name for name in main if name in files and "model" in name.rpartition("/")[2]]
        files["model.scene.toml"] = _encoded(scene(mechanism, models or main[-1:], dice))
        main.insert(0, "model.scene.toml")
    if dice.chance(0.3):
        files["motion.csv"] = motion_csv(mechanism, dice)
    if dice.chance(0.1):
        files["motion.npz"] = motion_npz(mechanism, dice)
    if dice.chance(0.1):
        files["mbplugin.toml"] = configuration(dice)
    if dice.chance(0.1):
        files["known.json"] = baseline(dice)
    if dice.chance(0.1):
        files["measured.csv"] = measured_csv(mechanism, dice)
    if dice.chance(0.1):
        files["stop.json"] = stop_json(dice)
    return Case(tuple(command_line(mechanism, main, sorted(files), dice)), files)


def _model(mechanism: Sketch, files: dict[str, bytes], dice: Dice) -> list[str]:
    """Add a model in one of the formats; return the names of its files."""
    kind, known = dice.any(_KINDS), sorted(files)
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
