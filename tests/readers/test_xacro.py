"""Xacro files: packages, includes, arguments, and the lines to which findings point."""

from __future__ import annotations

import copyreg
from pathlib import Path

import numpy as np
import pytest

from command_line import call
from mbplugin.errors import BrokenModel, MbPluginError, UnresolvedPath
from mbplugin.linter.run import lint
from mbplugin.readers import load
from mbplugin.readers.xml import parse_xml

pytest.importorskip("xacro")

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
LEG = '<xacro:macro name="leg" params="name">\n<link name="${name}"/>\n</xacro:macro>\n'


def package(folder: Path, name: str, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True)
    (folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text)
    return folder


def arm(tmp_path: Path, body: str, name: str = "arm.urdf.xacro") -> Path:
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{HEAD}{body}</robot>")
    return file


def bodies(file: Path, **options: object) -> list[str]:
    return [body.name for body in load(file, **options).mechanism.bodies]  # type: ignore[arg-type]


INCLUDE = '<xacro:include filename="$(find limbs)/leg.xacro"/>\n<xacro:leg name="a"/>\n'


def test_packages_of_one_repository_find_each_other(tmp_path: Path) -> None:
    package(tmp_path / "deep" / "any_name", "limbs", {"leg.xacro": f"{HEAD}{LEG}</robot>"})
    own = package(tmp_path / "robots" / "arm", "arm", {})
    file = arm(own / "urdf", INCLUDE)
    with pytest.raises(UnresolvedPath) as caught:
        load(file)
    assert caught.value.where == f"{file}:2" and "'limbs'" in caught.value.what
    (tmp_path / ".git").mkdir()
    assert bodies(file) == ["a"]


def test_packages_of_one_workspace_find_each_other_by_their_folders(tmp_path: Path) -> None:
    package(tmp_path / "limbs", "limbs", {"leg.xacro": f"{HEAD}{LEG}</robot>"})
    file = arm(package(tmp_path / "arm", "arm", {}) / "urdf", INCLUDE)
    assert bodies(file) == ["a"]


def test_of_two_packages_with_one_name_the_nearest_one_counts(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for place in ("one", "two"):
        text = f"{HEAD}{LEG.replace('{name}', '{name}_' + place)}</robot>"
        package(tmp_path / place / "limbs_folder", "limbs", {"leg.xacro": text})
        package(tmp_path / place / "arm", place, {})
    assert bodies(arm(tmp_path / "two" / "arm", INCLUDE)) == ["a_two"]
    assert bodies(arm(tmp_path / "one" / "arm", INCLUDE)) == ["a_one"]


@pytest.mark.parametrize("variable", ["ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"])
def test_packages_are_found_on_the_paths_of_ros(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    package(tmp_path / "ros" / "share" / "limbs", "limbs", {"leg.xacro": f"{HEAD}{LEG}</robot>"})
    file = arm(tmp_path / "own" / "deep", INCLUDE)
    monkeypatch.setenv(variable, f"/nowhere:{tmp_path / 'ros'}")
    assert bodies(file) == ["a"]


@pytest.mark.long
def test_a_relative_include_is_beside_the_including_file_wherever_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arm(tmp_path, LEG, "parts/leg.xacro")
    arm(tmp_path, '<xacro:include filename="leg.xacro"/>', "parts/all.xacro")
    file = arm(tmp_path, '<xacro:include filename="parts/all.xacro"/><xacro:leg name="a"/>')
    for folder in (tmp_path, tmp_path / "parts", Path("/")):
        monkeypatch.chdir(folder)
        assert bodies(file) == ["a"]


@pytest.mark.long
def test_a_failed_expansion_leaves_nothing_for_the_next_file(tmp_path: Path) -> None:
    broken = arm(tmp_path, f'{LEG}<xacro:property name="width" value="2"/><xacro:nothing/>', "one/arm.xacro")
    arm(tmp_path, LEG, "one/leg.xacro")
    file = arm(tmp_path, '<xacro:include filename="leg.xacro"/><xacro:leg name="a"/>', "two/arm.xacro")
    with pytest.raises(BrokenModel, match="unknown macro name: xacro:nothing"):
        load(broken)
    with pytest.raises(MbPluginError, match=r"two/leg.xacro"):
        load(file)
    with pytest.raises(BrokenModel, match="'width' is not defined"):
        load(arm(tmp_path, '<link name="a${width}"/>', "three.xacro"))


CALL = '<xacro:macro name="leg" params="name">\n<link name="${name}"/>\n</xacro:macro>\n'


@pytest.mark.long_after(2)
@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        (CALL + '<link name="a"/>\n<xacro:leg name="b" size="3"/>\n', 6, 'Invalid parameter "size"'),
        (CALL + '<link name="a"/>\n<xacro:leg/>\n', 6, r"Undefined parameters \[name\]"),
        ('<link name="a"/>\n<xacro:nothing/>\n', 3, "unknown macro name"),
        ('<link name="a"/>\n<xacro:if vale="1"/>\n', 3, "missing attribute 'value'"),
        ('<link name="a">\n<xacro:if value="perhaps"/></link>\n', 3, "conditional"),
        ('<link name="a"/>\n<xacro:property name="a b" value="1"/>\n', 3, "identifiers"),
        ('<link name="a"/>\n<xacro:include filename="none.xacro"/>\n', 3, "none.xacro"),
        ('<xacro:property name="x" value="${1/0}"/>\n<link name="a"/>\n<link name="${x}"/>\n', 2, "zero"),
    ],
)
def test_an_error_of_xacro_names_the_file_and_the_line(
    tmp_path: Path, body: str, line: int, words: str
) -> None:
    own = arm(tmp_path, body)
    with pytest.raises(MbPluginError, match=words) as caught:
        load(own)
    assert caught.value.where == f"{own}:{line}"
    whole = arm(tmp_path, f'<xacro:include filename="{own.name}"/>', "whole.xacro")
    with pytest.raises(MbPluginError, match=words) as caught:
        load(whole, xacro_unsafe="unknown" in words)
    assert caught.value.where == f"{own}:{line}"


