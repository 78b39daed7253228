"""Stopping distances of two arms computed from their URDF, beside those that their maker publishes.

The maker states, for category 0 at full speed, extension and payload, how long each of the first three
joints takes to stop and how far it goes. A URDF holds no brake. So the delay is fixed at a stated value;
the row of joint 1, which gravity does not touch, gives the dry and the viscous torque of its brake; both
are scaled to joints 2 and 3 by their effort limits. What comes out for these two is a prediction.

Needs the extra ``robots``. Computed, not measured.
"""

from __future__ import annotations

import importlib.metadata
from math import log, radians
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import mbplugin as mb
from mbplugin.model.scene import Brake, Payload, Scene
from mbplugin.stopping.compiled.batch import CompiledStop
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.table.extension import ExtensionPoses

SPEED = radians(183)
DELAY = 0.015
AXES = ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint")
#: rad and s of joints 1, 2, 3, and the rated payload, kg.
PUBLISHED = {
    "ur5": (((0.31, 0.244), (0.70, 0.530), (0.22, 0.164)), 5.0),
    "ur3": (((0.18, 0.159), (0.20, 0.154), (0.15, 0.092)), 3.0),
}


def load(robot: str) -> Scene:
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        print("the arms are in the extra robots: pip install 'mbplugin[robots]'")
        raise SystemExit(0) from None
    found = next(f for f in files if f.name == f"{robot}_robot.urdf")
    return mb.load(Path(str(found.locate())), base="fixed")


def inertia_of_joint_1(scene: Scene, payload: float) -> float:
    """kg·m², stretched out, with the payload at the tool."""
    machine = CompiledStop(make_scenario(scene))
    machine.set_payloads((Payload("tool0", payload, np.zeros(3), np.zeros((3, 3))),))
    return float(machine.inertias(ExtensionPoses(machine, AXES).pose(AXES[0], 1.0).q)[0])


def fitted(inertia: float, angle: float, time: float) -> tuple[float, float]:
    """Dry and viscous torque, N·m and N·m·s/rad, with which I ω̇ = −τ − c ω stops so far and so late."""
    t, way = time - DELAY, angle - SPEED * DELAY

    def miss(decay: float) -> float:
        # τ/I from the time, then the angle that follows
        dry = SPEED * decay / np.expm1(decay * t)
        return (SPEED - dry * log(1 + decay * SPEED / dry) / decay) / decay - way

    decay = brentq(miss, 1e-6, 400.0)
    return inertia * SPEED * decay / np.expm1(decay * t), inertia * decay


def brakes_of(scene: Scene, robot: str) -> tuple[float, list[Brake]]:
    """Inertia about joint 1, kg·m², and the brakes that its published row suggests."""
    rows, payload = PUBLISHED[robot]
    inertia = inertia_of_joint_1(scene, payload)
    dry, viscous = fitted(inertia, *rows[0])
    effort = {name: scene.mechanism.pair_by_name[name].freedoms[0].effort for name in AXES}
    scale = {name: effort[name] / effort[AXES[0]] for name in AXES}
    brakes = [
        Brake(name, dry * scale[name], viscous=viscous * scale[name], delay=DELAY, static_torque=1e4)
        for name in AXES
    ]
    return inertia, brakes


def computed(robot: str) -> list[str]:
    """What becomes of joints 1, 2, 3."""
    scene = load(robot)
    inertia, brakes = brakes_of(scene, robot)
    print(
        f"{robot}: {inertia:.2f} kg·m² about joint 1;"
        f" its brake {brakes[0].torque:.1f} N·m + {brakes[0].viscous:.1f} N·m·s/rad"
    )
    speeds = dict.fromkeys(AXES, SPEED)
    payload = PUBLISHED[robot][1]
    table = mb.stopping_table(scene, payload=payload, speeds=speeds, categories=[0], brakes=brakes)
    return [
        f"{row['distance']:.2f} rad, {1e3 * row['time']:.0f} ms"
        if row["outcome"] == "stopped"
        else "does not stop"
        for row in table.rows
    ]


def main() -> None:
    print(f"delay {1e3 * DELAY:g} ms (stated), {np.degrees(SPEED):.0f} °/s, computed, not measured")
    for robot, (rows, _) in PUBLISHED.items():
        told = computed(robot)
        print("  joint                published        computed")
        for name, (angle, time), text in zip(AXES, rows, told, strict=True):
            print(f"  {name:<20} {angle:.2f} rad, {1e3 * time:.0f} ms  {text}")
    print("does not stop: gravity is stronger than such a brake")


if __name__ == "__main__":
    main()
