"""The pose of the file does not close its loops.

What it does
------------
Compares the gaps of all closures at the pose of the file with those at the computed closed pose.
A gap above 1e-3 of the mechanism's characteristic length is an error, one above 1e-6 a warning. If
coordinates were given and kept, and only others moved, it is a note: this is the usual way to set a pose.

Why it matters
--------------
An engine that starts there closes the loop with an impact, and the rank at a pose that is not
assembled is not valid.

Example
-------
A delta robot whose URDF has all joints at zero, with its feet 0.2 m apart.

Remedy
------
Store the closed pose in the file, in ``[state]`` of a scene, or pass it with ``--q``.

References
----------
wojtyra2013 (1): the constraint equations hold at an assembled pose.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

SEVERITY: Severity = "error"
#: Gaps relative to the characteristic length.
_ERROR, _WARNING = 1e-3, 1e-6
#: What moving hardly improves is a misfit by rounding, and no pose would close it.
_IMPROVED = 0.5


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield at most one finding, at the widest gap."""
    if analysis is None or not analysis.assembly.residual_file:
        return
    assembly = analysis.assembly
    name = max(assembly.residual_file, key=lambda n: assembly.residual_file[n])
    gap, left = assembly.residual_file[name], assembly.residual[name]
    if gap <= _WARNING * assembly.length or left > _IMPROVED * gap:
        return
    severity: Severity = "error" if gap > _ERROR * assembly.length else "warning"
    if _asked_for(scene, analysis):
        severity = "note"
    coordinate, moved = _largest_move(scene, analysis)
    yield make_finding(
        __name__,
        severity,
        f"the pose of the file leaves {name!r} open by {gap:.3g} m; it was closed to {left:.2g} m, "
        f"moving {coordinate} by {moved:.3g}",
        element=name,
        origin=constraint_place(scene, name),
        evidence={
            "gap_file_m": gap,
            "gap_closed_m": left,
            "characteristic_length_m": assembly.length,
            "moved_rad_or_m": moved,
            "q": dict(zip(scene.mechanism.q_names, analysis.q.tolist(), strict=True)),
        },
        help="store the closed pose (evidence q) in the file or in [state] of a scene",
    )


def _asked_for(scene: Scene, analysis: Analysis) -> bool:
    """Return whether some coordinates were given, and all of them kept."""
    names = scene.mechanism.q_names
    given = [k for k, name in enumerate(names) if name in scene.state.given]
    return bool(given) and bool(np.allclose(analysis.q[given], scene.state.q[given], atol=1e-12))


def _largest_move(scene: Scene, analysis: Analysis) -> tuple[str, float]:
    move = np.abs(analysis.q - scene.state.q)
    k = int(move.argmax())
    return scene.mechanism.q_names[k], float(move[k])