def test_an_error_in_a_macro_names_the_line_in_the_macro(tmp_path: Path) -> None:
    part = arm(tmp_path, LEG.replace("<link", '<xacro:if value="perhaps"/>\n<link'), "part.xacro")
    file = arm(tmp_path, f'<xacro:include filename="{part.name}"/>\n<xacro:leg name="a"/>')
    with pytest.raises(BrokenModel, match="perhaps") as caught:
        load(file)
    assert caught.value.where == f"{part}:3"


ARGUMENTS = (
    '<xacro:arg name="side"/>\n<xacro:arg name="size" default="1"/>\n<link name="$(arg side)$(arg size)"/>\n'
)


def test_an_argument_without_a_value_is_named_where_it_is_used(tmp_path: Path) -> None:
    file = arm(tmp_path, '<xacro:arg name="size" default="1"/>\n<link name="$(arg side)"/>\n')
    with pytest.raises(BrokenModel) as caught:
        load(file)
    assert caught.value.where == f"{file}:3"
    assert "'side' has no value" in caught.value.what and "--xacro-arg side:=VALUE" in caught.value.remedy
    assert bodies(file, xacro_args={"side": "left"}) == ["left"]


@pytest.mark.long
def test_the_remedy_for_a_missing_argument_works_on_the_command_line_and_in_a_file(tmp_path: Path) -> None:
    file = arm(tmp_path / "robots", ARGUMENTS.replace('<xacro:arg name="side"/>\n', ""))
    assert "--xacro-arg side:=VALUE" in call("lint", str(file)).out
    given = ("--xacro-arg", "side:=a=b:=c", "--xacro-arg", "size:=2")
    assert '"a=b:=c2"' in call("lint", str(file), *given, "--output-format", "json").out
    assert call("matrix", str(file), *given).code == 0
    assert call("lint", str(file), "--xacro-arg", "side=left").code == 2
    config = tmp_path / "mbplugin.toml"
    config.write_text('[xacro.arguments."robots/*.xacro"]\nside = "left"\nsize = 3\n')
    assert '"left3"' in call("lint", str(file), "--output-format", "json").out
    done = call("lint", str(file), "--xacro-arg", "size:=true", "--output-format", "json")
    assert '"lefttrue"' in done.out
    config.write_text("[xacro]\nargument = {}\n")
    done = call("lint", str(file))
    assert done.code == 2 and "did you mean 'arguments'" in done.err


