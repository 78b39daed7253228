"""A live client for the tests of this room."""

from __future__ import annotations

from pathlib import Path

import pytest

from live_clients import client

__all__ = ["client"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("bullet")
