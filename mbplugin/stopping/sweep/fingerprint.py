"""What tells one sweep from another: the checksum of all values that its stops depend on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum

import numpy as np


def fingerprint_of(*values: object) -> str:
    """Return the checksum of values: numbers, texts, arrays, and dataclasses, mappings and sequences of these."""
    total = hashlib.sha256()
    for value in values:
        total.update(_told(value).encode())
    return total.hexdigest()[:16]


def _told(value: object) -> str:
    """Return a text that is the same in every process, and another for another value."""
    if isinstance(value, np.ndarray):
        return f"array{value.shape}{value.tolist()}"
    if isinstance(value, Enum):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        own = ",".join(f"{field.name}={_told(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__qualname__}({own})"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key!r}:{_told(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, (tuple, list)):
        return f"[{','.join(map(_told, value))}]"
    if callable(value):
        return f"{value.__module__}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    return repr(value)
