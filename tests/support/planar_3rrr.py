"""A planar 3RRR as files: a platform on three legs, with friction in more joints than it has freedoms.

It has three freedoms. Friction acts in its three motors, its three elbows and one joint of the platform, so
that at rest seven torques share what three equations say.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mbplugin.model.spatial import Array

#: Distances of the motors and of the platform's joints from their centres, and lengths of the links, m.
MOTORS, PLATFORM, UPPER, FORE = 0.4, 0.1, 0.25, 0.28
_AT = np.radians([90.0, 210.0, 330.0])

_LINK = """<link name="{name}"><inertial><origin xyz="{x} {y} 0"/><mass value="{mass}"/>
<inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>
"""
_JOINT = """<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{x} {y} 0"/><axis xyz="0 0 1"/><dynamics damping="0" friction="{friction}"/></joint>
"""
_CLOSURE = """[[closure]]
name = "tip{k}"
type = "{type}"
body_a = "fore{k}"
body_b = "platform"
xyz_a = [{fore}, 0, 0]
xyz_b = [{x}, {y}, 0]
axis = [0, 0, 1]
"""


def written(
    folder: Path,
    *,
    motors: float,
    elbows: float,
    tip: float,
    closure: str = "point-on-line",
    centre: tuple[float, float, float] = (0.02, -0.03, 0.15),
    gravity: str = "[0, -9.81, 0]",
) -> Path:
    """Write URDF and scene into a folder and return the scene's path.

    Parameters
    ----------
    motors, elbows, tip : float
        Dry friction of each motor, each elbow, and the platform's joint with the first leg, N·m.
    closure : str
        Type of the other two joints of the platform.
    centre : tuple of 3 floats
        Where the platform stands: x and y of its centre, m, and its turn, rad.
    """
    corner = PLATFORM * np.column_stack((np.cos(_AT), np.sin(_AT)))
    # the frame of the platform is at its corner with the first leg
    x, y = (-corner[0]).tolist()
    parts = [_LINK.format(name="platform", x=x, y=y, mass=0.8, i=0.004)]
    values, closures = {}, []
    for k in range(3):
        parts.append(_LINK.format(name=f"upper{k}", x=UPPER / 2, y=0.0, mass=0.6, i=0.004))
        parts.append(_LINK.format(name=f"fore{k}", x=FORE / 2, y=0.0, mass=0.4, i=0.003))
        x, y = (MOTORS * np.array([np.cos(_AT[k]), np.sin(_AT[k])])).tolist()
        parts.append(
            _JOINT.format(name=f"motor{k}", parent="ground", child=f"upper{k}", x=x, y=y, friction=motors)
        )
        parts.append(
            _JOINT.format(
                name=f"elbow{k}", parent=f"upper{k}", child=f"fore{k}", x=UPPER, y=0.0, friction=elbows
            )
        )
        values[f"motor{k}"], values[f"elbow{k}"] = _leg(np.array([x, y]), _tip(corner[k], centre))
        x, y = (corner[k] - corner[0]).tolist()
        closures.append(_CLOSURE.format(k=k, type=closure, fore=FORE, x=x, y=y))
    values["tip0"] = centre[2] - values["motor0"] - values["elbow0"]
    parts.append(_JOINT.format(name="tip0", parent="fore0", child="platform", x=FORE, y=0.0, friction=tip))
    urdf = f'<robot name="3rrr"><link name="ground"/>{"".join(parts)}</robot>'
    (folder / "planar_3rrr.urdf").write_text(urdf, encoding="utf-8")
    state = "\n".join(f"{name} = {float(value)!r}" for name, value in values.items())
    path = folder / "planar_3rrr.scene.toml"
    path.write_text(
        f'gravity = {gravity}\n[[model]]\nfile = "planar_3rrr.urdf"\nbase = "fixed"\n'
        f"[state.q]\n{state}\n{''.join(closures[1:])}",
        encoding="utf-8",
    )
    return path


def _tip(corner: Array, centre: tuple[float, float, float]) -> Array:
    c, s = np.cos(centre[2]), np.sin(centre[2])
    return np.array([centre[0], centre[1]]) + np.array([[c, -s], [s, c]]) @ corner


def _leg(motor: Array, tip: Array) -> tuple[float, float]:
    """Return motor and elbow angles of a leg between two points, its elbow to the right, rad."""
    x, y = tip - motor
    cosine = (x**2 + y**2 - UPPER**2 - FORE**2) / (2 * UPPER * FORE)
    elbow = np.arccos(cosine)
    motor_angle = np.arctan2(y, x) - np.arctan2(FORE * np.sin(elbow), UPPER + FORE * np.cos(elbow))
    return float(motor_angle), float(elbow)
