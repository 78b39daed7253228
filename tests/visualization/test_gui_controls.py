"""The controls of the window: mouse and keys lead to values, and names of joints overlap nothing."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS
from mbplugin.report.picture import picture
from mbplugin.visualization.gui.controls import Box, Controls, Screen, TextOverlay, box_of, room_for

DOWN, RELEASED = 3, 4


class Recorder:
    """What PyBullet's window would be told, and what its user does."""

    KEY_IS_DOWN, KEY_WAS_TRIGGERED, KEY_WAS_RELEASED = 1, 2, 4
    B3G_LEFT_ARROW, B3G_RIGHT_ARROW, B3G_UP_ARROW, B3G_DOWN_ARROW, B3G_RETURN = range(65295, 65300)

    def __init__(self) -> None:
        self.mouse: list[tuple[int, float, float, int, int]] = []
        self.keys: dict[int, int] = {}
        self.items: dict[int, tuple[Any, ...]] = {}

    def getMouseEvents(self, **_: Any) -> list[tuple[int, float, float, int, int]]:
        events, self.mouse = self.mouse, []
        return events

    def getKeyboardEvents(self, **_: Any) -> dict[int, int]:
        events, self.keys = self.keys, {}
        return events

    def _add(self, item: tuple[Any, ...], replaceItemUniqueId: int = -1) -> int:
        id = replaceItemUniqueId if replaceItemUniqueId >= 0 else len(self.items)
        self.items[id] = item
        return id

    def addUserDebugText(self, text: str, at: Any, colour: Any, textSize: float, **more: Any) -> int:
        more.pop("physicsClientId")
        return self._add((text, tuple(at)), **more)

    def addUserDebugLine(self, start: Any, end: Any, colour: Any, lineWidth: float, **more: Any) -> int:
        more.pop("physicsClientId")
        return self._add((tuple(start), tuple(end)), **more)

    def getDebugVisualizerCamera(self, **_: Any) -> tuple[Any, ...]:
        s = SCREEN
        return (s.width, s.height, s.view, s.projection, *[None] * 6, s.distance)


def screen() -> Screen:
    pybullet = pytest.importorskip("pybullet")
    view = pybullet.computeViewMatrixFromYawPitchRoll([0.1, 0.2, 0.3], 2.0, 30, -20, 0, 2)
    return Screen(
        1280, 760, tuple(view), tuple(pybullet.computeProjectionMatrixFOV(60, 1280 / 760, 0.01, 100)), 2.0
    )


SCREEN = screen()


def test_a_point_before_a_pixel_is_seen_there() -> None:
    for pixel in ((10.0, 20.0), (640.0, 380.0), (1270.0, 700.0)):
        assert SCREEN.pixel(SCREEN.point(*pixel)) == pytest.approx(pixel, abs=1e-3)
    # what the camera looks at is seen in the middle, and nothing behind it is
    assert SCREEN.pixel(np.array([0.1, 0.2, 0.3])) == pytest.approx((640, 380), abs=1e-3)
    eye = np.linalg.inv(np.array(SCREEN.view).reshape(4, 4).T)[:3, 3]
    assert SCREEN.pixel(2 * eye - np.array([0.1, 0.2, 0.3])) is None


@pytest.fixture
def controls() -> tuple[Controls, Recorder]:
    recorder = Recorder()
    made = Controls(recorder, 0)  # type: ignore[arg-type]
    made.slider("j0", -1.0, 3.0, 0.0)
    made.slider("pause", 1, 0, 0)
    made.follow(SCREEN)
    return made, recorder


def test_a_slider_follows_the_mouse(controls: tuple[Controls, Recorder]) -> None:
    made, recorder = controls
    recorder.mouse = [(2, 1085, 54, 0, DOWN), (1, 1140, 300, 0, 0)]
    made.follow(SCREEN)
    # the middle of the track, however far below it the mouse has come
    assert made.read(0) == pytest.approx(1.0)
    recorder.mouse = [(2, 1300, 54, 0, RELEASED), (1, 1200, 54, 0, 0)]
    made.follow(SCREEN)
    assert made.read(0) == pytest.approx(1.0)
    # beside everything
    recorder.mouse = [(2, 300, 54, 0, DOWN), (1, 1250, 54, 0, 0)]
    made.follow(SCREEN)
    assert made.read(0) == pytest.approx(1.0) and made.read(1) == 0
    texts = [item[0] for item in recorder.items.values() if isinstance(item[0], str)]
    assert texts == ["j0: 1", "[ pause ]"]


