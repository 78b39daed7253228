"""The formats of model files: their names, endings and root elements, and what each can state of a joint.

Readers, the lint of folders, ``diff`` and the command line use this table. It imports nothing, so that help is quick.
"""

from __future__ import annotations

from typing import Final, NamedTuple

#: What most formats state of a freedom besides its limits, and what few state.
DRIVES: Final = ("effort", "velocity", "damping", "friction")
RATES: Final = ("acceleration", "deceleration", "jerk")


class ModelFormat(NamedTuple):
    """A format of model files.

    Parameters
    ----------
    name : str
        Name in reports.
    title, described : str
        Its name in messages, and the same with what a file of it looks like.
    module, function : str
        Its reader, below ``mbplugin.readers``: it takes the text and the request and returns a scene.
    roots : tuple of str
        Root elements of its XML files.
    plain : bool
        Whether its files are not XML, so that the ending tells the format.
    linted : tuple of str
        Endings of files in folders that are always linted, and collected by pytest.
    searched : tuple of str
        Endings of files in folders that are linted if their content is a model.
    other : tuple of str
        Further endings.
    states : tuple of str
        Quantities of a joint, besides its type, frames and limits, for which the format has a place, as far as it is
        read; ``diff`` compares those that both formats have.
    """

    name: str
    title: str
    described: str
    module: str
    function: str
    roots: tuple[str, ...] = ()
    plain: bool = False
    linted: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    states: tuple[str, ...] = DRIVES

    @property
    def endings(self) -> tuple[str, ...]:
        """All endings of its files."""
        return (*self.linted, *self.searched, *self.other)


#: All formats, in the order in which messages list them.
FORMATS = (
    ModelFormat(
        "urdf",
        "URDF",
        "URDF (<robot>)",
        "urdf",
        "read_urdf",
        roots=("robot",),
        linted=(".urdf",),
        other=(".eurdf",),
        states=(*DRIVES, *RATES),
    ),
    # up to version 1.2 the root element is <gazebo>; rotors are Drake's extension: a file with one can state all
    ModelFormat(
        "sdf",
        "SDF",
        "SDF (<sdf>)",
        "sdf.reader",
        "read_sdf",
        roots=("sdf", "gazebo"),
        linted=(".sdf", ".world"),
        states=(*DRIVES, "spring"),
    ),
    ModelFormat(
        "mjcf",
        "MJCF",
        "MJCF (<mujoco>)",
        "mjcf",
        "read_mjcf_apart",
        roots=("mujoco",),
        searched=(".xml", ".mjcf"),
        states=("effort", "damping", "friction", "armature", "spring", "actuator"),
    ),
    ModelFormat(
        "xacro",
        "URDF",
        "xacro",
        "xacro",
        "read_xacro",
        searched=(".xacro",),
        states=(*DRIVES, *RATES),
    ),
    ModelFormat(
        "usd",
        "USD",
        "USD (.usda, .usdc, .usdz)",
        "usd",
        "read_usd_apart",
        searched=(".usda",),
        other=(".usd", ".usdc", ".usdz"),
        states=(*DRIVES, "armature"),
    ),
    ModelFormat(
        "scene",
        "a scene",
        "a scene (.toml)",
        "scene_file.reader",
        "read_scene",
        plain=True,
        linted=(".scene.toml",),
        other=(".toml",),
        states=(*DRIVES, "load_friction", "guide_length", "armature", "spring"),
    ),
)
#: Endings of files in folders that are always linted, and of those that are linted if their content is a model.
LINTED = tuple(ending for one in FORMATS for ending in one.linted)
SEARCHED = tuple(ending for one in FORMATS for ending in one.searched)
#: All endings of model files.
ENDINGS = tuple(ending for one in FORMATS for ending in one.endings)
