"""The window, driven on a display of its own: colours, sliders, replays, and every way that it ends."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import mbplugin as mb
from command_line import ASSETS, ROOT, call_process
from mbplugin.errors import MbPluginError
from mbplugin.visualization import Replay
from mbplugin.visualization.gui import BUG, CLOSED_SENTENCE, ENDED, ENDED_SENTENCE, OPENED, Clock, _sentence
from seen_colours import near

FOUR_BAR = ASSETS / "four_bar.scene.toml"
ARM = ASSETS / "arm_6r.scene.toml"
#: What the controls at the right leave free of a window: left, top, right, bottom, pixels.
FREE = (0, 0, 1010, 760)
#: Where the number of redundant constraints is written, and what stops a slider.
P_LINE, WHY_LINE = (15, 80, 220, 102), (15, 122, 620, 146)
#: The thumb of the first slider, and the button below the speed of a replay.
SLIDER, PAUSE = (1140, 54), (1060, 80)
PATIENCE = 120


@dataclass
class Desk:
    """A display without anybody before it."""

    name: str

    def __post_init__(self) -> None:
        from Xlib import display

        self.display = display.Display(self.name)

    def view(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "mbplugin", "view", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "DISPLAY": self.name},
        )

    def shot(self) -> Any:
        """What is to be seen beside the controls."""
        from Xlib import X

        root = self.display.screen().root
        size = root.get_geometry()
        taken = root.get_image(0, 0, size.width, size.height, X.ZPixmap, 0xFFFFFFFF)
        image = Image.frombytes("RGB", (size.width, size.height), taken.data, "raw", "BGRX")
        return image.crop(FREE)

    def until(self, seen: Callable[[Any], bool], process: subprocess.Popen[str]) -> Any:
        """Wait until a shot shows something, and return it."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            image = self.shot()
            if seen(image):
                return image
            assert process.poll() is None, process.communicate()
            time.sleep(0.3)
        raise AssertionError("never seen")

    def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        from Xlib import X
        from Xlib.ext import xtest

        steps = [tuple(int(v) for v in point) for point in np.linspace(start, end, 12)]
        for k, (x, y) in enumerate(steps):
            xtest.fake_input(self.display, X.MotionNotify, x=x, y=y)
            if k == 0:
                self.display.sync()
                time.sleep(0.5)
                xtest.fake_input(self.display, X.ButtonPress, 1)
            self.display.sync()
            time.sleep(0.25)
        xtest.fake_input(self.display, X.ButtonRelease, 1)
        self.display.sync()

    def close(self) -> None:
        """End the connection of the only window, as a window manager does."""
        (window,) = self.display.screen().root.query_tree().children
        window.kill_client()
        self.display.sync()


