"""Every word that the installed MuJoCo knows: it changes the scene, or a finding, or a table says why not."""

from __future__ import annotations

from copy import deepcopy

import pytest
from lxml import etree

from whole_schema import mechanics, outcome, use_of

mujoco = pytest.importorskip("mujoco")

from mbplugin.errors import BrokenModel  # noqa: E402
from mbplugin.model.scene import Request, Scene  # noqa: E402
from mbplugin.readers.mjcf import read_mjcf  # noqa: E402
from mbplugin.readers.mjcf.compile import MJCF  # noqa: E402
from mbplugin.readers.unread import Idle, Read, Unread, unread_defects  # noqa: E402
from mbplugin.readers.xml import parse_xml  # noqa: E402
from mjcf_schema import printed_schema, repeatable_elements  # noqa: E402

BASE = """<mujoco model="base"><compiler angle="radian"/><option gravity="0 0 -9"><flag/></option>
 <default><default class="soft"><joint damping="3"/><geom density="500"/><site pos="0.3 0 0"/>
  <equality active="false"/></default></default>
 <asset><mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
 <worldbody>
  <body name="a" pos="0.1 0 1"><joint name="j" axis="0 1 0" stiffness="5"/>
   <geom type="box" size="0.1 0.2 0.3"/>
   <body name="b" pos="0.5 0 0"><joint name="k" axis="0 1 0"/>
    <inertial pos="0.1 0 0" mass="2" diaginertia="0.1 0.2 0.25"/><site name="sb" pos="0.1 0 0"/></body>
  </body>
  <body name="c" pos="1 0 1"><freejoint name="root"/>
   <geom type="capsule" size="0.1" fromto="0 0 0 0.1 0.2 0.3"/>
   <site name="sc" pos="0.2 0 0"/></body>
 </worldbody>
 <equality>
  <connect name="e1" body1="b" body2="c" anchor="0.1 0 0"/>
  <weld name="e2" body1="b" body2="c"/>
  <weld name="e3" site1="sb" site2="sc"/>
  <joint name="e4" joint1="j" joint2="k"/>
 </equality>
</mujoco>"""

