"""Pages in a real browser: what is seen of them, what they complain about, what they ask for."""

from __future__ import annotations

import io
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-unsafe-swiftshader",
    "--use-angle=swiftshader",
)


def chromium() -> str:
    """Return the program of the browser."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    assert found, "no Chromium is installed: apt-get install chromium"
    return found


@dataclass
class Visit:
    """A page that is open, and what it has complained about or asked for."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def pixels(self, selector: str = ".stage") -> Any:
        """Return what is seen of an element, (h, w, 3)."""
        from PIL import Image

        shot = self.page.locator(selector).first.screenshot()
        return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)

    def unfold(self) -> None:
        self.page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")

    def settle(self) -> None:
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def until(self, expression: str) -> None:
        """Wait for something to become true; the policy of the page forbids the driver's own way."""
        for _ in range(200):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never true: {expression}")

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.text_content())


def quiet(seen: Visit) -> None:
    """Nothing was complained about, and nothing but the page was asked for."""
    assert seen.complaints == []
    assert len(seen.requests) == 1 and seen.requests[0].startswith("file://")


def near(pixels: Any, colour: str, strong: float = 40.0) -> int:
    """Return how many pixels have about the hue of a colour."""
    wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)], dtype=float)
    across = pixels - pixels.mean(axis=2, keepdims=True)
    wanted -= wanted.mean()
    length = np.linalg.norm(across, axis=2)
    cosine = (across @ wanted) / (np.linalg.norm(wanted) * np.maximum(length, 1.0))
    return int(((cosine > 0.98) & (length > strong)).sum())


def violations(seen: Visit) -> list[str]:
    """Return what axe-core finds wrong on a page that is open, one line each: severity, rule, first element."""
    import axe_playwright_python

    (source,) = Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")
    seen.page.evaluate(source.read_text(encoding="utf-8"))
    found = seen.page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [f"{v['impact']} {v['id']} {len(v['nodes'])}: {v['nodes'][0]['html'][:200]}" for v in found]
