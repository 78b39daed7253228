"""A palletiser: an arm whose elbow motor sits at the shoulder and moves the forearm by a parallelogram.

Base, turret (about z), upper arm and lever (both about y at the shoulder, motorised), link and forearm; the
link closes the parallelogram. A tie rod on the turret keeps the hand level by a second parallelogram.
"""

from __future__ import annotations

from pathlib import Path

#: (body, mass, centre of mass along x)
_LINKS = {"turret": (30.0, 0.0), "upper": (12.0, 0.4), "lever": (4.0, -0.1), "link": (3.0, 0.4)}
_EFFORT = {"swing": 200.0, "shoulder": 600.0, "elbow": 400.0}


def _link(name: str, mass: float, x: float) -> str:
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><origin xyz="{x} 0 0"/>'
        f'<inertia ixx="0.2" iyy="0.4" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def _joint(name: str, parent: str, child: str, xyz: str, limits: str = "", axis: str = "0 1 0") -> str:
    kind = "revolute" if limits else "continuous"
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>{limits}</joint>'
    )


def _motor(joint: str) -> str:
    return f'<limit lower="-2" upper="2" effort="{_EFFORT[joint]:g}" velocity="3"/>'


def urdf(extra: str = "", passive: str = "") -> str:
    """The open chain; ``passive`` is the ``<limit>`` of the two joints without a motor."""
    links = "".join(_link(name, mass, x) for name, (mass, x) in _LINKS.items())
    return (
        '<robot name="palletiser"><link name="world"/>'
        + links
        + _link("forearm", 8.0, 0.5)
        + _joint("swing", "world", "turret", "0 0 0.5", _motor("swing"), "0 0 1")
        + _joint("shoulder", "turret", "upper", "0.1 0 0", _motor("shoulder"))
        + _joint("elbow", "turret", "lever", "0.1 0 0", _motor("elbow"))
        + _joint("wrist", "upper", "forearm", "0.8 0 0", passive)
        + _joint("pin", "lever", "link", "-0.3 0 0", passive)
        + extra
        + "</robot>"
    )


CLOSURE = (
    '[[closure]]\nname = "loop"\ntype = "revolute"\nbody_a = "link"\nbody_b = "forearm"\n'
    "xyz_a = [0.8, 0, 0]\nxyz_b = [-0.3, 0, 0]\naxis = [0, 1, 0]\n"
)


def write(folder: Path, extra: str = "", scene: str = "", passive: str = "") -> Path:
    """Write the URDF and a scene that closes it; return the scene."""
    (folder / "palletiser.urdf").write_text(urdf(extra, passive))
    file = folder / "palletiser.scene.toml"
    state = "[state.q]\nshoulder = -0.6\nelbow = 0.4\nwrist = 1.0\npin = -1.0\n\n"
    file.write_text(f'{state}[[model]]\nfile = "palletiser.urdf"\n\n{CLOSURE}\n{scene}')
    return file