_TURNS = {
    "quat": "0.9 0.1 0.2 0.3",
    "axisangle": "1 2 3 0.4",
    "xyaxes": "0 1 0 -1 0 0",
    "zaxis": "1 2 3",
    "euler": "0.1 0.2 0.3",
}
_BOX = "worldbody/body[1]/geom"
_SITE = "worldbody//site[@name='sb']"
#: By element: how to find it, and by attribute the new value, with others that it needs.
PLANTS: dict[str, tuple[str, dict[str, str | dict[str, str]]]] = {
    "mujoco": (".", {"model": "other"}),
    "option": ("option", {"gravity": "0 1 -9"}),
    "flag": ("option/flag", {"gravity": "disable"}),
    "joint": (
        "worldbody/body[1]/joint",
        {
            "name": "other",
            "class": "soft",
            "type": "slide",
            "pos": "0 0 0.1",
            "axis": "1 1 0",
            "range": "-1 1",
            "limited": {"limited": "false", "range": "-1 1"},
            "ref": "0.2",
            "stiffness": "6",
            "springref": "0.3",
            "springdamper": "0.4 0.5",
            "springyield": "0.6",
            "damping": "0.7",
            "frictionloss": "0.8",
            "armature": "0.9",
            "actuatorfrcrange": "-2 2",
            "actuatorfrclimited": {"actuatorfrclimited": "false", "actuatorfrcrange": "-2 2"},
        },
    ),
    "freejoint": ("worldbody/body[2]/freejoint", {"align": "true"}),
    "inertial": (
        "worldbody//inertial",
        {
            "pos": "0.2 0 0",
            "mass": "3",
            "diaginertia": "0.1 0.2 0.26",
            "fullinertia": {"fullinertia": "0.1 0.2 0.25 0.01 0.02 0.03", "diaginertia": ""},
            **_TURNS,
        },
    ),
    "geom": (
        _BOX,
        {
            "class": "soft",
            "type": "ellipsoid",
            "size": "0.1 0.2 0.4",
            "pos": "0.1 0 0",
            "mass": "5",
            "density": "900",
            "shellinertia": "true",
            "mesh": {"mesh": "t", "size": ""},
            "fitscale": {"mesh": "t", "size": "", "fitscale": "1.5"},
            "contype": {"contype": "0", "conaffinity": "0"},
            "conaffinity": {"contype": "0", "conaffinity": "0"},
            "fromto": {"type": "capsule", "size": "0.1", "fromto": "0 0 0 0.2 0.2 0.3"},
            **_TURNS,
        },
    ),
    "site": (
        _SITE,
        {
            "name": "other",
            "class": {"class": "soft", "pos": ""},
            "pos": "0.2 0 0",
            "fromto": {"fromto": "0 0 0 0.1 0.2 0.3", "pos": "", "size": "0.1", "type": "capsule"},
            **_TURNS,
        },
    ),
    "worldbody": (
        "worldbody/body[1]/body",
        {"name": "other", "pos": "0.6 0 0", "childclass": "soft", **_TURNS},
    ),
    "connect": (
        "equality/connect",
        {
            "name": "other",
            "class": "soft",
            "active": "false",
            "anchor": "0.2 0 0",
            "body1": "a",
            "body2": "a",
            "site1": {"site1": "sb", "site2": "sc", "body1": "", "body2": "", "anchor": ""},
            "site2": {"site1": "sb", "site2": "sc", "body1": "", "body2": "", "anchor": ""},
        },
    ),
    "weld": (
        "equality/weld[1]",
        {
            "name": "other",
            "class": "soft",
            "active": "false",
            "anchor": "0.2 0 0",
            "relpose": "0.1 0 0 1 0 0 0",
            "body1": "a",
            "body2": "a",
            "site1": {"site1": "sc", "site2": "sb", "body1": "", "body2": ""},
            "site2": {"site1": "sc", "site2": "sb", "body1": "", "body2": ""},
        },
    ),
    "equality/joint": (
        "equality/joint",
        {
            "name": "other",
            "class": "soft",
            "active": "false",
            "joint1": {"joint1": "k", "joint2": "j"},
            "joint2": {"joint2": ""},
            "polycoef": "0.1 2 0 0 0",
        },
    ),
}
#: Words that MuJoCo's compiler works into the model before it is read, and where that is seen.
COMPILED = {
    "mujoco/compiler": "angle units, inertias and names are those of the compiled model",
    "mujoco/default/mesh": "a mesh is a shape, and where asked the inertia, of the compiled model",
    "mujoco/asset/mesh": "a mesh is a shape, and where asked the inertia, of the compiled model",
    "mujoco/worldbody/attach": "bodies of an attached model are those of the compiled model",
    # MuJoCo 4 has none
    "mujoco/worldbody/composite": "its bodies are those of the compiled model",
    "mujoco/default@class": "the name by which elements refer to the class",
    "mujoco/worldbody@fuse": "bodies that are merged are merged in the compiled model",
    "mujoco/worldbody/freejoint@align": "the compiler moves the frame of a body without children",
}

#: Words that change something only where another one stands.
BEFORE = {
    "joint@limited": {"range": "-1 1"},
    "joint@actuatorfrclimited": {"actuatorfrcrange": "-2 2"},
    "geom@fitscale": {"mesh": "t", "size": ""},
}

WORDS = [f"{path}@{word}" for path, words in printed_schema().items() for word in words]


def read(text: str) -> Scene:
    return read_mjcf(text, Request("<stdin>", text))


def planted(where: str, values: dict[str, str]) -> str:
    """Return the base with attributes set, or removed where the value is empty."""
    root = deepcopy(etree.fromstring(BASE))
    (element,) = root.xpath(where)
    for name, value in values.items():
        element.attrib.pop(name, None)
        if value:
            element.set(name, value)
    return etree.tostring(root, encoding="unicode")


def plant_of(path: str) -> tuple[str, dict[str, str]] | None:
    tags, _, word = path.partition("@")
    parts = tags.split("/")
    key = "equality/joint" if parts[-2:] == ["equality", "joint"] else parts[-1]
    if key == "equality":
        key = "weld"
    where, values = PLANTS.get(key, ("", {}))
    value = values.get(word)
    return None if value is None else (where, value if isinstance(value, dict) else {word: value})


def nested(path: str) -> str:
    """Return a document whose only content is an attribute at a path."""
    tags, _, word = path.partition("@")
    *around, last = tags.split("/")
    opened = "".join(f"<{tag}>" for tag in around)
    closed = "".join(f"</{tag}>" for tag in reversed(around))
    return f'{opened}<{last} {word}="1.2345"/>{closed}'


