"""All machine code of motions and stops, compiled by computing a small example of each."""

from __future__ import annotations

import numpy as np

from mbplugin.model.mechanism import Body, Mechanism, Pair
from mbplugin.model.scene import Brake
from mbplugin.model.spatial import Pose
from mbplugin.simulation.active_set.stick_slip import breaking_address
from mbplugin.simulation.run import simulate
from mbplugin.stopping.run import estop
from mbplugin.stopping.table.run import stopping_table


def compile_everything() -> None:
    """Compile what motions and stops call, or read it where it is kept; the variational integrator is left out."""
    rod = Body("rod", 1.0, np.array([0.5, 0.0, 0.0]), np.diag([0.01, 0.1, 0.1]))
    hinge = Pair("hinge", "revolute", "world", "rod", Pose.identity(), Pose.identity())
    mech = Mechanism("rod", (rod,), (hinge,))
    ring = Pair("ring", "revolute", "world", "rod", Pose.identity(), Pose.identity())
    simulate(Mechanism("rod", (rod,), (hinge, ring)), 0.01, qd={"hinge": 1.0}).reactions("hinge")
    estop(mech, qd={"hinge": 1.0}, brakes=[Brake("hinge", 20.0)])
    stopping_table(mech, speeds={"hinge": 1.0}, decelerations={"hinge": 2.0}, brakes=[Brake("hinge", 20.0)])
    breaking_address()
