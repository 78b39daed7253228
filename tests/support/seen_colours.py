"""How many pixels have the hue of a verdict, however they are lit."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbplugin.report.picture import PALETTE


def near(image: Any, key: str, alpha: float = 1.0) -> int:
    """Return how many pixels of a picture (``PIL.Image``) have a colour of the palette, lit or shaded.

    With an alpha below one it is the colour before white.
    """
    pixels = np.asarray(image.convert("RGB"), dtype=float).reshape(-1, 3)
    brightness = np.linalg.norm(pixels, axis=1)
    colour = alpha * np.array(PALETTE[key].rgba[:3]) + 1 - alpha
    aligned = pixels @ (colour / np.linalg.norm(colour)) / np.maximum(brightness, 1.0)
    return int(((aligned > np.cos(np.radians(3.0))) & (brightness > 60)).sum())
