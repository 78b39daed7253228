"""A live client for the tests of this room."""

from __future__ import annotations

from live_clients import client

__all__ = ["client"]
