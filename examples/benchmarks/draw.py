"""Draw twelve of the motions to docs/benchmarks.svg, with matplotlib.

python examples/benchmarks/draw.py
"""

from __future__ import annotations

import matplotlib

matplotlib.use("svg")
import numpy as np
from all import PAGE
from by_hand import coulomb_response
from harness import scene
from matplotlib import pyplot

import mbplugin as mb

GREY, BLUE, ORANGE = "#808080", "#3b76c4", "#d9822b"


def film(name: str, duration: float, frames: int = 200, **options: object) -> mb.Trajectory:
    """Return a motion at equal intervals."""
    return mb.simulate(mb.load(scene(name)), duration, samples=frames, **options)


def main() -> None:
    """Draw the figure."""
    pyplot.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "mbplugin", "font.size": 8, "text.color": GREY}
    )
    pyplot.rcParams.update({f"{key}.color": GREY for key in ("xtick", "ytick")})
    pyplot.rcParams.update({"axes.edgecolor": GREY, "axes.labelcolor": GREY})
    figure, axes = pyplot.subplots(4, 3, figsize=(9, 10), layout="constrained")
    figure.patch.set_alpha(0)

    motion = film("double_four_bar", 1.05, 6)
    for k in range(6):
        corners = [
            motion.point(rod, (0, y, 0)).p_W[k] for rod in ("left", "middle", "right") for y in (-0.5, 0.5)
        ]
        x, y, _ = np.array([corners[i] for i in (0, 1, 3, 2, 3, 5, 4)]).T
        axes[0, 0].plot(x, y, color=BLUE, alpha=0.3 + 0.14 * k)
    axes[0, 0].set(title="A02, two windows, to the flat pose", aspect="equal", xlabel="m")

    motion = film("squeezer", 0.03, torques={"beta": 0.033})
    for joint, colour in (("beta", BLUE), ("gamma", ORANGE)):
        axes[0, 1].plot(1e3 * motion.time, motion.q[:, motion.joint_names.index(joint)], color=colour)
    axes[0, 1].set(title="A03, squeezer: β (blue) and γ, rad", xlabel="ms")

    motion = film("bricard", 10.0)
    place = motion.point("3", (0, 0, 0.5)).p_W
    for k, colour in enumerate((BLUE, ORANGE, GREY)):
        axes[0, 2].plot(motion.time, place[:, k], color=colour)
    axes[0, 2].set(title="A04, Bricard: corner P3, m", xlabel="s")

    motion = film("governor", 10.0)
    axes[1, 0].plot(motion.time, motion.q[:, motion.joint_names.index("s")], color=BLUE)
    axes[1, 0].set(title="A05, governor: slider, m", xlabel="s")

    lean = 0.2617993877991494
    motion = film(
        "rolling_disc", 10.0, qd={"disc.wx": 0.0, "disc.wy": 5 * np.cos(lean), "disc.wz": 5 * np.sin(lean)}
    )
    axes[1, 1].plot(motion.q[:, 0], motion.q[:, 1], color=BLUE)
    axes[1, 1].set(title="Rolling disc: path of its centre, m", aspect="equal")

    motion = film("stick_slip", 30.0, signal=0.0)
    axes[1, 2].plot(motion.time, motion.q[:, 0] + motion.q[:, 1], color=BLUE)
    axes[1, 2].set(title="Stick-slip: place of the block, m", xlabel="s")

    motion = film("slider_crank", 5.0)
    axes[2, 0].plot(motion.time, motion.point("slider", (0, 0, 0)).p_W[:, 0], color=BLUE)
    axes[2, 0].set(title="Spatial slider-crank: slider, m", xlabel="s")

    motion = film("sundials_slider_crank", 10.0)
    for joint, colour in (("q", BLUE), ("p", ORANGE)):
        axes[2, 1].plot(motion.time, motion.q[:, motion.joint_names.index(joint)], color=colour)
    axes[2, 1].set(title="With spring: crank (blue), rod, rad", xlabel="s")

    motion = film("rolling_coin", 2.0, 800, qd={"coin.wx": 0.0, "coin.wy": 0.0, "coin.wz": 10 * np.pi})
    axes[2, 2].plot(1e3 * motion.q[:, 0], 1e3 * motion.q[:, 1], color=BLUE)
    axes[2, 2].set(title="Spinning coin: path of centre, mm", aspect="equal")

    motion = film("heavy_top", 2.0, 400, qd={"tip.wx": 0.0, "tip.wy": 150.0, "tip.wz": -4.61538})
    place = motion.point("top", (0, 1, 0)).p_W
    axes[3, 0].plot(place[:, 0], place[:, 1], color=BLUE)
    axes[3, 0].set(title="Heavy top: centre from above, m", aspect="equal")

    motion = film("bennett", 2 * np.pi)
    axes[3, 1].plot(motion.q[:, 0], np.unwrap(motion.q[:, 1]), color=BLUE)
    axes[3, 1].set(title="Bennett's loop: θ₂ over θ₁, rad", xlabel="rad")

    amplitude, phase = coulomb_response(0.7, 0.5)
    start = {"wheel": phase - np.pi / 2, "slot": amplitude * 9.81 / 25}
    motion = film("forced_friction", 6.0, q=start)
    axes[3, 2].plot(motion.q[:, 1], motion.qd[:, 1], color=BLUE)
    axes[3, 2].set(title="Dry friction, forced: m/s over m")
    for box in axes.flat:
        box.patch.set_alpha(0)
    figure.savefig(PAGE.with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
