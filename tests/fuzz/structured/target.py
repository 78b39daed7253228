"""The structured cases as the subject of a campaign."""

from __future__ import annotations

import shlex
from pathlib import Path

from ..corpus import ROOT
from .case import case
from .judge import failure_of, outcome


class Structured:
    """Models that are made from a grammar, and command lines about them."""

    def prepare(self) -> None:
        """Load what every command needs, and have the kernels compiled."""
        bar = str(ROOT / "assets" / "four_bar.scene.toml")
        arm = str(ROOT / "assets" / "arm_6r.scene.toml")
        for words in (
            ("lint", bar),
            ("reactions", bar),
            ("simulate", bar, "--duration", "0.01"),
            ("simulate", bar, "--duration", "0.01", "--integrator", "variational"),
            ("estop", arm, "--qd", "j1=0.1"),
            ("crosscheck", bar, "--duration", "0.01"),
            ("lint", str(ROOT / "tests" / "fuzz" / "seeds" / "equality.xml")),
        ):
            outcome(words)

    def failure(self, seed: int, number: int, place: Path) -> str:
        """Write a case into a folder, run it, and return what must not happen, or nothing."""
        made = case(seed, number)
        made.write(place)
        return failure_of(made, place)

    def again(self, seed: int, number: int) -> str:
        """Return the command that does it again, and what it runs."""
        words = shlex.join(("mbplugin", *case(seed, number).arguments))
        return f"python -m tests.fuzz --structured --seed {seed} --number {number}\n    runs: {words}"