@pytest.fixture
def desk() -> Iterator[Desk]:
    found = shutil.which("Xvfb")
    assert found, "no Xvfb is installed: apt-get install xvfb"
    read, write = os.pipe()
    server = subprocess.Popen(
        [found, "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as number:
        name = f":{number.readline().strip()}"
    made = Desk(name)
    yield made
    made.display.close()
    server.terminate()
    server.wait()


def ends(process: subprocess.Popen[str], sentence: str) -> None:
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, f"{sentence}\n", "")


def gui(test: Any) -> Any:
    return pytest.mark.slow(pytest.mark.gui(test))


@gui
def test_colours_and_closing(desk: Desk) -> None:
    process = desk.view(str(FOUR_BAR))
    seen = desk.until(lambda image: near(image, "flexible") > 3000, process)
    # edges of blue arrows and letters are about as light
    assert near(seen, "rigid") < 200 and near(seen, "non-unique") > 50
    desk.close()
    ends(process, CLOSED_SENTENCE)


@gui
def test_without_redundancy_the_colour_is_another(desk: Desk, tmp_path: Path) -> None:
    import mbplugin as mb

    (tmp_path / "four_bar.urdf").write_text((ASSETS / "four_bar.urdf").read_text())
    cured = tmp_path / "cured.scene.toml"
    cured.write_text(f"{FOUR_BAR.read_text()}\n{mb.analyze(mb.load(FOUR_BAR)).remedies[0].toml}\n")
    process = desk.view(str(cured))
    seen = desk.until(lambda image: near(image, "rigid") > 3000, process)
    assert near(seen, "flexible") == 0
    desk.close()
    ends(process, CLOSED_SENTENCE)


@gui
def test_a_slider_moves_the_robot(desk: Desk) -> None:
    process = desk.view(str(FOUR_BAR))
    # p is told in red when all is there
    desk.until(lambda image: near(image.crop(P_LINE), "non-unique") > 30, process)
    time.sleep(2)
    before = desk.shot()
    x, y = SLIDER
    desk.drag(SLIDER, (x + 40, y))

    def moved(image: Any) -> bool:
        change = np.abs(np.asarray(image, dtype=int) - np.asarray(before)).max(axis=2) > 60
        return bool(change[150:].sum() > 3000)

    after = desk.until(moved, process)
    assert near(after, "flexible") > 3000
    # the arrows of the first pose go while it moves, and those of the new pose come when it rests
    arrows = np.asarray(desk.until(lambda image: near(image, "known") > 400, process), dtype=int)
    assert (np.abs(arrows - np.asarray(before, dtype=int))[150:].max(axis=2) > 60).sum() > 3000
    desk.close()
    ends(process, CLOSED_SENTENCE)


@gui
def test_a_slider_that_cannot_be_followed_says_so(desk: Desk) -> None:
    """A leg of Minitaur is stretched after 0.73 rad of its motor, as the manifold says."""
    process = desk.view(str(ASSETS / "minitaur.scene.toml"))
    desk.until(lambda image: near(image.crop(P_LINE), "non-unique") > 30, process)
    time.sleep(2)
    assert near(desk.shot().crop(WHY_LINE), "naive") == 0
    x, y = SLIDER
    desk.drag(SLIDER, (x + 60, y))
    desk.until(lambda image: near(image.crop(WHY_LINE), "naive") > 100, process)
    desk.close()
    ends(process, CLOSED_SENTENCE)


@gui
def test_a_window_can_be_closed_before_all_is_drawn(desk: Desk) -> None:
    process = desk.view(str(ASSETS / "minitaur.scene.toml"))
    end = time.monotonic() + PATIENCE
    while not desk.display.screen().root.query_tree().children and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(2)
    desk.close()
    ends(process, CLOSED_SENTENCE)


@gui
def test_a_replay_runs_to_its_end(desk: Desk) -> None:
    process = desk.view(str(ARM), "--stop", "--once", "--speed", "0.2")
    desk.until(lambda image: near(image, "naive", 0.4) > 300 and near(image, "rigid") > 300, process)
    ends(process, ENDED_SENTENCE)


@gui
def test_a_replay_can_be_paused_and_closed(desk: Desk) -> None:
    process = desk.view(str(ARM), "--stop", "--speed", "0.02")
    desk.until(lambda image: near(image, "rigid") > 300, process)
    time.sleep(3)
    first = np.asarray(desk.shot(), dtype=int)
    # a busy machine draws a picture in some seconds
    desk.until(
        lambda image: (np.abs(np.asarray(image, int) - first)[150:].max(axis=2) > 60).sum() > 50, process
    )
    desk.drag(PAUSE, PAUSE)
    time.sleep(3)
    third = np.asarray(desk.shot(), dtype=int)
    time.sleep(3)
    assert (np.abs(np.asarray(desk.shot(), dtype=int) - third)[150:].max(axis=2) > 60).sum() == 0
    desk.close()
    ends(process, CLOSED_SENTENCE)


@gui
def test_a_process_that_is_killed_is_told(desk: Desk) -> None:
    process = desk.view(str(FOUR_BAR))
    desk.until(lambda image: near(image, "flexible") > 3000, process)
    child = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True)
    os.kill(int(child.stdout), signal.SIGKILL)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (2, "")
    assert err.startswith("mbplugin: the process with the window ended by signal SIGKILL;")


