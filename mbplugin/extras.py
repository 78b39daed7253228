"""The optional packages, and the commands that install them.

Messages name the packages themselves: that works from every index, while the name of this package need not be ours
there.
"""

from __future__ import annotations

#: What ``pip`` installs for each extra; the versions are in pyproject.toml, which has the same names.
PACKAGES: dict[str, tuple[str, ...]] = {
    "bullet": ("pybullet",),
    "usd": ("usd-core",),
    "frames": ("pandas",),
    "mjcf": ("mujoco",),
    "yaml": ("PyYAML",),
    "xacro": ("xacro",),
    "plot": ("matplotlib",),
    "browser": ("playwright",),
    "server": ("pygls",),
    "xlsx": ("openpyxl",),
    "pinocchio": ("pin",),
    "view": ("Pillow", "imageio", "imageio-ffmpeg"),
    "sweep": ("joblib", "pyarrow"),
    "dask": ("joblib", "pyarrow", "dask[distributed]"),
    "ray": ("joblib", "pyarrow", "ray"),
    "zones": ("shapely", "ezdxf"),
    "validator": ("usd-validation-nvidia", "usd-core"),
}


def install_command(extra: str, *, upgrade: bool = False) -> str:
    """Return the command that installs the packages of an extra, as one types it in a shell."""
    return command_for(PACKAGES[extra], upgrade=upgrade)


def command_for(packages: tuple[str, ...], *, upgrade: bool = False) -> str:
    """Return the command that installs packages."""
    words = [f"'{name}'" if "[" in name else name for name in packages]
    return " ".join(("python -m pip install", *(("--upgrade",) * upgrade), *words))