def test_findings_point_to_the_line_that_was_written(tmp_path: Path) -> None:
    macro = (
        '<xacro:macro name="part" params="name *place">\n'
        '<link name="${name}">\n<inertial>\n<mass value="-1"/>\n'
        '<inertia ixx="1" iyy="1" izz="1"/>\n</inertial>\n</link>\n'
        '<joint name="j_${name}" type="fixed">\n<xacro:insert_block name="place"/>\n'
        '<parent link="base"/><child link="${name}"/>\n</joint>\n</xacro:macro>\n'
    )
    included = arm(tmp_path, macro, "part.xacro")
    body = (
        '<xacro:include filename="part.xacro"/>\n<link name="base"/>\n<!-- a comment\n over lines -->\n'
        '<xacro:part name="a">\n<origin\n rpy="0 0 1.5707"/>\n</xacro:part>\n'
    )
    file = arm(tmp_path, body)
    report = lint(file)
    places = {finding.code: (finding.file, finding.line) for finding in report.findings}
    assert places["MB101"] == (str(included), 5)
    assert report.scene is not None
    origins = report.scene.origin
    assert str(origins["body", "a", ""]) == f"{included}:3"
    assert str(origins["body", "base", ""]) == f"{file}:3"
    assert str(origins["constraint", "j_a", "rpy"]) == f"{file}:7"
    assert report.scene.files == (str(file), str(included))


def test_findings_about_elements_as_written_point_to_their_line(tmp_path: Path) -> None:
    hinge = '<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>\n'
    arm(tmp_path, f'{LEG}{hinge}<limit lower="1" upper="-1" effort="1" velocity="1"/></joint>', "leg.xacro")
    body = '<xacro:include filename="leg.xacro"/><xacro:leg name="a"/>\n<link name="base"/>'
    file = arm(tmp_path, f'{body}\n<gazebo reference="gone"/>')
    (tmp_path / "arm.srdf").write_text('<robot name="r"><group name="g"><link name="gone"/></group></robot>')
    places = {f.code: (f.file, f.line) for f in lint(file).findings}
    # the line of a limit is in the file of macros
    assert places["MB120"] == (str(tmp_path / "leg.xacro"), 6)
    assert places["MB150"] == (str(file), 4)
    assert places["MB152"] == (str(tmp_path / "arm.srdf"), 1)


def test_errors_of_what_was_expanded_point_to_the_line_too(tmp_path: Path) -> None:
    file = arm(
        tmp_path,
        '<link name="a"/>\n<link name="b"/>\n<xacro:if value="true">\n'
        '<joint name="j" type="hinge"><parent link="a"/><child link="b"/></joint>\n</xacro:if>\n',
    )
    (finding,) = lint(file).findings
    assert (finding.code, finding.file, finding.line) == ("MB904", str(file), 5)
    assert "(expanded)" not in finding.message


def test_the_marks_of_lines_change_nothing_in_the_model(tmp_path: Path) -> None:
    import xacro

    text = (
        '<xacro:property name="block">\n<origin xyz="1 2 3"/></xacro:property>\n'
        '<xacro:macro name="wrap" params="**blocks">\n<xacro:insert_block name="blocks"/>\n</xacro:macro>\n'
        '<xacro:element xacro:name="link" name="x"/>\n<link name="y"><xacro:attribute name="t" value="1"/></link>\n'
        '<xacro:wrap><z><visual><xacro:insert_block name="block"/></visual></z></xacro:wrap>\n'
        '<link name="z" xacro:kept="no"/>\n<xacro:call macro="wrap"><q><w a="${1+1}">t</w></q></xacro:call>\n'
    )
    file = arm(tmp_path, text)
    own = xacro.process_file(str(file)).toxml()
    from mbplugin.model.scene import Request
    from mbplugin.processes.foreign import in_own_child
    from mbplugin.readers.xacro import LIMITS, expand

    expansion = in_own_child("xacro", LIMITS, "f", {}, expand, Request(str(file)), frozenset())

    def content(xml: str) -> list[tuple[str, dict[str, str], str]]:
        elements = [e for e in parse_xml(xml, "f").iter() if isinstance(e.tag, str)]
        return [(str(e.tag), dict(e.attrib), (e.text or "").strip()) for e in elements]

    assert content(expansion.text) == content(own)
    lines = dict(
        zip((tag for tag, _, _ in content(own)), (p and p[1] for p in expansion.places), strict=True)
    )
    assert {tag: lines[tag] for tag in ("visual", "origin", "w")} == {
        "visual": 9,
        "origin": 3,
        "w": 11,
    }


