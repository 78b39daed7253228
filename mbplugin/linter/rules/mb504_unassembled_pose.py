"""The pose of the file does not close its loops.

What it does
------------
Compares the gaps of all closures and couplings at the pose of the file with those at the computed closed pose.
A gap above 1e-3 of the mechanism's characteristic length is an error, one above 1e-6 a warning. It is a note
for URDF and xacro, which state no joint positions, and for a mimic with an offset in SDF; and if coordinates
were given and kept, and only others moved: this is the usual way to set a pose.

Why it matters
--------------
An engine that starts there closes the loop with an impact, and the rank at a pose that is not
assembled is not valid.

Example
-------
A scene with a delta robot whose joints are all at zero, with its feet 0.2 m apart.

Remedy
------
Store the closed pose in ``[state]`` of a scene, which ``mbplugin lint FILE --write-scene SCENE`` writes, or pass
it with ``--q``.

References
----------
wojtyra2013 (1): the constraint equations hold at an assembled pose.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.constraints.assembly import constraints_to_close
from mbplugin.constraints.assembly.closure import coupling_metres
from mbplugin.constraints.assembly.loops import Paths
from mbplugin.constraints.assembly.result import Assembly
from mbplugin.linter.checks.formats import WITHOUT_POSE, format_of
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.component import units_of
from mbplugin.model.mechanism.coupling import Coupling
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
    coupling = next((c for c in scene.mechanism.couplings if c.name == name), None)
    format_ = format_of(scene)
    poseless = format_ in WITHOUT_POSE or (format_ == "sdf" and coupling is not None)
    severity: Severity = "error" if gap > _ERROR * assembly.length else "warning"
    if poseless or _asked_for(scene, analysis):
        severity = "note"
    pose = "the zero pose" if poseless and not scene.state.given else "the pose of the file"
    yield make_finding(
        __name__,
        severity,
        f"{pose} leaves {name!r} open by {_opening(coupling, name, assembly)} when "
        f"{_largest_move(scene, analysis, name)}",
        element=name,
        origin=constraint_place(scene, name),
        evidence={
            "gap_file_m": gap,
            "gap_closed_m": left,
            "characteristic_length_m": assembly.length,
            "moved_rad_or_m": float(np.abs(analysis.q - scene.state.q).max(initial=0.0)),
            "q": dict(zip(scene.mechanism.q_names, analysis.q.tolist(), strict=True)),
        },
        help=_help(format_),
    )


def _help(format_: str) -> str:
    if format_ in ("scene", ""):
        return "store the closed pose (evidence q) in [state] of the scene"
    return "write a scene with the closed pose: mbplugin lint FILE --write-scene FILE.scene.toml"


def _opening(coupling: Coupling | None, name: str, assembly: Assembly) -> str:
    """Return the gap of a constraint with its unit: rad of a rotation, that of the following joint for a coupling.

    Residuals are in m, those of rotations times ``length``.
    """
    gap, left, length = assembly.residual_file[name], assembly.residual[name], assembly.length
    if coupling is None:
        if name in assembly.turned_file:
            return f"{gap / length:.3g} rad, and closes to {left / length:.1g} rad"
        return f"{gap:.3g} m, and closes to {left:.1g} m"
    follower = coupling.terms[0]
    value = gap / (coupling_metres(coupling, length) * abs(follower.coefficient))
    return f"{value:.3g} {units_of(follower.freedom).coordinate}, and closes"


def _asked_for(scene: Scene, analysis: Analysis) -> bool:
    """Return whether some coordinates were given, and all of them kept."""
    names = scene.mechanism.q_names
    given = [k for k, name in enumerate(names) if name in scene.state.given]
    return bool(given) and bool(np.allclose(analysis.q[given], scene.state.q[given], atol=1e-12))


def _largest_move(scene: Scene, analysis: Analysis, name: str) -> str:
    """Return which coordinate that moves a constraint moves most, and by how much, with its unit where it has one."""
    mech = scene.mechanism
    move = np.abs(analysis.q - scene.state.q)
    constraint = next(c for c in constraints_to_close(mech) if c.name == name)
    own = [mech.tree.joints[k].q for k in sorted(Paths(mech).of(constraint))]
    k = max((k for q in own for k in range(q.start, q.stop)), key=lambda k: move[k])
    joint = next(j for j in mech.tree.joints if j.q.start <= k < j.q.stop)
    single = joint.pair is not None and len(joint.pair.kind.free) == 1
    unit = "" if not single or joint.pair is None else f" {units_of(joint.pair.kind.free[0]).coordinate}"
    return f"{mech.q_names[k]} moves by {move[k]:.3g}{unit}"
