"""Folders of machine code that no process uses any more."""

from __future__ import annotations

import os
import time
from pathlib import Path

from mbplugin.files import remove_unused

DAY = 24 * 3600.0


def test_only_old_folders_of_machine_code_are_removed(tmp_path: Path) -> None:
    ages = {"0.60.0-0123456789abcdef": 40, "0.61.0-fedcba9876543210": 20, "meshes": 400, "notes": 400}
    for name, days in ages.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "code").write_text("x")
        os.utime(tmp_path / name, (time.time() - days * DAY,) * 2)
    own = tmp_path / "0.61.0-00000000000000aa"
    own.mkdir()
    os.utime(own, (0, 0))
    link = tmp_path / "0.59.0-0000000000000000"
    link.symlink_to(tmp_path / "notes")
    os.utime(link, (0, 0), follow_symlinks=False)
    remove_unused(own)
    assert {p.name for p in tmp_path.iterdir()} == {*ages, own.name, link.name} - {"0.60.0-0123456789abcdef"}
    assert (tmp_path / "notes" / "code").exists() and own.stat().st_mtime > time.time() - DAY
