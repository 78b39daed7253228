"""A live client for the tests of this room."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from live_clients import client

__all__ = ["client"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    folder = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(folder):
            item.add_marker("bullet")
