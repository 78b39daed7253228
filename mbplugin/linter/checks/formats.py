"""The format that a scene was read from, where rules depend on what it can state."""

from __future__ import annotations

from mbplugin.errors import MbPluginError
from mbplugin.model.scene import Scene
from mbplugin.readers import format_name

#: Formats whose files state no joint positions: loops are given at zero, closed or not.
WITHOUT_POSE = ("urdf", "xacro")


def format_of(scene: Scene) -> str:
    """Return ``urdf``, ``xacro``, ``sdf``, ``mjcf``, ``usd`` or ``scene``; empty for a live client."""
    if scene.request is None:
        return ""
    try:
        return format_name(scene.request)
    # the file was there when it was read
    except MbPluginError:
        return ""
