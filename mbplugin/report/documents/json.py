"""JSON text: values made of what JSON knows."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def dumps(document: Any) -> str:
    """Return strict JSON text: numbers that are not finite become null, and zero has no sign."""
    return json.dumps(plain(document), indent=2, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """Return a value made of what JSON knows; numpy scalars and arrays included."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        if value.dtype.kind in "bif" and np.isfinite(value).all():
            return (value + 0.0 if value.dtype.kind == "f" else value).tolist()
        value = value.tolist()
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Sequence | set | frozenset):
        return [plain(item) for item in value]
    return str(value)