def test_keys_choose_move_and_press(controls: tuple[Controls, Recorder]) -> None:
    made, recorder = controls
    recorder.keys = {recorder.B3G_RIGHT_ARROW: recorder.KEY_IS_DOWN}
    made.follow(SCREEN)
    assert made.read(0) == pytest.approx(0.04)
    for _ in range(200):
        recorder.keys = {recorder.B3G_LEFT_ARROW: recorder.KEY_IS_DOWN}
        made.follow(SCREEN)
    assert made.read(0) == -1.0
    recorder.keys = {recorder.B3G_DOWN_ARROW: recorder.KEY_WAS_TRIGGERED}
    made.follow(SCREEN)
    for key in (ord(" "), recorder.B3G_RETURN):
        recorder.keys = {key: recorder.KEY_WAS_TRIGGERED}
        made.follow(SCREEN)
    assert (made.read(0), made.read(1)) == (-1.0, 2)
    recorder.mouse = [(2, 1060, 80, 0, DOWN), (2, 1060, 80, 0, RELEASED)]
    made.follow(SCREEN)
    assert made.read(1) == 3


@pytest.mark.parametrize("count", [5, 17, 28, 45])
def test_many_sliders_overlap_nothing_and_each_is_reached(count: int) -> None:
    recorder = Recorder()
    made = Controls(recorder, 0)  # type: ignore[arg-type]
    for k in range(count):
        made.slider(f"left_shoulder_of_the_robot_{k}.wx", -1.0, 1.0, -0.123456)
    made.follow(SCREEN)
    seen = [
        [SCREEN.pixel(np.array(at)) for at in (item[1:] if isinstance(item[0], str) else item)]
        for item in recorder.items.values()
    ]
    assert all(None not in ends for ends in seen)
    boxes, high = [], min(12.0, 0.75 * 680 / count)
    for item, ends in zip(recorder.items.values(), seen, strict=True):
        xs, ys = zip(*ends, strict=True)
        if isinstance(item[0], str):
            boxes.append(Box(xs[0], ys[0] - high, xs[0] + 6.9 * len(item[0]), ys[0]))
        elif ys[0] == pytest.approx(ys[1]):
            boxes.append(Box(xs[0], ys[0] - 1, xs[1], ys[0] + 1))
    assert len(boxes) == 2 * count
    assert not any(a.meets(b) for a, b in combinations(boxes, 2))
    assert all(box.right <= 1280 and box.bottom <= 760 for box in boxes)
    # the right end of every track is reached by the mouse, and moves its slider alone
    for k, track in enumerate(boxes[1::2]):
        recorder.mouse = [(2, track.right, track.top + 1, 0, DOWN), (2, track.right, track.top, 0, RELEASED)]
        made.follow(SCREEN)
        assert [made.read(n) for n in range(count)] == pytest.approx(
            [1.0] * (k + 1) + [-0.123456] * (count - k - 1)
        )


def test_labels_overlap_nothing() -> None:
    """Thirty points close together: every label that is placed has a place of its own, away from what is taken."""
    rng = np.random.default_rng(5)
    within, taken = Box(0, 0, 1000, 700), [Box(0, 0, 400, 100)]
    for k in range(30):
        x, y = rng.uniform((350, 60), (600, 300))
        box = room_for(f"joint_{k}", (x, y), taken, within, (500, 200))
        if box is not None:
            taken.append(box)
    assert len(taken) > 12
    assert not any(a.meets(b) for a, b in combinations(taken, 2))
    assert room_for("x" * 200, (500, 350), [], within, (500, 350)) is None


@pytest.mark.parametrize("name", ["minitaur", "arm_6r"])
def test_lines_and_names_of_a_robot_overlap_nothing(name: str) -> None:
    scene = mb.load(ASSETS / f"{name}.scene.toml")
    seen = picture(scene, analysis=mb.analyze(scene))
    recorder = Recorder()
    board = TextOverlay(recorder, 0, seen)  # type: ignore[arg-type]
    board.write(title=[(name, "")], legend=[(entry.text, entry.key) for entry in seen.legend])
    boxes = []
    texts = [item for item in recorder.items.values() if isinstance(item[0], str)]
    assert len(recorder.items) - len(texts) == len(seen.legend), (
        "a stroke of colour for each line of the legend"
    )
    for words, at in texts:
        pixel = SCREEN.pixel(np.array(at))
        assert pixel is not None
        boxes.append(box_of(words, *pixel))
    assert len(boxes) > len(seen.legend) + 3
    shrunk = [Box(b.left + 1, b.top + 1, b.right - 1, b.bottom - 1) for b in boxes]
    assert not any(a.meets(b) for a, b in combinations(shrunk, 2))
    for box in shrunk:
        assert box.left >= 0 and box.right <= 1280 and box.top >= 0 and box.bottom <= 760
