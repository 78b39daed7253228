"""The scene that states the closed pose of a model, whose own format states none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.files import seen_from
from mbplugin.linter.run import Report

#: What assembling moves less is rounding, rad or m.
_STILL = 1e-12


def closed_scene(report: Report, target: Path) -> str:
    """Return a scene file with the model of a report and its joint coordinates at the closed pose.

    Parameters
    ----------
    report : Report
        Of a URDF, xacro, SDF or MJCF file.
    target : Path
        Where the scene will be; the model is named relative to its folder.

    Raises
    ------
    BadUsage
        The report is of a scene, of stdin or of a client, or its loops were not closed.
    """
    scene, analysis = report.scene, report.analysis
    if not target.name.endswith(".toml"):
        raise BadUsage(f"--write-scene is {str(target)!r}", expected="a file with the ending .scene.toml")
    if scene is None or analysis is None:
        raise BadUsage("no closed pose was found, so no scene is written", where=report.source)
    request = scene.request
    if request is None or request.text is not None or request.path.endswith(".toml"):
        raise BadUsage(
            "--write-scene needs a model file",
            where=report.source,
            remedy="store the closed pose (evidence q in the JSON) in [state] of the scene",
        )
    # TOML strings are written as JSON strings are
    file = seen_from(target.absolute().parent, request.path)
    lines = ["[[model]]", f"file = {json.dumps(file)}"]
    if request.base is not None:
        lines.append(f'base = "{request.base}"')
    moved = np.abs(analysis.q - scene.state.q) > _STILL
    pose = [
        f"{json.dumps(name)} = {value!r}"
        for name, value, changed in zip(scene.mechanism.q_names, analysis.q.tolist(), moved, strict=True)
        if changed
    ]
    return "\n".join([*lines, *(["", "[state.q]", *pose] if pose else [])]) + "\n"
