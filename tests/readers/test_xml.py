"""XML: what PyBullet's parser reads past is accepted, everything else is one sentence with its line."""

from __future__ import annotations

import time

import pytest

from mbplugin.errors import BrokenXml, UnreadableFile
from mbplugin.readers.xml import (
    child,
    children,
    local_name,
    origin,
    parse_xml,
    pose_of_origin,
    root_name,
    where,
)


def test_lines_and_file_are_kept() -> None:
    root = parse_xml("<robot>\n<link name='a'/>\n\n<link\n name='b'/></robot>", "r.urdf")
    a, b = children(root, "link")
    assert (where(a), where(b)) == ("r.urdf:2", "r.urdf:4")
    assert origin(a, "x").line == 2 and origin(a, "x").text == "x"


@pytest.mark.parametrize(
    "text",
    [
        '\n\n<?xml version="1.0"?>\n<robot><link/></robot>',
        'words\n\n<?xml version="1.0" encoding="utf-8"?>\n<robot><link/></robot>',
        '<!-- a -- b -->\n\n<?xml version="1.0"?>\n<robot><link/></robot>',
        '\ufeff\n\n<?xml version="1.0"?>\n<robot><link/></robot>',
        "<!-- one\ntwo --\nthree ---->\n<robot><link/></robot>",
        '<?xml-model href="x"?>\n\n\n<robot><link/></robot>',
    ],
)
def test_tolerated_without_moving_a_line(text: str) -> None:
    (link,) = children(parse_xml(text, "r.urdf"), "link")
    assert link.sourceline == 4


def test_a_commented_link_is_no_link() -> None:
    assert children(parse_xml("<robot><!-- <link/> -- <link/> --></robot>", "r.urdf"), "link") == []


def test_undeclared_prefixes() -> None:
    root = parse_xml('<robot>\n<drake:joint xyz:a="1"/><joint/></robot>', "r.urdf")
    assert [local_name(element) for element in root] == ["drake:joint", "joint"]
    assert child(root, "drake:joint") is root[0]
    assert child(root, "joint") is root[1]


def test_a_tag_with_two_colons_keeps_its_name_and_its_line() -> None:
    """Gazebo's examples have such tags, and its parser, like PyBullet's, knows no namespaces."""
    text = '<sdf>\n<plugin name="a::b c::d">\n<gz::priority x="1">e::f</gz::priority></plugin></sdf>'
    plugin = parse_xml(text, "w.sdf")[0]
    assert plugin.get("name") == "a::b c::d"
    inner = child(plugin, "gz::priority")
    assert inner is not None
    assert (local_name(inner), inner.get("x"), inner.text, inner.sourceline) == (
        "gz::priority",
        "1",
        "e::f",
        3,
    )
    with pytest.raises(BrokenXml):
        parse_xml("<sdf><a::b></a:b></sdf>", "w.sdf")


def test_declared_prefixes_stay_as_they_are() -> None:
    root = parse_xml('<robot xmlns:drake="http://drake"><drake:joint/></robot>', "r.urdf")
    assert local_name(root[0]) == "drake:joint"


def test_a_colon_in_a_value_is_no_prefix() -> None:
    root = parse_xml('<robot name="a:b"><plugin>std::x</plugin></robot>', "r.urdf")
    assert root.get("name") == "a:b"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<robot>\n<link>\n</robot>", 3),
        ("<robot>\n<link name='a'/>\n", 3),
        ("<robot>\n<link name='a", 2),
        ("<robot><link name=a/></robot>", 1),
        ("<robot>\n<link name='a' name='b'/></robot>", 2),
        ("<robot>\n&undefined;</robot>", 2),
        ("<robot/>\n<robot/>", 2),
        ("<robot/>\n<?xml version='1.0'?><robot/>", 2),
        ("<robot>\n<!-- never closed </robot>", 2),
    ],
)
def test_broken_xml_has_a_line(text: str, line: int) -> None:
    with pytest.raises(BrokenXml) as caught:
        parse_xml(text, "r.urdf")
    assert str(caught.value).startswith(f"r.urdf:{line}: the XML is broken: ")
    assert "\n" not in str(caught.value) and str(caught.value).endswith((".", "?"))


def test_every_truncation_of_a_file_is_refused() -> None:
    text = '<robot name="r">\n<link name="a"><inertial/></link>\n</robot>'
    for end in range(1, len(text)):
        with pytest.raises((BrokenXml, UnreadableFile)):
            parse_xml(text[:end], "r.urdf")


def test_billion_laughs_is_refused_at_once() -> None:
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">\n' for i in range(1, 12))
    bomb = f'<?xml version="1.0"?>\n<!DOCTYPE r [\n<!ENTITY l0 "lol">\n{entities}]>\n<robot>&l11;</robot>'
    start = time.perf_counter()
    with pytest.raises(BrokenXml, match=r"^r\.urdf:3: the file declares XML entities"):
        parse_xml(bomb, "r.urdf")
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    "piece", ["<!--", "<?", "<![CDATA[", "<a ", "<a b='", '"', "<!DOCTYPE [", "<?xml ", "<?a?>"]
)
def test_hostile_repetition_is_refused_at_once(piece: str) -> None:
    start = time.perf_counter()
    with pytest.raises(BrokenXml):
        parse_xml("<robot>" + piece * 50_000, "r.urdf")
    root_name(piece * 50_000)
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<robot/>", "robot"),
        ('words <?xml version="1.0"?><!-- <sdf> --><robot/>', "robot"),
        ('<!DOCTYPE robot SYSTEM "x"><robot/>', "robot"),
        ('<!DOCTYPE r [<!ENTITY a "<b/>">]><robot/>', "robot"),
        ("<xacro:x/>", "xacro:x"),
        ("<!-- <robot/>", ""),
        ("1 < 2", ""),
        ("", ""),
    ],
)
def test_root_name(text: str, name: str) -> None:
    assert root_name(text) == name


def test_external_entities_are_not_read(tmp_path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    text = f'<!DOCTYPE r [<!ENTITY x SYSTEM "{secret.as_uri()}">]><robot>&x;</robot>'
    with pytest.raises(BrokenXml):
        parse_xml(text, "r.urdf")


@pytest.mark.parametrize("text", ["", " \n", "\ufeff"])
def test_blank_text_is_empty(text: str) -> None:
    with pytest.raises(UnreadableFile, match=r"^r\.urdf: the file is empty"):
        parse_xml(text, "r.urdf")


def test_no_origin_is_identity() -> None:
    assert pose_of_origin(None, snap=True).p.tolist() == [0, 0, 0]
