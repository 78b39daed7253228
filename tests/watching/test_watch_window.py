"""The overlay in PyBullet's window, on a display of its own: numbers at the feet, and red where a force cannot be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import ROOT

pytestmark = [pytest.mark.gui, pytest.mark.slow]
PATIENCE = 60
#: A table on four legs in a window, which somebody presses upon if it is asked for; it waits for a line of input.
SCRIPT = """
import sys
import pybullet as p
import mbplugin as mb
from live_clients import Client
from pathlib import Path
from watched import table

client = Client(p, p.connect(p.GUI, options="--width=900 --height=600"))
p.configureDebugVisualizer(p.COV_ENABLE_GUI, 0)
p.configureDebugVisualizer(p.COV_ENABLE_SHADOWS, 0)
p.resetDebugVisualizerCamera(1.6, 30, -25, [0, 0, 0.3])
body = table(client, Path(sys.argv[1]))
for _ in range(400):
    p.stepSimulation()
watch = mb.watch(client.id)
watch.update()
p.stepSimulation()
if sys.argv[2] == "pressed":
    for _ in range(3):
        p.applyExternalForce(body, -1, [0, 0, -900], p.getBasePositionAndOrientation(body)[0], p.WORLD_FRAME)
        p.stepSimulation()
        watch.update()
watch.overlay.draw(watch.update() if sys.argv[2] == "alone" else watch.latest, now=True)
print("drawn", len(watch.latest.marks), flush=True)
sys.stdin.readline()
watch.close()
print("closed", flush=True)
"""


@pytest.fixture
def display() -> Iterator[str]:
    found = shutil.which("Xvfb")
    assert found, "no Xvfb is installed: apt-get install xvfb"
    read, write = os.pipe()
    server = subprocess.Popen(
        [found, "-displayfd", str(write), "-screen", "0", "1000x700x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as number:
        name = f":{number.readline().strip()}"
    yield name
    server.terminate()
    server.wait()


def shot(display: str) -> Any:
    from PIL import Image
    from Xlib import X
    from Xlib.display import Display

    root = Display(display).screen().root
    size = root.get_geometry()
    taken = root.get_image(0, 0, size.width, size.height, X.ZPixmap, 0xFFFFFFFF)
    return np.asarray(Image.frombytes("RGB", (size.width, size.height), taken.data, "raw", "BGRX"), dtype=int)


#: The colours of the overlay; the axes at the origin of PyBullet's window are of pure red and blue.
COLOURS = {"red": (217, 26, 26), "blue": (26, 77, 204)}


def coloured(picture: Any, colour: str) -> int:
    """Return the number of pixels of a colour of the overlay."""
    return int((np.abs(picture - COLOURS[colour]).max(axis=-1) < 10).sum())


@pytest.mark.parametrize(("how", "seen", "unseen"), [("alone", "blue", "red"), ("pressed", "red", "")])
def test_the_overlay(display: str, tmp_path: Path, how: str, seen: str, unseen: str) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    path = os.pathsep.join(str(folder) for folder in (ROOT, ROOT / "tests" / "support", ROOT / "tests"))
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py"), str(tmp_path), how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "DISPLAY": display, "PYTHONPATH": path},
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        line = next(text for text in process.stdout if text.startswith(("drawn", "Traceback")))
        assert line.startswith("drawn"), process.stdout.read()
        assert (int(line.split()[1]) > 0) == (how == "pressed")
        end = time.monotonic() + PATIENCE
        while coloured(picture := shot(display), seen) < 30 and time.monotonic() < end:
            time.sleep(0.5)
        assert coloured(picture, seen) >= 30
        assert not unseen or coloured(picture, unseen) == 0
        process.stdin.write("\n")
        process.stdin.flush()
        assert any(text.startswith("closed") for text in process.stdout)
    finally:
        process.kill()
        process.wait()