def test_trusted_files_have_lines_and_arguments_too(tmp_path: Path) -> None:
    file = arm(tmp_path, ARGUMENTS.replace('<xacro:arg name="side"/>\n', ""))
    scene = load(file, xacro_unsafe=True, xacro_args={"side": "l"})
    assert str(scene.origin["body", "l1", ""]) == f"{file}:3"
    np.testing.assert_equal(len(scene.mechanism.bodies), 1)


@pytest.mark.long
def test_a_xacro_file_with_the_ending_of_a_urdf_is_expanded(tmp_path: Path) -> None:
    body = (
        '<xacro:arg name="prefix" default="l_"/>\n<xacro:property name="p" value="$(arg prefix)"/>\n'
        '<link name="${p}base"/>\n'
    )
    file = arm(tmp_path, body, "arm.urdf")
    assert bodies(file) == ["l_base"] and bodies(file, xacro_args={"prefix": "r_"}) == ["r_base"]
    assert str(load(file).origin["body", "l_base", ""]) == f"{file}:4"
    with pytest.raises(BrokenModel, match="pass the path of its file"):
        load("<stdin>", text=file.read_text())


@pytest.mark.long
def test_files_of_a_source_package_are_found_where_they_will_be_installed(tmp_path: Path) -> None:
    limbs = {"description/urdf/leg.xacro": f'{HEAD}{LEG}<xacro:include filename="foot.xacro"/></robot>'}
    limbs["description/urdf/foot.xacro"] = f'{HEAD}<link name="foot"/></robot>'
    limbs["bringup/config/size.yaml"] = "{name: b}"
    folder = package(tmp_path / "limbs", "limbs", limbs)
    call_leg = (
        '<xacro:include filename="$(find limbs)/urdf/leg.xacro"/>\n<xacro:leg name="a"/>\n'
        "<xacro:leg name=\"${xacro.load_yaml('$(find limbs)/config/size.yaml')['name']}\"/>\n"
    )
    file = arm(folder / "description", call_leg)
    assert sorted(bodies(file)) == ["a", "b", "foot"]
    package(folder / "other", "other", {"urdf/leg.xacro": f"{HEAD}</robot>"})
    with pytest.raises(UnresolvedPath) as caught:
        load(file)
    assert caught.value.where == f"{file}:2"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            '<xacro:include filename="gone.xacro"/>',
            "'gone.xacro' cannot be included or loaded (no such file or directory)",
        ),
        ('<xacro:include filename="package://arm/gone.xacro"/>', "write $(find NAME)/…"),
        (
            "<link name=\"${xacro.load_yaml('gone.yaml')['a']}\"/>",
            "'gone.yaml' cannot be included or loaded (no such file",
        ),
    ],
)
def test_a_file_that_is_not_there_is_named_once(body: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UnresolvedPath) as caught:
        load(arm(tmp_path, body))
    sentence = str(caught.value)
    assert said in sentence.replace(f"{tmp_path}/", "") and sentence.count("gone") == 1
    assert "Errno" not in sentence and "--xacro-arg" not in sentence


def _unknown_to_a_child() -> None:
    raise AssertionError


