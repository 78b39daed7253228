"""A block with dry friction is forced by its weight in a turning slot, for ten periods."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Forced oscillator with dry friction, ten periods",
    parameters="ours: frequency ratio 0.7, friction half of the force",
    reference="published formula: Den Hartog, Philosophical Magazine 9 (1930), p. 801, section II",
    quantity="place of 20 reversals, m, and their time, s",
    tolerance="1e-10",
    allowed=1e-6,
)
RATE = 3.5


def solve() -> tuple[float, float]:
    slot = mb.load(scene("forced_friction"))
    amplitude, phase = by_hand.coulomb_response(0.7, 0.5)
    amplitude *= 9.81 / 25
    # the weight along the slot is -m g sin(angle)
    q = {"wheel": phase - np.pi / 2, "slot": amplitude}
    end = 20.5 * np.pi / RATE
    motion, seconds = timed(lambda: mb.simulate(slot, end, q=q, rtol=1e-10, atol=1e-12))
    # the motion has two samples where the force of friction jumps
    turns = np.flatnonzero(np.diff(motion.time) == 0)
    strokes = np.arange(1, 21)
    late = motion.time[turns] - strokes * np.pi / RATE
    off = motion.q[turns, 1] - (-1.0) ** strokes * amplitude
    return float(np.abs([late, off]).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
