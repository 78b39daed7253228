"""Files that mean harm, or were written by accident: refused in one sentence and in no time."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

import mbplugin as mb
from command_line import call
from mbplugin.constraints.closure import System
from mbplugin.errors import BadNumber, BrokenModel, MbPluginError
from mbplugin.model.mechanism import Coupling, Term
from mbplugin.readers import load
from models import ring

LINK = '<link name="a"/>'
#: Names that a URDF can hold.
NAMES = [
    "a b",
    "a'b",
    "a&quot;b",
    "a&#10;b",
    "a/b",
    "a::b",
    "关节",
    "🤖",
    "",
    "%s{0}",
    "[bold]x",
    "a,b=c",
    "x" * 3000,
]


def robot(inner: str = LINK, before: str = "") -> str:
    return f'{before}<robot name="r">{inner}</robot>'


def nested(tag: str, depth: int, inner: str = "") -> str:
    return f'<{tag} name="m">' * depth + inner + f"</{tag}>" * depth


#: File name, content and what the sentence says.
REFUSED = {
    "links ten thousand deep": ("r.urdf", robot(nested("link", 10_000)), "depth"),
    "models in models": (
        "r.sdf",
        f'<sdf version="1.9">{nested("model", 600, LINK)}</sdf>',
        "nest too deeply",
    ),
    "never closed": ("r.urdf", '<robot name="r">' * 300_000, "XML"),
    "tags that never end": ("r.urdf", robot("<a b:c " * 300_000), "XML"),
    "quotes that never end": ("r.urdf", robot('<a "' * 200_000), "XML"),
    "comments that never end": ("r.urdf", robot("<!--" * 200_000), "XML"),
    "declarations that never end": ("r.urdf", robot(before="<?xml " * 200_000), "root element"),
    "parameter entity": (
        "r.urdf",
        robot(before='<!DOCTYPE r [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]>'),
        "entit",
    ),
    "entity in xacro": (
        "r.xacro",
        robot("&e;", '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>'),
        "entit",
    ),
    "include outside of the package": (
        "r.sdf",
        '<sdf version="1.9"><model name="m"><include><uri>/etc/passwd</uri></include></model></sdf>',
        "--package-dir",
    ),
    "mesh of MJCF outside of the package": (
        "r.xml",
        '<mujoco><asset><mesh name="m" file="/etc/passwd"/></asset><worldbody/></mujoco>',
        "outside",
    ),
    "integer of thousands of digits": ("s.scene.toml", f"gravity = [0, 0, {'9' * 5000}]", "digits"),
    "brackets in brackets": ("s.scene.toml", "a = " + "[" * 100_000, "nests too deeply"),
    "key of a hundred thousand parts": ("s.scene.toml", "a" + ".a" * 100_000 + " = 1", "nests too deeply"),
    "axis that overflows": (
        "r.xml",
        '<mujoco><worldbody><body><joint axis="0 0 1e308"/><geom size="1"/></body></worldbody></mujoco>',
        "too large",
    ),
    "geom turned by numbers that overflow": (
        "r.xml",
        '<mujoco><worldbody><body><geom size="1" quat="1e308 1e308 0 0"/></body></worldbody></mujoco>',
        "too large",
    ),
    "weld without rotation": (
        "r.xml",
        '<mujoco><worldbody><body name="b"><freejoint/><geom size="1"/></body></worldbody>'
        '<equality><weld body1="b" relpose="0 0 0 1e308 0 0 0"/></equality></mujoco>',
        "rotation",
    ),
}


@pytest.mark.long_after(20)
@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_sentence_and_in_no_time(case: str, tmp_path: Path) -> None:
    name, content, said = REFUSED[case]
    (tmp_path / name).write_text(content)
    start = time.process_time()
    outcome = call("lint", str(tmp_path / name), "--output-format", "json")
    assert time.process_time() - start < 10.0
    assert outcome.code == 2, outcome.out[-1000:] + outcome.err[-1000:]
    assert outcome.err.count("\n") == 1 and len(outcome.err) < 2000
    assert said in outcome.err
    assert "root:" not in outcome.out + outcome.err


MANY = " ".join(f'a{k}="1"' for k in range(60_000))
#: What is odd and harmless.
READ = {
    "external subset": robot(before='<!DOCTYPE r SYSTEM "file:///etc/passwd">'),
    "XInclude": robot(
        LINK + '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd" parse="text"/>'
    ),
    "attribute of 5 MB": robot(f'<link name="{"x" * 5_000_000}"/>'),
    "sixty thousand attributes": robot(f"<link name='a' {MANY}/>"),
    "sixty thousand beside one of ROS": robot(f"<link name='a$(optenv ROS_DISTRO x)' {MANY}/>"),
    "five thousand prefixes": robot(LINK + "".join(f"<p{k}:x/>" for k in range(5000))),
}


@pytest.mark.long
@pytest.mark.parametrize("case", READ)
def test_read_in_no_time(case: str, tmp_path: Path) -> None:
    (tmp_path / "r.urdf").write_text(READ[case])
    start = time.process_time()
    assert len(load(tmp_path / "r.urdf").mechanism.bodies) == 1
    assert time.process_time() - start < 10.0


@pytest.mark.long
def test_includes_that_double_thirty_times_are_given_up(tmp_path: Path) -> None:
    def model(inner: str) -> str:
        return f'<sdf version="1.9"><model name="m">{inner}</model></sdf>'

    for k in range(30):
        twice = [f"<include><uri>{k + 1}.sdf</uri><name>n{i}</name></include>" for i in (1, 2)]
        (tmp_path / f"{k}.sdf").write_text(model("".join(twice)))
    (tmp_path / "30.sdf").write_text(model(LINK))
    with pytest.raises(BrokenModel, match="files are included"):
        load(tmp_path / "0.sdf")


@pytest.mark.long
@pytest.mark.parametrize(
    ("yaml", "said"),
    [
        ("closed_loop: " + "[" * 20_000, "nests too deeply"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nclosed_loop: *c\n", "not a name"),
        ("closed_loop: &a [*a]\n", "not a name"),
        ('closed_loop: !!python/object/apply:os.system ["false"]\n', "not a list"),
    ],
    ids=["deep", "aliases", "itself", "tag"],
)
def test_yaml_that_means_harm(tmp_path: Path, yaml: str, said: str) -> None:
    (tmp_path / "r.urdf").write_text(robot())
    (tmp_path / "r.yaml").write_text(yaml)
    with pytest.raises(BrokenModel, match=said):
        load(tmp_path / "r.urdf")


@pytest.mark.parametrize("number", ["1e31", "-1e308", "1.7976931348623157e308"])
@pytest.mark.parametrize(
    "inner",
    [
        '<link name="a"><inertial><origin xyz="{} 0 0"/><mass value="1"/></inertial></link>',
        '<link name="a"><inertial><mass value="{}"/></inertial></link>',
        '<link name="a"><inertial><mass value="1"/><inertia ixx="{}" iyy="1" izz="1"/></inertial></link>',
        '<link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
        '<axis xyz="{} 0 0"/></joint>',
    ],
    ids=["position", "mass", "inertia", "axis"],
)
def test_a_number_that_would_overflow_is_refused(inner: str, number: str) -> None:
    with pytest.raises(BadNumber, match=r"^r:1: .* expected magnitudes up to 1e\+30"):
        load("r", text=robot(inner.format(number)))


def test_a_limit_may_be_as_large_as_it_likes() -> None:
    inner = (
        '<link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
        '<limit lower="-1.7976931348623157e308" upper="1e16" effort="1e38" velocity="3.4e38"/></joint>'
    )
    (freedom,) = load("r", text=robot(inner)).mechanism.pairs[0].freedoms
    infinity = float("inf")
    assert (freedom.lower, freedom.upper, freedom.effort, freedom.velocity) == (-infinity, *[infinity] * 3)


@pytest.mark.parametrize("output_format", ["text", "json"])
def test_any_name_can_be_linted(tmp_path: Path, output_format: str) -> None:
    links = "".join(f'<link name="{name}_{k}"/>' for k, name in enumerate(NAMES))
    limit = '<limit lower="-1" upper="1" effort="9" velocity="9"/>'
    joints = "".join(
        f'<joint name="{name} j{k}" type="revolute"><parent link="{NAMES[k - 1]}_{k - 1}"/>'
        # the finding of number 6 names it
        f'<child link="{name}_{k}"/>{"" if k == 6 else limit}</joint>'
        for k, name in enumerate(NAMES[1:], 1)
    )
    file = tmp_path / "a 'name' [red]\n关节.urdf"
    file.write_text(robot(links + joints))
    outcome = call("lint", str(file), "--output-format", output_format)
    assert outcome.code == 1, outcome.err
    assert "关节 j6" in outcome.out or "\\u5173\\u8282 j6" in outcome.out


def test_an_error_is_one_line_of_readable_length() -> None:
    text = str(MbPluginError("a\nb\x1b[31m" + "x" * 10_000, where="r\n.urdf:3", expected="y" * 10_000))
    assert "\n" not in text and "\x1b" not in text
    assert (
        text.startswith("r\\u000a.urdf:3: a\\u000ab\\u001b[31mxxx")
        and len(text) < 2000
        and text.endswith("y.")
    )


def test_remedies_leave_alone_what_a_coupling_measures() -> None:
    """Retyped, a hinge would lose the freedom that the gear speaks of."""
    mech, q = ring(6)
    terms = (Term("j1", "rz", 1.0), Term("j4", "rz", -1.0))
    geared = replace(mech, couplings=(Coupling("gear", "gear", terms),))
    result = mb.analyze(geared, q)
    assert result.degree_of_redundancy == 3 and result.remedies
    changed = {change.constraint for remedy in result.remedies for change in remedy.changes}
    assert not changed & {"j1", "j4"}


def test_a_loop_out_of_reach_is_given_up_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty links, one metre each, and an end that should be a kilometre away."""
    links = "".join(f"<link name='l{k}'/>" for k in range(41))
    joints = "".join(
        f"<joint name='j{k}' type='continuous'><parent link='l{k}'/><child link='l{k + 1}'/>"
        f"<origin xyz='1 0 0'/><axis xyz='0 {k % 2} {1 - k % 2}'/></joint>"
        for k in range(40)
    )
    (tmp_path / "r.urdf").write_text(robot(links + joints))
    (tmp_path / "r.scene.toml").write_text(
        "[[model]]\nfile = 'r.urdf'\nbase = 'fixed'\n[[closure]]\nname = 'loop'\ntype = 'spherical'\n"
        "body_a = 'world'\nbody_b = 'l40'\nxyz_a = [1000, 0, 0]\nxyz_b = [0, 0, 0]\n"
    )
    steps = []
    linearised = System.linearised
    monkeypatch.setattr(System, "linearised", lambda *arguments: steps.append(1) or linearised(*arguments))
    outcome = call("lint", str(tmp_path / "r.scene.toml"))
    assert outcome.code == 2 and "not closed in 48 starts" in " ".join(outcome.out.split())
    assert len(steps) < 400


