"""Files beside a model that options name: recorded motions, stops, earlier lints."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

from .dice import Dice
from .sketch import Sketch


def motion_csv(mechanism: Sketch, dice: Dice) -> bytes:
    """Return a recorded motion as text."""
    columns = [dice.any(("time", "time", "t", "time [s]")), *(dice.name([name]) for name in mechanism.names)]
    rows = [",".join(columns).replace("\n", " ")]
    for k in range(dice.any((2, 3, 5, 5, 1, 0))):
        rows.append(",".join([dice.number(0.01 * k), *(dice.number(0.01 * k * k) for _ in mechanism.names)]))
    if dice.odd():
        rows.append(dice.any((rows[-1], "", "1,2", ",,,", "x" * 1000)))
    return "\n".join(rows).encode()


def motion_npz(mechanism: Sketch, dice: Dice) -> bytes:
    """Return a recorded motion as arrays."""
    number = dice.any((2, 3, 5))
    arrays = {
        "time": np.linspace(0, dice.any((0.01, 0.1, 0.0)), number),
        "q": np.zeros((number, len(mechanism.names))),
        "q_names": np.array(mechanism.names or ["j"]),
        "qd": np.zeros((number, len(mechanism.names))),
        "qd_names": np.array(mechanism.names or ["j"]),
    }
    if dice.odd(2):
        key = dice.any(tuple(arrays))
        arrays[key] = dice.any(
            (np.array(np.nan), np.zeros(0), np.array(["x"]), arrays[key][:-1], np.full((2, 2, 2), np.inf))
        )
    if dice.odd():
        arrays.pop(dice.any(tuple(arrays)))
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    data = buffer.getvalue()
    return data[: dice.randrange(len(data))] if dice.odd() else data


def stop_json(dice: Dice) -> bytes:
    """Return the document of a stop, or of a table, with what a distance takes from it."""
    row = {"joint": "j1", "time": 0.2, "rest_time": 0.3, "tool_distance": 0.1, "outcome": "stopped"}
    row |= {"category": 0, "speed_percent": 100, "extension_percent": 100, "payload_percent": 100}
    document: dict[str, Any] = {
        "schema_version": 1,
        "model": {"name": "m", "files": []},
        "category": 0,
        "outcome": dice.any(("stopped", "stopped", "limit_hit", "x")),
        "time": dice.any((0.3, 0.0, -1.0, "x", None)),
        "tool": {"name": "b1", "distance": 0.2, "speed": 1.0},
        "assumed": ["a"],
        "assumptions": ["a"],
        "notes": [],
    }
    if dice.odd(5):
        document["rows"] = [row, {**row, "rest_time": dice.any((1e308, 0.1, "x"))}]
    if dice.odd():
        document.pop(dice.any(tuple(document)))
    text = json.dumps(document)
    return text[: dice.randrange(len(text))].encode() if dice.odd() else text.encode()


def baseline(dice: Dice) -> bytes:
    """Return the JSON of an earlier lint, or nearly."""
    finding = {
        "code": "MB104",
        "element": "b1",
        "file": "model.urdf",
        "line": 3,
        "message": dice.name(["m"]),
        "severity": "note",
    }
    if dice.odd():
        finding.pop(dice.any(tuple(finding)))
    document = {"schema_version": dice.any((1, 1, 1, 2)), "findings": [finding]}
    text = json.dumps(dice.any((document, {"schema_version": 1, "runs": [document]})))
    if dice.odd(2):
        text = dice.any(
            (
                "",
                "[]",
                "null",
                "{}",
                '{"runs": 1}',
                '{"findings": [1]}',
                text[:20],
                "[" * 3000,
                "NaN",
                '{"findings": {}}',
            )
        )
    return text.encode()