@gui
def test_an_interrupt_closes_the_window(desk: Desk) -> None:
    process = desk.view(str(FOUR_BAR))
    desk.until(lambda image: near(image, "flexible") > 3000, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "", "")
    assert not desk.display.screen().root.query_tree().children


@pytest.mark.bullet
@pytest.mark.long
def test_without_a_display_it_says_what_works() -> None:
    done = call_process("view", str(ROOT / "tests" / "oracles" / "door_1_hinge.sdf"), DISPLAY="")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "mbplugin: PyBullet cannot open a window since no display is set;"
        " expected a display with OpenGL 3; use --picture or --film (picture=… or film=… in Python), which need no"
        " window.\n"
    )


@pytest.mark.bullet
@pytest.mark.long
def test_a_window_that_cannot_be_opened_leaves_no_pipe_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", "")
    # what earlier tests left open is not of this one
    gc.collect()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pytest.raises(MbPluginError, match=r"picture=… or film=… in Python"):
            mb.show(ROOT / "tests" / "oracles" / "door_1_hinge.sdf")
        gc.collect()
    assert [str(one.message) for one in said if one.category is ResourceWarning] == []


def test_how_a_window_ended(tmp_path: Path) -> None:
    with (tmp_path / "printed").open("w+b") as printed:
        printed.write(b"noise\nTraceback: it broke\n")
        assert _sentence({OPENED}, 1, printed) == CLOSED_SENTENCE
        assert _sentence({OPENED, ENDED}, 0, printed) == ENDED_SENTENCE
        # PyBullet may die while it closes what has come to its end
        assert _sentence({OPENED, ENDED}, -11, printed) == ENDED_SENTENCE
        with pytest.raises(MbPluginError, match="ended by signal SIGSEGV"):
            _sentence({OPENED}, -11, printed)
        with pytest.raises(MbPluginError, match="cannot open a window"):
            _sentence(set(), 1, printed)
        # or while its window is taken away
        printed.write(b"X connection to :0 broken (explicit kill or server shutdown).\r\n")
        assert _sentence({OPENED}, -11, printed) == CLOSED_SENTENCE
        with pytest.raises(RuntimeError, match="it broke") as bug:
            _sentence({OPENED}, BUG, printed)
        assert "noise" not in str(bug.value)
        # a process that fails before it asks for a window says why, not that there is no display
        printed.write(b"Traceback (most recent call last):\nImportError: no such module\n")
        with pytest.raises(RuntimeError, match="no such module"):
            _sentence(set(), 1, printed)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Clock, list[float]]]:
    """A clock of a replay of 2 s with a pose each 0.1 s, and the time that it reads, which a test sets."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    yield Clock(Replay("turn", np.linspace(0.0, 2.0, 21), np.zeros((21, 1)), 1.0)), now


def test_the_clock_runs_as_fast_as_it_is_told(clock: Any) -> None:
    it, now = clock
    for elapsed, speed, frame in ((0.5, 1.0, 5), (0.5, 0.2, 6), (0.1, 4.0, 10), (9.0, 1.0, 20)):
        now[0] += elapsed
        it.tick(speed)
        assert it.frame == frame
    assert it.at_end


def test_pause_steps_and_start(clock: Any) -> None:
    it, now = clock
    now[0] += 0.55
    it.tick(1.0)
    it.press("pause / play")
    now[0] += 1.0
    it.tick(1.0)
    assert it.frame == 5
    it.press("step >")
    assert it.frame == 6 and it.paused
    for _ in range(9):
        it.press("< step")
    assert it.frame == 0
    it.press("pause / play")
    now[0] += 0.35
    it.tick(1.0)
    assert it.frame == 3
    it.press("to the start")
    assert it.frame == 0
