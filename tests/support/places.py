"""Where the files of the repository are."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "assets"
TESTS = ROOT / "tests"
ORACLES = TESTS / "oracles"
