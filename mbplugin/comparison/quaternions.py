"""Orientations that a URDF states as quaternions, which PyBullet does not read."""

from __future__ import annotations

from mbplugin.model.scene import Scene


def ignored_quaternions(scene: Scene | None) -> tuple[str, ...]:
    """Return a note on the ``quat_xyzw`` of a scene's joints and inertias, nothing where there are none."""
    found = [
        (name, at) for (_, name, part), at in (scene.origin if scene else {}).items() if part == "quat_xyzw"
    ]
    if not found:
        return ()
    name, at = found[0]
    more = f" and of {len(found) - 1} more elements" if len(found) > 1 else ""
    return (
        f"PyBullet ignores the quat_xyzw of {name!r} ({at}){more} and takes its orientation as zero;"
        " write rpy for a model that both read alike",
    )