@pytest.mark.parametrize("path", WORDS)
def test_a_word_of_mujoco_has_its_place(path: str) -> None:
    use = use_of(MJCF, path)
    tags = path.partition("@")[0]
    if isinstance(use, Unread):
        defects = unread_defects(parse_xml(nested(path), "f.xml"), MJCF, "mujoco")
        assert any("1.2345" in str(defect.evidence) for defect in defects)
    elif isinstance(use, Idle):
        assert len(use.reason) > 5
    elif path in COMPILED or any(tags == c or tags.startswith(f"{c}/") for c in COMPILED):
        assert isinstance(use, Read)
    else:
        assert isinstance(use, Read)
        found = plant_of(path)
        assert found is not None, f"{path} counts as read, and nothing shows it"
        without = planted(found[0], BEFORE.get("/".join(path.split("/")[-1:]), {}))
        assert outcome(planted(*found), read) != outcome(without, read), f"{path} changes nothing"


@pytest.mark.long
def test_what_is_planted_is_accepted() -> None:
    """A refused document would differ from the base for another reason."""
    refused = []
    for key, (where, values) in PLANTS.items():
        # earlier versions have fewer
        for word in values.keys() & {path.rpartition("@")[2] for path in WORDS}:
            value = values[word]
            found = outcome(planted(where, value if isinstance(value, dict) else {word: value}), read)
            if found[0] == "refused":
                refused.append((key, word, found[1]))
    # the site and the body are referred to by their names, one equality to itself is refused
    assert {(key, word) for key, word, _ in refused} <= {
        ("site", "name"),
        ("worldbody", "name"),
        ("joint", "name"),
    }, refused


@pytest.mark.parametrize("path", ["option@timestep", "joint@group", "geom@group", "site@size"])
def test_words_without_effect_have_none(path: str) -> None:
    values = {"timestep": "0.01", "group": "2", "size": "0.3"}
    tag, _, word = path.partition("@")
    where = PLANTS[tag][0]
    assert mechanics(read(planted(where, {word: values[word]}))) == mechanics(read(BASE))


@pytest.mark.parametrize("word", ["stiffness", "armature", "range", "frictionloss"])
def test_a_misspelt_word_is_told_with_what_may_be_meant(word: str) -> None:
    with pytest.raises(BrokenModel) as error:
        read(planted("worldbody/body[1]/joint", {word + "x": "1"}))
    assert f"did you mean '{word}'?" in str(error.value)


def test_a_misspelt_element_is_told_with_what_may_be_meant() -> None:
    with pytest.raises(BrokenModel) as error:
        read(BASE.replace("<freejoint ", "<freejoin "))
    assert "did you mean 'freejoint'?" in str(error.value)


def test_actuators_and_tendons_are_named_with_what_they_say() -> None:
    text = BASE.replace(
        "</mujoco>",
        '<tendon><fixed name="cable" stiffness="40"><joint joint="j" coef="1"/></fixed></tendon>'
        '<actuator><position name="servo" joint="j" kp="100"/><motor name="m" joint="k"/></actuator>'
        "</mujoco>",
    )
    found = {defect.element: defect for defect in read(text).defects}
    assert set(found) == {"cable", "servo", "m"}
    assert "stiffness=40" in found["cable"].message and "kp=100" in found["servo"].message
    assert [found[name].severity for name in ("cable", "servo", "m")] == ["", "note", "note"]


def test_gravity_that_is_disabled_does_not_act() -> None:
    scene = read(planted("option/flag", {"gravity": "disable"}))
    assert not scene.mechanism.gravity.any()


@pytest.mark.parametrize("path", sorted(repeatable_elements()))
def test_what_mujoco_reads_several_of_is_no_second_one(path: str) -> None:
    """Nested defaults, meshes of one asset section: none of them is said to be left out for the first one."""
    tags = path.split("/")[1:]
    root = etree.Element("mujoco")
    parent = root
    for tag in tags[:-1]:
        parent = etree.SubElement(parent, tag)
    twins = [etree.SubElement(parent, tags[-1], name=name) for name in ("one", "two")]
    if tags[-1] == "default":
        for name in ("three", "four"):
            etree.SubElement(etree.SubElement(twins[0], "default", name=name), "joint", damping="1")
    found = unread_defects(root, MJCF, "mujoco")
    assert not [defect.message for defect in found if "a second" in defect.message]
