"""200 defects and more in 20 files and more of all formats: each is mended, and every other byte stays."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

import mbplugin as mb
from planted_text import PlantedText, corpus

SEED = 4
CORPUS = corpus(SEED)
#: Rules that find what is planted.
PLANTED = {
    "MB108",
    "MB113",
    "MB114",
    "MB116",
    "MB120",
    "MB122",
    "MB124",
    "MB125",
    "MB126",
    "MB136",
    "MB147",
    "MB150",
    "MB205",
}
PLANTED |= {"MB501", "MB904", "MB908"}
NEEDS = {".usda": "pxr", ".xml": "mujoco", ".xacro": "xacro"}


def test_the_corpus_is_large() -> None:
    assert len(CORPUS) >= 20
    assert sum(file.count for file in CORPUS) >= 200
    assert {Path(file.name).suffix for file in CORPUS} == {
        ".urdf",
        ".xacro",
        ".sdf",
        ".toml",
        ".usda",
        ".xml",
    }


@pytest.mark.long_after(1)
@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.name)
def test_each_defect_is_mended_and_every_other_byte_stays(file: PlantedText, tmp_path: Path) -> None:
    needed = NEEDS.get(Path(file.name).suffix)
    if needed and find_spec(needed) is None:
        pytest.skip(f"needs {needed}")
    path = tmp_path / file.name
    path.write_bytes(file.before)
    found = {finding.code for finding in mb.lint(path).findings}
    assert found & PLANTED
    report = mb.fix(path, unsafe=file.unsafe, select=sorted(PLANTED | {"MB202"} if file.unsafe else PLANTED))
    assert path.read_bytes() == file.after
    assert not report.unmended
    # notes on actuators of MJCF and the like are not about a misspelt word
    findings = [one for one in mb.lint(path).findings if (one.code, one.severity) != ("MB113", "note")]
    assert not {finding.code for finding in findings} & PLANTED
    # what was added, MB2xx and the like, is what the defects hid
    assert len(report.mended) > 0


@pytest.mark.long_after(2)
@pytest.mark.parametrize("file", [f for f in CORPUS if f.unsafe], ids=lambda file: file.name)
def test_unsafe_defects_stay_without_the_option(file: PlantedText, tmp_path: Path) -> None:
    if (needed := NEEDS.get(Path(file.name).suffix)) and find_spec(needed) is None:
        pytest.skip(f"needs {needed}")
    path = tmp_path / file.name
    path.write_bytes(file.before)
    report = mb.fix(path)
    assert all(f.fix is not None and f.fix.applicability == "safe" for f in report.mended)
    assert path.read_bytes() != file.after
