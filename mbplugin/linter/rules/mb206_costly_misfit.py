"""A small misfit loads a loop more than is allowed.

What it does
------------
Compares ``[lint] misfit_limit`` of a scene, else ``misfit-limit`` of the configuration or ``--misfit-limit``, in N,
with the largest joint force that a misfit of 0.1 mm at a closing constraint causes in each loop, by stated or
estimated stiffness. Without this limit the rule is silent.

Why it matters
--------------
Parts are made and assembled to tolerances. Where a constraint is redundant, a tenth of a millimetre may load bearings
with forces of the size of the payload, or far above it.

Example
-------
``[lint] misfit_limit = 50`` for a door on three hinges of 1e6 N/m: 0.1 mm at the middle hinge presses 66.7 N into it.

Remedy
------
Use a weaker joint, as the remedies of ``mbplugin lint`` propose, or tighter tolerances, or a stiffness that is softer.

References
----------
docs/theory.md: B = S (Sᵀ F S)⁻¹ Sᵀ.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import listed, model_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.scene import Scene

if TYPE_CHECKING:
    from mbplugin.joint_reactions.misfit.loops import LoopMisfits
    from mbplugin.joint_reactions.misfit.values import MisfitEffect, MisfitLoad

SEVERITY: Severity = "warning"


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per loop that costs more than the stated limit."""
    limit = scene.options.misfit_limit
    if analysis is None or limit is None:
        return
    from mbplugin.joint_reactions.misfit.loops import loop_misfits

    for loop in loop_misfits(scene, analysis):
        forces = [
            (abs(load.value), effect, load)
            for effect in loop.effects
            if effect.step.unit == "m"
            for load in effect.loads
            if load.unit == "N"
        ]
        if forces and max(force for force, *_ in forces) > limit:
            # equal ones stay in the order of the effects, whatever their rounding
            _, effect, load = max(forces, key=lambda one: float(f"{one[0]:.9g}"))
            yield _finding(scene, loop, effect, load, limit)


def _finding(
    scene: Scene, loop: LoopMisfits, effect: MisfitEffect, load: MisfitLoad, limit: float
) -> Finding:
    misfit = f"{effect.step} at {effect.constraint} {effect.component}"
    lacking = (*effect.missing.bodies, *effect.missing.pairs)
    if effect.infinite:
        message = f"no compliance limits the load of {load.constraint} by {misfit}"
        help = f"state a stiffness of {listed(lacking)}"
    else:
        message = f"{misfit} loads {load.constraint} {load.component} with {abs(load.value):.4g} N"
        message += f" ({load.source} stiffness)"
        help = "use a weaker joint, a tighter tolerance or a softer part, or state a higher misfit_limit"
    return make_finding(
        __name__,
        SEVERITY,
        f"{message}, where {limit:g} N are allowed in the loop of {listed(loop.constraints)}",
        element=effect.constraint,
        origin=model_place(scene, "misfit_limit"),
        evidence={
            "constraint": effect.constraint,
            "component": effect.component,
            "misfit_m": effect.step.size,
            "loaded": load.constraint,
            "force_N": None if effect.infinite else abs(load.value),
            "limit_N": limit,
            "source": load.source,
            "missing": list(lacking),
        },
        help=help,
    )
