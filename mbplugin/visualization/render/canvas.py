"""Words on a picture, which PyBullet's renderer cannot write: labels, legend, lines of text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from mbplugin.errors import MissingDependency
from mbplugin.phrases import shortened
from mbplugin.report.picture import LEGEND, Picture
from mbplugin.report.picture.palette import PALETTE
from mbplugin.visible import visible
from mbplugin.visualization.render.camera import Camera
from mbplugin.visualization.render.labels import LONGEST, labelled

#: Left, top, right, bottom, pixels.
Box = tuple[float, float, float, float]
_INK, _PALE = (35, 40, 48), (255, 255, 255)
#: Height of letters beside that of the picture, and the smallest one can read.
_LETTER, _SMALLEST = 0.024, 11


def pillow() -> SimpleNamespace:
    """Return the modules of Pillow that are used.

    Raises
    ------
    MissingDependency
        It is not installed.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise MissingDependency.of("a picture", "Pillow", "view") from None
    return SimpleNamespace(Image=Image, ImageDraw=ImageDraw, ImageFont=ImageFont)


class Canvas:
    """A picture to write on.

    Parameters
    ----------
    image : PIL.Image
        Is changed.
    camera : Camera
        From which it was taken.
    """

    def __init__(self, image: Any, seen: Picture, camera: Camera) -> None:
        self.image, self.seen, self.camera = image, seen, camera
        modules = pillow()
        self._letter = max(_SMALLEST, round(_LETTER * image.size[1]))
        self._font = modules.ImageFont.load_default(self._letter)
        self._draw = modules.ImageDraw.Draw(image, "RGBA")

    def label(self) -> None:
        """Write the names of joints beside them, those of closures first, where there is room."""
        taken: list[Box] = []
        for joint in labelled(self.seen):
            name = shortened(visible(joint.name), LONGEST)
            x, y = self.camera.pixels(joint.X_WJ.p, self.image.size)[0]
            width, height = self._draw.textlength(name, font=self._font), 1.2 * self._letter
            for box in self._places(float(x), float(y), width, height):
                if not any(_overlap(box, other) for other in taken):
                    taken.append(box)
                    self._tag(box, (float(x), float(y)), name, joint.verdict)
                    break

    def legend(self, keys: Collection[str]) -> None:
        """Write what the colours mean, into the lower left corner."""
        entries = [entry for entry in LEGEND if entry.key in keys]
        step, edge = 1.45 * self._letter, 0.9 * self._letter
        y = self.image.size[1] - edge - step * len(entries)
        for entry in entries:
            red, green, blue, alpha = (round(255 * v) for v in PALETTE[entry.key].rgba)
            box = (edge, y, edge + self._letter, y + self._letter)
            if entry.marks == "joint":
                self._draw.ellipse(box, fill=(red, green, blue, alpha))
            elif entry.marks == "arrow":
                middle = y + 0.5 * self._letter
                line = (edge, middle, edge + self._letter, middle)
                ink = (red, green, blue, max(alpha, 140))
                self._draw.line(line, fill=ink, width=max(3, self._letter // 4))
            else:
                self._draw.rectangle(box, fill=(red, green, blue, alpha))
            self._text(edge + 1.6 * self._letter, y - 0.1 * self._letter, entry.text)
            y += step

    def say(self, lines: Sequence[str]) -> None:
        """Write lines into the upper left corner."""
        y = 0.8 * self._letter
        for line in lines:
            self._text(0.9 * self._letter, y, visible(line))
            y += 1.4 * self._letter

    def _places(self, x: float, y: float, width: float, height: float) -> list[Box]:
        """Return boxes in which a label could stand, the best first, that are inside the picture."""
        gap = 1.4 * self._letter
        corners = [
            (x + sx * gap - (width if sx < 0 else 0.0), y + sy * gap - 0.5 * height)
            for far in (1.0, 2.4)
            for sx, sy in ((far, -far), (-far, -far), (far, far), (-far, far), (far, 0.0), (-far, 0.0))
        ]
        limit = self.image.size
        return [
            (left, top, left + width, top + height)
            for left, top in corners
            if left > 2 and top > 2 and left + width < limit[0] - 2 and top + height < limit[1] - 2
        ]

    def _tag(self, box: Box, at: tuple[float, float], name: str, key: str) -> None:
        left, top, right, bottom = box
        near = (float(np.clip(at[0], left, right)), 0.5 * (top + bottom))
        self._draw.line((*at, *near), fill=(*_INK, 150), width=1)
        pad = 0.25 * self._letter
        red, green, blue, _ = (round(255 * v) for v in PALETTE[key].rgba)
        self._draw.rectangle(
            (left - pad, top - pad / 2, right + pad, bottom + pad / 2),
            fill=(*_PALE, 205),
            outline=(red, green, blue, 255),
        )
        self._draw.text((left, top), name, fill=_INK, font=self._font)

    def _text(self, x: float, y: float, text: str) -> None:
        self._draw.text((x, y), text, fill=_INK, font=self._font, stroke_width=2, stroke_fill=(*_PALE, 255))


def _overlap(a: Box, b: Box) -> bool:
    gap = 4.0
    return a[0] < b[2] + gap and b[0] < a[2] + gap and a[1] < b[3] + gap and b[1] < a[3] + gap
