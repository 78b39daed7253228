"""Options of motions and stops: brakes, decelerations, payloads, zones, profiles; and progress bars."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.options import choices, kilograms, number, on_terminal, put_once, seconds
from mbplugin.cli.report import complain, hidden
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.files import require_folder
from mbplugin.model import StopLimits
from mbplugin.model.brake_law import stated_keys
from mbplugin.phrases import ended, visible

if TYPE_CHECKING:
    from mbplugin.cli.quantities import Quantities
    from mbplugin.model import Mechanism, MotionProfile, Scene, Units
    from mbplugin.stopping.outcome import StopReport
    from mbplugin.stopping.sweep.plan import SweepPlan
    from mbplugin.stopping.table import StoppingTable
    from mbplugin.stopping.zones import StopZone

#: Default for the largest sagitta and outward growth of the zone outline, m.
RESOLUTION = 0.002
#: Smallest zone resolution and payload radius, m; smaller ones are probably in a wrong unit.
_FINEST, _SMALLEST = 1e-5, 1e-3
ZoneOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--zone",
        metavar="FILE",
        help="Write the space that robot, tool and payload sweep: .dxf, .svg, .csv (floor), .stl (solid); repeatable.",
    ),
]
ZoneResolutionOption = Annotated[
    str | None,
    typer.Option(
        "--zone-resolution",
        metavar="LENGTH",
        help=f"Largest error of the zone outline, such as 2mm; default: {RESOLUTION:g}m.",
    ),
]
PayloadRadiusOption = Annotated[
    str | None,
    typer.Option(
        "--payload-radius",
        metavar="LENGTH",
        help="Radius of a sphere around the payload, for the zone, such as 0.1m.",
    ),
]
BrakeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--brake",
        metavar="JOINT:KEY=VALUE,…",
        help=f"{stated_keys()}; replaces the scene's brake of the joint; repeatable.",
    ),
]
RequireBrakesOption = Annotated[
    bool,
    typer.Option("--require-brakes", help="Fail (exit code 2) if a brake or a deceleration is not stated."),
]
CategoryOption = Annotated[
    int, typer.Option(help="0: power-off; 1: controlled stop, then power-off; 2: controlled stop.")
]
DecelerationOption = Annotated[
    list[str] | None,
    typer.Option(
        "--deceleration", metavar="NAME=VALUE,…", help="Decelerations for stops of category 1 and 2."
    ),
]
LockOption = Annotated[
    list[str] | None,
    typer.Option(
        "--lock",
        metavar="JOINT[@S[:UNTIL]]",
        help="Joint to lock, and the times of locking and release; repeatable.",
    ),
]
HoldOption = Annotated[
    list[str] | None,
    typer.Option(
        "--hold",
        metavar="NAME[@S[:UNTIL]]",
        help="Closure, coupling, driver or wheel that acts only during this time; repeatable.",
    ),
]
StopLimitsOption = Annotated[str, typer.Option("--limits", help=f"At a joint limit: {choices(StopLimits)}.")]
StopDurationOption = Annotated[
    float,
    typer.Option(
        "--duration",
        metavar="S",
        parser=seconds("--duration"),
        help="Time within which the robot must come to rest, s.",
    ),
]
RestSpeedOption = Annotated[
    str | None,
    typer.Option(
        "--rest-speed",
        metavar="SPEED",
        help="Speed below which a joint that only damping brakes counts as at rest, such as 0.1deg/s; default: never.",
    ),
]
StopPayloadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--payload",
        metavar="MASS|BODY:MASS[@X,Y,Z]",
        help="Payload (kg) at the tool or at a point; replaces the scene's payloads; repeatable.",
    ),
]
RatedPayloadOption = Annotated[
    float | None,
    typer.Option(
        "--payload",
        metavar="KG",
        parser=kilograms("--payload"),
        help="Rated payload at the tool; default: the scene's payload.",
    ),
]
FullSpeedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--speed", metavar="NAME=VALUE,…", help="Full speed, such as 180deg/s; default: the velocity limits."
    ),
]
TorqueToleranceOption = Annotated[
    float,
    typer.Option("--torque-tolerance", metavar="T", help="Relative tolerance of the torque of each brake."),
]
DelayToleranceOption = Annotated[
    float,
    typer.Option("--delay-tolerance", metavar="T", help="Relative tolerance of the delay of each brake."),
]
ToolOption = Annotated[
    str | None,
    typer.Option(metavar="BODY", help="Tool body; default: the outermost body, not counting a gripper."),
]
ToolPointOption = Annotated[
    str | None,
    typer.Option(
        metavar="X,Y,Z", help="Point of the tool whose path is computed, in the link frame of the tool, m."
    ),
]
_PROBABILITIES = "SHARE or SHARE,CONFIDENCE, such as 0.95,0.9: numbers between 0 and 1"
BoundOption = Annotated[
    str | None,
    typer.Option(
        "--bound",
        metavar="SHARE[,CONFIDENCE]",
        help="Print upper bounds that at least this share of all stops meets; default confidence: 0.95.",
    ),
]
ProfileOption = Annotated[
    list[str] | None,
    typer.Option(
        "--profile",
        metavar="NAME=FILE.csv",
        help="Motion of a driver or joint: columns time, value [, rate, acceleration]; repeatable.",
    ),
]
LoadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--load",
        metavar="BODY:FX,FY,FZ[,MX,MY,MZ][@X,Y,Z]",
        help="Force (N) and torque (N·m) in world axes, at a point in the link frame (m); repeatable.",
    ),
]
PayloadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--payload",
        metavar="BODY:MASS[@X,Y,Z]",
        help="Payload (kg) at a point in the link frame; replaces the scene's payloads; repeatable.",
    ),
]
TorqueOption = Annotated[
    list[str] | None,
    typer.Option("--torque", metavar="NAME=VALUE,…", help="Constant joint forces (N·m, N)."),
]
DampingOption = Annotated[
    bool, typer.Option("--damping/--no-damping", help="Apply the joint damping of the file.")
]
FrictionOption = Annotated[
    bool, typer.Option("--friction/--no-friction", help="Apply the dry friction of the file.")
]
#: Progress text during the first motion after an installation.
_PREPARING = "preparing (machine code is compiled once, which takes five to ten seconds)"
#: Id of the single task of a progress bar.
_TASK = 0
#: Redraw interval of a bar that counts without a total.
_EVERY = 100


@dataclass(frozen=True)
class Braking:
    """The options of every command that computes stops; each field is an option.

    Parameters
    ----------
    brake, deceleration : list of str, optional
    require_brakes : bool
    tool : str, optional
    """

    brake: BrakeOption = None
    require_brakes: RequireBrakesOption = False
    deceleration: DecelerationOption = None
    tool: ToolOption = None

    def arguments(self, given: Quantities) -> dict[str, Any]:
        """Return the arguments of the function behind a command; numbers without units are in those of ``given``."""
        return {
            "brakes": given.brakes(self.brake),
            "require_brakes": self.require_brakes,
            "decelerations": given.accelerations(self.deceleration, "--deceleration"),
            "tool": self.tool,
        }


#: No brake, deceleration or tool is given.
AS_IN_SCENE = Braking()


# Options of stops that write the swept zone.


@dataclass(frozen=True)
class ZoneRequest:
    """The zone requested on the command line.

    Parameters
    ----------
    files : tuple of Path
        Output files.
    resolution : float
        Largest sagitta and growth, m.
    payload_radius : float, optional
        Radius of the ball around the payload, m.
    """

    files: tuple[Path, ...]
    resolution: float
    payload_radius: float | None

    def write(self, scene: Scene, stops: StopReport | StoppingTable | SweepPlan) -> StopZone | None:
        """Compute the zone, write it to all files and describe it on stderr; None if none is requested."""
        if not self.files:
            return None
        from mbplugin.stopping.zones import zone_sentences

        zone = self._computed(scene, stops)
        for file in self.files:
            zone.save(file)
        for sentence in zone_sentences(zone):
            complain(f"mbplugin: {ended(visible(sentence))}")
        return zone

    def _computed(self, scene: Scene, stops: StopReport | StoppingTable | SweepPlan) -> StopZone:
        from mbplugin.stopping.zones.union import stop_zone

        with count_bar("stops in the zone") as progress:
            return stop_zone(
                scene,
                stops,
                resolution=self.resolution,
                payload_radius=self.payload_radius,
                solid=any(file.suffix.lower() == ".stl" for file in self.files),
                progress=progress,
            )


def zone_request(
    files: list[Path] | None,
    resolution: str | None,
    payload_radius: str | None,
    output: Path | None,
    units: Units,
) -> ZoneRequest:
    """Return the zone request of the options, checked before the computation starts.

    Raises
    ------
    BadUsage
        A file has an unknown ending, is named twice or has no folder, or a zone option is given without a zone.
    MissingDependency
    """
    own = tuple(files or ())
    if not own and payload_radius is not None:
        raise BadUsage("--payload-radius is given without a zone", remedy="add --zone FILE")
    if own:
        from mbplugin.stopping.zones import require_writable

        require_writable(own)
    names = [file.resolve() for file in (*own, output) if file is not None]
    if len(set(names)) < len(names):
        raise BadUsage("two outputs are the same file", expected="different files")
    for file in own:
        require_folder(file)
    size = RESOLUTION if resolution is None else _length(resolution, "--zone-resolution", _FINEST, units)
    radius = None if payload_radius is None else _length(payload_radius, "--payload-radius", _SMALLEST, units)
    return ZoneRequest(own, size, radius)


def _length(text: str, option: str, least: float, units: Units) -> float:
    """Return the length given by an option, m.

    Raises
    ------
    BadUsage
        The text is not a length, or so small that another unit was probably meant.
    """
    value = units.value(text, "length", f"{option} is")
    if 0 < value < least:
        raise BadUsage(
            f"{option} is {value * 1e3:g} mm",
            expected=f"{least * 1e3:g} mm or more",
            remedy="state its unit, such as 0.1m",
        )
    return value


def parse_bound(text: str) -> tuple[float, float]:
    """Return the share and the confidence of ``--bound SHARE[,CONFIDENCE]``.

    Raises
    ------
    BadUsage
        The text is not one or two numbers between 0 and 1.
    """
    from mbplugin.stopping import CONFIDENCE

    share, comma, confidence = text.partition(",")
    return _probability(share, text), _probability(confidence, text) if comma else CONFIDENCE


def _probability(part: str, text: str) -> float:
    value = number(part, "--bound has", _PROBABILITIES, text)
    if not 0 < value < 1:
        raise BadUsage(f"--bound has {text!r}", expected=_PROBABILITIES)
    return value


def parse_range(option: str, text: str) -> tuple[float, float]:
    """Return the two numbers of an option given as ``LOW,HIGH``."""
    low, _, high = text.partition(",")
    return (
        number(low, f"{option} has", "LOW,HIGH", text),
        number(high, f"{option} has", "LOW,HIGH", text),
    )


# ``--profile``: motions of drivers and joints from CSV files.


def profile_files(texts: Sequence[str] | None) -> dict[str, Path]:
    """Return the files of ``--profile`` by driver or joint.

    Raises
    ------
    BadUsage
        A text has another form, or a name is given twice.
    """
    found: dict[str, Path] = {}
    for text in texts or ():
        name, equals, path = text.partition("=")
        name = name.strip()
        if not (equals and name and path.strip()):
            raise BadUsage(f"--profile has {text!r}", expected="NAME=FILE.csv")
        put_once(found, name, Path(path.strip()), "--profile")
    return found


def read_profiles(files: Mapping[str, Path], mech: Mechanism) -> dict[str, MotionProfile]:
    """Return the motions of drivers or joints, read from their files.

    Raises
    ------
    UnknownName
        A name is neither that of a driver nor of a movable joint.
    UnreadableFile, BadUsage, BadNumber
        As for :func:`read_profile`.
    """
    from mbplugin.model import is_turn
    from mbplugin.readers.unread import read_profile

    drivers = {driver.name: driver for driver in mech.drivers}
    found = {}
    for name, path in files.items():
        driver = drivers.get(name)
        joint = name if driver is None else driver.joint
        pair = mech.pair_by_name.get(joint)
        freedoms = ((driver.freedoms if driver else ()) or pair.kind.free) if pair is not None else ()
        if not freedoms:
            known = (*drivers, *(pair.name for pair in mech.pairs if pair.kind.free))
            raise UnknownName(
                f"--profile names {name!r}, which is neither a driver nor a joint that moves",
                remedy=suggestion(name, known),
            )
        found[name] = read_profile(path, is_turn(freedoms[0]))
    return found


# Progress bars with the remaining time, on stderr and only on a terminal.


@contextlib.contextmanager
def time_bar() -> Iterator[Callable[[float, float], None] | None]:
    """Yield a progress function of (time, duration) of a motion, s; None without a terminal."""
    with _bar() as bar:

        def tell(time: float, duration: float) -> None:
            bar.update(_TASK, description=f"{time:.3g} of {duration:.3g} s", completed=time, total=duration)

        yield None if bar is None else tell


@contextlib.contextmanager
def count_bar(noun: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield a progress function of (number done, total number); None without a terminal."""
    with _bar() as bar:

        def tell(done: int, count: int) -> None:
            # the time for the preparation does not count for the remaining time
            if bar.tasks[_TASK].total is None:
                bar.reset(_TASK, total=count, completed=done)
            bar.update(_TASK, description=f"{done} of {count} {noun}", completed=done)

        yield None if bar is None else tell


@contextlib.contextmanager
def total_bar(noun: str) -> Iterator[Callable[[int], None] | None]:
    """Yield a progress function of the number done since its last call; None without a terminal."""
    with _bar() as bar:
        done = shown = 0

        def tell(more: int) -> None:
            nonlocal done, shown
            done += more
            if done - shown >= _EVERY:
                shown = done
                bar.update(_TASK, description=f"{done} {noun}")

        yield None if bar is None else tell


@contextlib.contextmanager
def _bar() -> Iterator[Any]:
    """Yield a rich progress bar with a single task; None without a terminal."""
    if not on_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with hidden(), Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(_PREPARING, total=None)
        yield bar
