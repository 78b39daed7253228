"""Fixes in MJCF, where damping and dry friction are attributes of the joint."""

from __future__ import annotations

from pathlib import Path

import pytest

import mbplugin as mb

MODEL = b"""<mujoco model="m">
\t<worldbody><body name="b"> <!-- kept -->
    <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>\r
    <joint name="k" axis="0 1 0"  damping="-0.5"\tfrictionloss="%s"/>
\t</body></worldbody>
</mujoco>"""


@pytest.mark.parametrize(("friction", "mended"), [(b"0.2", b"0.2"), (b"-0.2", b"0.2")])
def test_the_sign_of_a_damping_goes_and_every_other_byte_stays(
    tmp_path: Path, friction: bytes, mended: bytes
) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    file.write_bytes(MODEL % friction)
    report = mb.lint(file)
    assert [finding.code for finding in report.findings] == ["MB124"]
    mb.fix(file, unsafe=True)
    assert file.read_bytes() == (MODEL % mended).replace(b'damping="-0.5"', b'damping="0.5"')
    assert not mb.lint(file).findings


def test_without_unsafe_fixes_the_file_stays(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "m.xml"
    file.write_bytes(MODEL % b"0.2")
    mb.fix(file)
    assert file.read_bytes() == MODEL % b"0.2"
