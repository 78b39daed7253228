"""Look-ups in the file system are kept for one run, and no longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from mbplugin.linter.run import lint
from mbplugin.model.scene import Request
from mbplugin.readers import paths
from mbplugin.readers.paths import lookups_kept

MESH = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
ROBOT = "<robot name='r'><link name='a'>{}</link></robot>"


def test_a_file_is_looked_up_once_in_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.stl").write_text("solid")
    request, asked = Request(str(tmp_path / "r.urdf")), []
    monkeypatch.setattr(paths, "is_file", lambda path: asked.append(path) or path.is_file())
    with lookups_kept():
        found = [paths.find("a.stl", request) for _ in range(3)]
        assert paths.find("a.stl", Request(str(tmp_path / "other" / "r.urdf"))) is None
    assert found == [str(tmp_path / "a.stl")] * 3 and asked.count(tmp_path / "a.stl") == 1
    paths.find("a.stl", request)
    assert asked.count(tmp_path / "a.stl") == 2


def test_the_next_run_sees_what_has_changed(tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    file.write_text(ROBOT.format(MESH.format("a.obj")))
    first = lint(str(file))
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    second = lint(str(file))
    assert "MB131" in {f.code for f in first.findings} and "MB131" not in {f.code for f in second.findings}
