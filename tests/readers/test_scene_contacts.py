"""The ``[[contact]]`` tables of a scene."""

from __future__ import annotations

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import MbPluginError
from mbplugin.model.mechanism.pair import MOST_CONTACTS
from mbplugin.writers.scene import scene_text

TABLE = """
[[body]]
name = "top"
mass = 10.0
xyz = [0.0, 0.0, 0.5]
inertia = [1.0, 1.0, 1.0]
[[body]]
name = "block"
mass = 1.0
xyz = [0.0, 0.0, 1.0]
inertia = [0.1, 0.1, 0.1]
"""


def contact(**changed: str) -> str:
    entries = {
        "body_a": '"top"',
        "point": "[1.0, 1.0, -0.5]",
        "normal": "[0.0, 0.0, 1.0]",
        "mu": "0.5",
        **changed,
    }
    return "[[contact]]\n" + "\n".join(f"{k} = {v}" for k, v in entries.items() if v) + "\n"


def scene(tmp_path, text):
    path = tmp_path / "table.scene.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_tables_become_contacts_of_the_scene_and_enter_reactions(tmp_path):
    corners = ((1, 1), (-1, 1), (-1, -1), (1, -1))
    legs = [contact(point=f"[{x}.0, {y}.0, -0.5]") for x, y in corners]
    on_top = [
        contact(
            body_a='"block"', body_b='"top"', point=f"[{0.1 * x}, {0.1 * y}, -0.2]", name=f'"pad {x} {y}"'
        )
        for x, y in corners
    ]
    read = mb.load(scene(tmp_path, TABLE + "".join(legs + on_top)))
    assert [c.name for c in read.contacts[:4]] == [f"contact top {k}" for k in (1, 2, 3, 4)]
    assert (read.contacts[4].name, read.contacts[4].body, read.contacts[4].on) == ("pad 1 1", "block", "top")
    assert np.allclose(read.contacts[0].point, [1, 1, -0.5]) and read.contacts[0].mu == 0.5
    result = mb.reactions(read)
    assert result["contact top 1"]["cn"].upper == pytest.approx(11 * 9.81 / 2)
    assert result["pad 1 1"]["cn"].upper == pytest.approx(9.81 / 2)
    assert not read.mechanism.contacts


def test_a_scene_with_contacts_is_written_with_them(tmp_path):
    read = mb.load(
        scene(tmp_path, TABLE + contact(name='"foot"') + contact(body_a='"block"', body_b='"top"', mu="0.1"))
    )
    written = scene_text(read)
    assert not any("contact" in loss.text for loss in written.losses)
    again = mb.load(scene(tmp_path, written.text))
    for a, b in zip(read.contacts, again.contacts, strict=True):
        assert (a.name, a.body, a.on, a.mu) == (b.name, b.body, b.on, b.mu)
        assert np.allclose(a.point, b.point) and np.allclose(a.normal, b.normal)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"mu": ""}, "mu"),
        ({"mu": "-0.1"}, "at least 0"),
        ({"mu": "1000.0"}, "at most 100"),
        ({"normal": ""}, "normal"),
        ({"normal": "[0.0, 0.0, 3.0]"}, "length 3"),
        ({"normal": "[0.0, 0.0]"}, "normal"),
        ({"point": ""}, "point"),
        ({"body_a": '"tup"'}, "top"),
        ({"body_a": '"world"'}, "pushes the ground"),
        ({"body_b": '"top"'}, "itself"),
        ({"body_b": '"floor"'}, "floor"),
        ({"name": '"taken"'}, "taken"),
        ({"frction": "0.3"}, "frction"),
    ],
)
def test_a_wrong_table_is_one_sentence_with_its_line(tmp_path, changed, words):
    first = contact(name='"taken"')
    path = scene(tmp_path, TABLE + first + contact(**changed))
    with pytest.raises(MbPluginError, match=words) as caught:
        mb.load(path)
    said = str(caught.value)
    line = 1 + (TABLE + first).count("\n")
    numbers = [int(part) for part in said.replace(":", " ").split() if part.isdigit()]
    assert "\n" not in said and any(line <= number <= line + 6 for number in numbers)


@pytest.mark.long
def test_too_many_tables_are_refused(tmp_path):
    text = TABLE + contact() * (MOST_CONTACTS + 1)
    with pytest.raises(MbPluginError, match=f"{MOST_CONTACTS + 1} .*contact.* tables"):
        mb.load(scene(tmp_path, text))
