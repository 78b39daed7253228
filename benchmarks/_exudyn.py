"""A tree of revolute joints as an Exudyn kinematic tree."""

from __future__ import annotations

import sys
from typing import Any

sys.exudynFast = True  # type: ignore[attr-defined]  # its build without range checks

from mbplugin.dynamics.kernels.composite_bodies import find_composites  # noqa: E402
from mbplugin.model.mechanism import Mechanism  # noqa: E402
from mbplugin.model.spatial import Array  # noqa: E402


def kinematic_tree(mech: Mechanism, q: Array) -> tuple[Any, Any]:
    """Return an assembled system that starts at rest at q, and its node."""
    import exudyn as exu
    from exudyn.itemInterface import NodeGenericODE2, ObjectKinematicTree

    composites = find_composites(mech).composites
    container = exu.SystemContainer()
    system = container.AddSystem()
    node = system.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0.0] * len(q),
            initialCoordinates=list(map(float, q)),
            initialCoordinates_t=[0.0] * len(q),
            numberOfODE2Coordinates=len(q),
        )
    )
    system.AddObject(
        ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[exu.JointType.RevoluteZ] * len(q),
            linkParents=[s.parent - 1 for s in composites],
            jointTransformations=exu.Matrix3DList([s.X_in.R for s in composites]),
            jointOffsets=exu.Vector3DList([s.X_in.p for s in composites]),
            linkInertiasCOM=exu.Matrix3DList([s.I_C for s in composites]),
            linkCOMs=exu.Vector3DList([s.p_KC for s in composites]),
            linkMasses=[float(s.mass) for s in composites],
            baseOffset=[0.0, 0.0, 0.0],
            gravity=list(map(float, mech.gravity)),
        )
    )
    system.Assemble()
    _KEEP.append(container)
    return system, node


#: A system dies with its container.
_KEEP: list[Any] = []


def settings(duration: float, step: float, tolerance: float | None = None) -> Any:
    """Return settings for a fixed step, or for an adaptive one with a tolerance."""
    import exudyn as exu

    out = exu.SimulationSettings()
    out.timeIntegration.numberOfSteps = round(duration / step)
    out.timeIntegration.endTime = duration
    out.timeIntegration.verboseMode = 0
    out.solutionSettings.writeSolutionToFile = False
    out.solutionSettings.sensorsWritePeriod = 1e9
    out.displayComputationTime = False
    out.parallel.numberOfThreads = 1
    if tolerance is not None:
        out.timeIntegration.automaticStepSize = True
        out.timeIntegration.relativeTolerance = tolerance
        out.timeIntegration.absoluteTolerance = tolerance
    return out
