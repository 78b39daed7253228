"""Whether a distribution announces rules is seen without reading all metadata."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from mbplugin.processes.foreign import rules_are_announced

TEXT = "[mbplugin.rules]\nACME101 = acme:Rule\n"


@pytest.mark.parametrize("made", ["dist-info", "egg-info", "archive", "other group", "nothing"])
def test_an_announcement_is_found(made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry, kind = tmp_path, "egg-info" if made == "egg-info" else "dist-info"
    text = TEXT if made != "other group" else TEXT.replace("mbplugin.", "acme.")
    if made == "archive":
        entry = tmp_path / "acme.zip"
        with zipfile.ZipFile(entry, "w") as archive:
            archive.writestr("acme-1.0.dist-info/entry_points.txt", text)
            archive.writestr("acme-1.0.dist-info/METADATA", "Name: acme\nVersion: 1.0\n")
    elif made != "nothing":
        folder = tmp_path / f"acme-1.0.{kind}"
        folder.mkdir()
        (folder / "entry_points.txt").write_text(text)
        (folder / "METADATA").write_text("Name: acme\nVersion: 1.0\n")
    monkeypatch.setattr(sys, "path", [str(entry)])
    rules_are_announced.cache_clear()
    try:
        assert rules_are_announced() is (made in ("dist-info", "egg-info", "archive"))
    finally:
        rules_are_announced.cache_clear()