def test_a_shape_too_thin_to_weigh_says_nothing() -> None:
    link = (
        '<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1.5" izz="2"/></inertial>'
        '<collision><geometry><box size="1e-160 1 1e-160"/></geometry></collision></link>'
    )
    codes = {finding.code for finding in mb.lint("r", text=robot(link)).findings}
    assert "MB105" not in codes


@pytest.mark.parametrize(
    "text",
    [
        '<sdf version="1.9"><model name="m"><link name="a"><visual name="v"><geometry><plane>'
        "<normal>0 0 5e-324</normal></plane></geometry></visual></link></model></sdf>",
        '<sdf version="1.9"><model name="m"><link name="a"><pose rotation_format="quat_xyzw">'
        "0 0 0 1e-200 0 0 1e-200</pose></link></model></sdf>",
        robot(
            '<link name="a"/><link name="b"/><joint name="j" type="planar"><parent link="a"/>'
            '<child link="b"/><axis xyz="0 0 1e-11"/></joint>'
        ),
    ],
    ids=["normal", "quaternion", "axis"],
)
@pytest.mark.filterwarnings("error")
def test_directions_may_be_written_very_small(text: str) -> None:
    assert mb.lint("r", text=text).analysis is not None


def test_names_in_another_encoding_are_refused_by_mjcf(tmp_path: Path) -> None:
    text = "<mujoco>\n<worldbody><body name='gr\u00fcn'><geom size='1'/></body></worldbody></mujoco>"
    (tmp_path / "r.xml").write_bytes(text.encode("latin-1"))
    with pytest.raises(MbPluginError, match=r"r\.xml:2: the text is not UTF-8"):
        load(tmp_path / "r.xml")


@pytest.mark.parametrize(("axis", "said"), [("[0, 0, 1]", "lies flat"), ("[0, 1e-200, 0]", "")])
@pytest.mark.filterwarnings("error")
def test_a_wheel_that_lies_flat_is_told(axis: str, said: str) -> None:
    text = (
        "[[body]]\nname = 'w'\nmass = 1\nxyz = [0, 0, 0.5]\ninertia = [0.1, 0.1, 0.1]\n"
        f"[[pfaffian]]\nname = 'roll'\ntype = 'rolling'\nbody = 'w'\nradius = 0.5\naxis = {axis}\n"
    )
    messages = [finding.message for finding in mb.lint("w.scene.toml", text=text).findings]
    assert any(said and said in message for message in messages) == bool(said)
    assert (mb.lint("w.scene.toml", text=text).analysis is None) == bool(said)


def test_a_rule_that_fails_fails_the_campaign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fuzz.target import failure_of

    def fail(*args: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("mbplugin.linter.run._checked", fail)
    (tmp_path / "r.urdf").write_text(robot())
    assert failure_of(tmp_path / "r.urdf", tmp_path, whole=False) == ""
    assert "ZeroDivisionError" in failure_of(tmp_path / "r.urdf", tmp_path, whole=True)