def test_how_others_pickle_exceptions_is_no_matter_of_the_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask teaches pickle to send tracebacks with a library that the isolated process does not have."""
    reduced = (_unknown_to_a_child, ())
    monkeypatch.setitem(copyreg.dispatch_table, FileNotFoundError, lambda error: reduced)
    with pytest.raises(UnresolvedPath, match="no such file or directory"):
        load(arm(tmp_path, '<xacro:include filename="gone.xacro"/>'))


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("$(eval count + 1)", "3"),
        ("$(eval hand and kind == 'long')", "True"),
        ("$(eval not hand or half > 1)", "False"),
        ("$(eval ${2 * 3} - count)", "4"),
    ],
)
def test_an_expression_of_arguments_has_the_value_that_xacro_computes(
    written: str, value: str, tmp_path: Path
) -> None:
    given = {"count": "2", "hand": "true", "kind": "long", "half": "0.5"}
    arguments = "".join(f'<xacro:arg name="{name}" default="{text}"/>' for name, text in given.items())
    file = arm(tmp_path, f'{arguments}<link name="a{written}"/>')
    assert bodies(file) == bodies(file, xacro_unsafe=True) == [f"a{value}"]


@pytest.mark.parametrize("inner", ["[].__class__", "9**9**9", "vars", "${'[].__' + 'class__'}"])
def test_an_expression_of_arguments_is_of_the_same_language(inner: str, tmp_path: Path) -> None:
    with pytest.raises(MbPluginError):
        load(arm(tmp_path, f'<link name="a$(eval {inner})"/>'))


def test_what_is_missing_in_a_macro_is_named_where_it_is_written(tmp_path: Path) -> None:
    foot = '<xacro:include filename="$(find feet)/x.xacro"/>'
    leg = arm(tmp_path, f'<xacro:macro name="leg" params="">\n{foot}</xacro:macro>', "leg.xacro")
    with pytest.raises(UnresolvedPath) as caught:
        load(arm(tmp_path, '<xacro:include filename="leg.xacro"/>\n<xacro:leg/>'))
    assert caught.value.where == f"{leg}:3"


def test_values_that_are_a_folder_are_no_matter_of_trust(tmp_path: Path) -> None:
    with pytest.raises(UnresolvedPath, match="is a directory"):
        load(arm(tmp_path, "<link name=\"a${xacro.load_yaml('')['a']}\"/>"))


def test_a_file_that_includes_itself_is_refused_before_the_recursion_ends(tmp_path: Path) -> None:
    file = arm(tmp_path, '<xacro:include filename="arm.urdf.xacro"/>\n<link name="a"/>')
    with pytest.raises(BrokenModel, match="includes itself without end"):
        load(file)


def test_a_file_may_include_itself_as_long_as_that_ends(tmp_path: Path) -> None:
    again = '<xacro:include filename="arm.urdf.xacro"/>'
    count = '<xacro:property name="n" value="${n - 1}" scope="global"/>'
    file = arm(
        tmp_path,
        '<xacro:property name="n" default="3"/><link name="a${n}"/>\n'
        f'<xacro:if value="${{n > 0}}">{count}{again}</xacro:if>',
    )
    assert bodies(file) == ["a3", "a2", "a1", "a0"]


#: A chain whose links are named by a list that each call of the macro shortens.
SHORTENED = """<xacro:property name="rows" value="${'1,2,3,4'.split(',')}"/>
<xacro:macro name="chain" params="parent"><xacro:if value="${rows}">
<xacro:property name="row" value="${rows.pop(INDEX)}" lazy_eval="false"/>
<link name="l${row}of${len(rows)}"/>
<joint name="j${row}" type="continuous"><parent link="${parent}"/><child link="l${row}of${len(rows)}"/></joint>
<xacro:chain parent="l${row}of${len(rows)}"/></xacro:if></xacro:macro>
<link name="base"/><xacro:chain parent="base"/>"""


@pytest.mark.parametrize("index", ["0", "", "len(rows) // 2"])
def test_a_list_that_macros_shorten_is_as_short_as_in_xacro(index: str, tmp_path: Path) -> None:
    import xacro

    file = arm(tmp_path, SHORTENED.replace("INDEX", index))
    links = xacro.process_file(str(file)).getElementsByTagName("link")
    names = bodies(file)
    assert len(names) == 5
    assert names == [link.getAttribute("name") for link in links]


def test_taking_from_an_empty_list_is_an_error_of_the_expression(tmp_path: Path) -> None:
    with pytest.raises(BrokenModel, match="pop from empty list"):
        load(arm(tmp_path, '<link name="a${[].pop()}"/>'))


def test_a_macro_that_is_called_without_its_prefix_is_named(tmp_path: Path) -> None:
    file = arm(tmp_path, LEG + '<link name="a"/>\n<leg name="b"/>\n<lg name="c"/>\n')
    called, unknown = (finding for finding in lint(file, select=["MB113"]).findings)
    assert called.line == 6 and called.help == "write <xacro:leg …>"
    assert called.message.endswith("is not read: 'leg' is a macro of xacro that is called without its prefix")
    assert unknown.line == 7 and "macro" not in unknown.message
    file.write_text(file.read_text().replace("<leg ", "<xacro:leg "))
    assert bodies(file) == ["a", "b"]
