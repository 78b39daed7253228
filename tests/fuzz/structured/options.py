"""Options of the commands: values that fit the model, and values that fit nothing."""

from __future__ import annotations

from collections.abc import Callable

from ..words import NUMBERS, WORDS
from .dice import STRANGE, Dice
from .sketch import Sketch

_WRONG = (
    *WORDS,
    *NUMBERS,
    "x=y",
    "json=",
    "new/out.txt",
    "model.urdf",
    "p.txt",
    "t.x",
    "0x0",
    "nan,0",
    "0,0,0",
    "2",
    "/",
)
_EXTREME = (*NUMBERS, *STRANGE, "1e-12", "1e12", "nan,nan", "-5", "1000000000000")


class Asked:
    """What options may name: the model, and the files beside it."""

    def __init__(self, mechanism: Sketch, files: list[str], dice: Dice) -> None:
        self.mechanism, self.files, self.dice = mechanism, files, dice

    def number(self, *usual: float) -> str:
        """Return a number that fits, or any."""
        dice = self.dice
        return dice.any(_EXTREME) if dice.odd(2) else f"{dice.any(usual):g}"

    def joint(self) -> str:
        """Return the name of a joint that has a coordinate."""
        return self.dice.name(self.mechanism.coordinates)

    def body(self) -> str:
        """Return the name of a body."""
        return self.dice.name(self.mechanism.bodies)

    def file(self, *endings: str) -> str:
        """Return a file of one of these endings, or another one."""
        fitting = [file for file in self.files if file.endswith(endings)]
        return self.dice.name(fitting) if fitting or self.dice.odd(3) else ""

    def values(self, *usual: float) -> str:
        """Return NAME=VALUE,… of a few joints."""
        parts = [f"{self.joint()}={self.number(*usual)}" for _ in range(self.dice.any((1, 1, 2, 3)))]
        if self.dice.odd():
            parts.append(self.dice.any((*WORDS, "=1", "j1=", "j1", "=")))
        return ",".join(parts)

    def load(self) -> str:
        """Return a load."""
        count = self.dice.any((3, 3, 6)) if not self.dice.odd() else 4
        point = self.dice.any(("", "", f"@{self.number(0.1)},0,0"))
        return f"{self.body()}:{','.join(self.number(0, 10, -10) for _ in range(count))}{point}"

    def payload(self) -> str:
        """Return a payload at a body."""
        return f"{self.body()}:{self.number(1, 5)}{self.dice.any(('', '', '@0.1,0,0'))}"

    def mass(self) -> str:
        """Return a payload at the tool, or at a body."""
        return self.dice.any((self.number(1, 5), self.payload()))

    def brake(self) -> str:
        """Return a brake."""
        keys = self.dice.some(("static_torque", "viscous", "delay", "engagement", "wear"), 2)
        more = "".join(f",{key}={self.number(0.01, 1, 20)}" for key in keys)
        return f"{self.joint()}:torque={self.number(10, 100, 1)}{more}"

    def lock(self) -> str:
        """Return a lock."""
        times = ("", f"@{self.number(0.005, 0)}", f"@0.002:{self.number(0.006)}")
        return self.joint() + self.dice.any(times)

    def misfit(self) -> str:
        """Return gaps of constraints."""
        component = self.dice.name(("tx", "ty", "tz", "rx", "ry", "rz"))
        return f"{self.dice.name(self.mechanism.constraints)}.{component}={self.number(1e-3, 1e-5)}"

    def limit(self) -> str:
        """Return limits of loads."""
        component = self.dice.any(("", ".tx", ".rz", ".d"))
        return f"{self.dice.name(self.mechanism.constraints)}{component}={self.number(100, 1)}"

    def names(self) -> str:
        """Return names of constraints."""
        names = self.dice.some(self.mechanism.constraints, 3)
        return ",".join(self.dice.name([name]) for name in names)

    def argument(self) -> str:
        """Return NAME:=VALUE of a xacro argument."""
        if self.dice.odd(2):
            return self.dice.any((*WORDS, "size", ":=1", "size=1", "size:=", "size:=${1/0}", "a:=b:=c"))
        return f"{self.dice.name(('size', 'side', 'nothing'))}:={self.number(0.5, 1)}"

    def profile(self) -> str:
        """Return the file of a motion of a driver."""
        return self.file("profile.csv") or "motion.csv"

    def range(self) -> str:
        """Return LOW,HIGH."""
        return f"{self.number(0.5, 0)},{self.number(1, 2)}"


#: A maker of an option's value; None for a flag.
Maker = Callable[[Asked], str] | None
Options = dict[str, Maker]


def one_of(*values: str) -> Maker:
    """Return a maker of one of these values, seldom another one."""
    return lambda asked: asked.dice.any(_WRONG) if asked.dice.odd() else asked.dice.any(values)


def any_of(*values: float) -> Maker:
    """Return a maker of one of these numbers, seldom another one."""
    return lambda asked: asked.number(*values)


def budget(asked: Asked) -> str:
    """Return how long a motion may be computed, s; not so long that a campaign takes it for a hang."""
    text = asked.number(1.0, 1.0, 0.5)
    try:
        return "1" if 3.0 < float(text) < 1e9 else text
    except ValueError:
        return text


STATE: Options = {"--q": lambda a: a.values(0.1, -0.5, 0.0), "--base": one_of("fixed", "fixed", "free")}
RATES: Options = {"--qd": lambda a: a.values(0.5, -1.0, 5.0)}
LOADS: Options = {"--load": Asked.load, "--payload": Asked.payload}
STOP_LOADS: Options = {"--load": Asked.load, "--payload": Asked.mass}
PLANE: Options = {"--planar": one_of("xy", "yz", "zx")}
TOLERANCE: Options = {"--tolerance": any_of(1e-4, 1e-6)}
COMMON: Options = {
    "--package-dir": one_of(".", ".."),
    "--output": one_of("out.txt", "out.txt", "out.json", "out.html", "known.json", "old.json"),
    "--force": None,
    "--xacro-arg": Asked.argument,
}
UNITS: Options = {"--units": one_of("deg,mm", "deg", "mm", "rev,um", "rad,m", "deg,rad")}
EARLIER: Options = {"--against": lambda a: a.file("old.json")}
BRAKES: Options = {"--brake": Asked.brake}
DRY: Options = {"--no-damping": None, "--no-friction": None}
