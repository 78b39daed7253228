"""Command lines: every command with options that fit it, now and then one that does not."""

from __future__ import annotations

from dataclasses import dataclass

from mbplugin.simulation.integrators import integrator_names

from .dice import Dice
from .options import (
    BRAKES,
    COMMON,
    DRY,
    EARLIER,
    LOADS,
    PLANE,
    RATES,
    STATE,
    STOP_LOADS,
    TOLERANCE,
    UNITS,
    Asked,
    Maker,
    Options,
    any_of,
    budget,
    one_of,
)
from .sketch import Sketch


@dataclass(frozen=True)
class Command:
    """A command: how often it comes, what it always gets, and what it may get.

    Parameters
    ----------
    share : int
    options : Options
    always : Options
    formats : tuple of str
    """

    share: int
    options: Options
    always: Options
    formats: tuple[str, ...] = ("text", "json", "json")


_DURATION = any_of(0.01, 0.02, 0.002)
_PAGE = ("text", "json", "json", "html")

COMMANDS: dict[str, Command] = {
    "lint": Command(
        34,
        {
            **STATE,
            **PLANE,
            **TOLERANCE,
            **COMMON,
            "--snap-angles": None,
            "--samples": any_of(2, 1, 3),
            "--method": one_of("qr", "svd", "rank", "nullspace", "dca"),
            "--explain-dca": None,
            "--group": Asked.names,
            "--select": one_of("MB2", "MB201", "MB", "mb3"),
            "--ignore": one_of("MB1", "MB201"),
            "--fail-on": one_of("note", "warning", "error"),
            "--extend-select": one_of("MB135", "MB1"),
            "--target": one_of("mujoco", "newton", "isaac", "gazebo", "drake", "pybullet"),
            "--collisions": None,
            "--misfit-limit": any_of(100, 1e-3),
            "--stance": Asked.names,
            "--friction": any_of(0.5, 0.0),
            "--quiet": None,
            "--verbose": None,
            "--max-seconds": any_of(60, 1e-6, 900),
            "--rule-seconds": any_of(60, 1),
            "--no-mesh-cache": None,
            "--xacro-unsafe": None,
            "--write-scene": one_of("w.scene.toml", "model.scene.toml"),
            "--baseline": lambda a: a.file(".json"),
            "--config": lambda a: a.file(".toml"),
            "--report": one_of("json=r.json", "html=r.html", "sarif=r.sarif", "junit=r.xml", "gitlab=g.json"),
        },
        {"--jobs": one_of("1")},
        ("text", "json", "json", "sarif", "github", "gitlab", "junit", "html"),
    ),
    "matrix": Command(10, {**STATE, **PLANE, **COMMON, "--save": one_of("m.npz", "m.csv"), **EARLIER}, {}),
    "modes": Command(
        6,
        {**STATE, **LOADS, **PLANE, **COMMON, "--hold": one_of("j0", "j1", "j*", ""), **EARLIER},
        {},
        _PAGE,
    ),
    "reactions": Command(
        16,
        {
            **STATE,
            **RATES,
            **LOADS,
            **PLANE,
            **TOLERANCE,
            **COMMON,
            **UNITS,
            **EARLIER,
            "--qdd": lambda a: a.values(1.0, 0.0),
            "--hold": Asked.names,
            "--actuated": Asked.names,
            "--misfit": Asked.misfit,
            "--misfit-sigma": Asked.misfit,
            "--limit": Asked.limit,
            "--estimate": None,
            "--no-estimate": None,
            "--material": one_of("steel", "aluminium"),
            "--axes": one_of("joint", "world"),
            "--frames": None,
        },
        {},
    ),
    "simulate": Command(
        14,
        {
            **STATE,
            **RATES,
            **LOADS,
            **BRAKES,
            **DRY,
            **COMMON,
            **UNITS,
            **EARLIER,
            "--torque": lambda a: a.values(1.0, -10.0),
            "--lock": Asked.lock,
            "--profile": lambda a: f"{a.joint()}={a.profile()}",
            "--hold": Asked.names,
            "--transition": one_of("consistent", "naive"),
            "--signal": any_of(0.0, 0.005),
            "--limits": one_of("record", "stop", "ignore"),
            "--integrator": one_of(*integrator_names()),
            "--step": any_of(1e-3, 1e-4),
            "--rtol": any_of(1e-8, 1e-4),
            "--atol": any_of(1e-10, 1e-6),
            "--formulation": one_of("kkt", "null-space", "projected", "voronets", "partitioning", "closing"),
            "--redundancy": one_of("eliminate", "minimum-norm", "mass-weighted", "augmented"),
            "--coordinates": one_of("joint", "absolute"),
            "--samples": any_of(5, 1, 100),
            "--reactions": Asked.names,
            "--save": one_of("t.npz", "t.csv"),
        },
        {"--duration": _DURATION, "--max-seconds": budget},
        _PAGE,
    ),
    "estop": Command(
        10,
        {
            **STATE,
            **RATES,
            **STOP_LOADS,
            **BRAKES,
            **COMMON,
            **UNITS,
            **EARLIER,
            "--category": one_of("0", "1", "2"),
            "--payload-share": any_of(0.0, 1.0),
            "--deceleration": lambda a: a.values(5.0, 1.0),
            "--trajectory": lambda a: a.file(".csv", ".npz"),
            "--to": lambda a: a.values(0.5),
            "--require-brakes": None,
            "--tool-point": one_of("0,0,0.1", "0.1,0,0"),
            "--at": any_of(0.0, 0.01),
            "--tool": Asked.body,
            "--limits": one_of("stop", "ignore"),
        },
        {"--duration": any_of(0.05, 0.5, 2.0), "--max-seconds": budget},
        _PAGE,
    ),
    "stop-table": Command(
        3,
        {
            **COMMON,
            **UNITS,
            **EARLIER,
            **BRAKES,
            "--axes": lambda a: a.names(),
            "--speed": lambda a: a.values(1.0, 0.1),
            "--category": one_of("0", "1", "0,1"),
            "--deceleration": lambda a: a.values(5.0, 20.0),
            "--tool": Asked.body,
            "--commands": None,
            "--require-brakes": None,
            "--measured": lambda a: a.file("measured.csv"),
            "--grid": one_of("speed=100", "extension=33,66,100", "payload=0,100"),
        },
        {"--payload": any_of(1.0, 2.0), "--max-seconds": any_of(2, 1e-6)},
        ("text", "json", "csv", "html"),
    ),
    "worst-stop": Command(
        2,
        {
            **COMMON,
            **UNITS,
            **EARLIER,
            **BRAKES,
            "--axes": lambda a: a.names(),
            "--moving": one_of("one", "all"),
            "--speed": lambda a: a.values(1.0, 0.1),
            "--payload-range": Asked.range,
            "--torque-tolerance": any_of(0.1, 0.3),
            "--delay-tolerance": any_of(0.1),
            "--failure": one_of("dead", "worn=0.5", "late=0.1"),
            "--tool": Asked.body,
            "--limits": one_of("stop", "ignore"),
            "--seed": one_of("1", "2", "-1"),
            "--commands": None,
        },
        {
            "--payload": any_of(1.0, 2.0),
            "--samples": any_of(2, 1),
            "--duration": any_of(0.1, 0.02),
            # a search of six joints takes longer, twice where a report is compared
            "--max-seconds": any_of(1e-6, 2),
        },
    ),
    "sweep": Command(
        3,
        {
            **STATE,
            **RATES,
            **STOP_LOADS,
            **BRAKES,
            **COMMON,
            **UNITS,
            **EARLIER,
            "--require-brakes": None,
            "--category": one_of("0", "1", "2"),
            "--deceleration": lambda a: a.values(5.0, 1.0),
            "--seed": one_of("1", "2", "-1"),
            "--trajectory": lambda a: a.file(".csv", ".npz"),
            "--q-spread": any_of(0.1, 0.0),
            "--speed-range": Asked.range,
            "--torque-tolerance": any_of(0.1, 0.3),
            "--delay-tolerance": any_of(0.1),
            "--bound": one_of("0.9", "0.5,0.5", "1"),
            "--payload-range": Asked.range,
            "--tool": Asked.body,
            "--limits": one_of("stop", "ignore"),
            "--save-envelope": one_of("loads.csv", "loads.txt"),
        },
        {
            "--out": one_of("stops"),
            "--number": any_of(2, 1),
            "--jobs": one_of("1"),
            "--duration": any_of(0.1, 0.02),
            "--max-seconds": budget,
        },
    ),
    "crosscheck": Command(
        3,
        {
            **STATE,
            **RATES,
            **LOADS,
            **BRAKES,
            **DRY,
            **COMMON,
            "--lock": Asked.lock,
            "--signal": any_of(0.0, 0.005),
            "--torque": lambda a: a.values(1.0),
            "--against": lambda a: a.file(".urdf"),
            "--step": any_of(1e-3, 2e-3),
            "--iterations": any_of(50, 100),
            "--snap-angles": None,
        },
        {"--duration": any_of(0.01, 0.02), "--max-seconds": budget},
        _PAGE,
    ),
    "engines": Command(
        2,
        {
            **STATE,
            **RATES,
            **LOADS,
            **TOLERANCE,
            **COMMON,
            **UNITS,
            **EARLIER,
            "--hold": Asked.names,
            "--stance": Asked.names,
            "--friction": any_of(0.5, 0.0, -1.0),
            "--engine": one_of("pybullet", "mujoco", "mujoco,pybullet", "ode"),
        },
        {},
    ),
    "view": Command(
        2,
        {
            **STATE,
            **TOLERANCE,
            **PLANE,
            "--motion": lambda a: a.file(".csv", ".npz"),
            "--speed": any_of(1.0, 10.0),
            "--camera": one_of("30,-20", "30,-20,2"),
            "--no-labels": None,
            "--stop": None,
            "--force": None,
            "--output": one_of("out.txt", "old.json"),
        },
        {"--picture": one_of("p.png", "p.jpg"), "--size": one_of("64x48", "1x1")},
    ),
    "calibrate": Command(
        3,
        {
            **COMMON,
            "--hold-out": one_of("speed=100%", "payload>3", "speed>1"),
            "--parameters": one_of("delay,torque", "torque", "viscous", "ramp_time"),
            "--cover": None,
            "--payload": any_of(1.0, 2.0),
            "--speed": lambda a: a.values(1.0, 2.0),
            "--bound": one_of("0.9", "0.5,0.5"),
            **UNITS,
            **EARLIER,
        },
        {"--max-seconds": one_of("5", "1")},
        ("text", "json", "json", "toml"),
    ),
    "distance": Command(
        2,
        {
            "--standard": one_of("iso13855", "iso15066"),
            "--term": one_of(
                "K=1.6,t1=0.1,D_DS=0.85,Z=0.1", "K=1.6", "v_h=1.6,T_r=0.1,C=0.2,Z_d=0.1,Z_r=0.1,v_r=1"
            ),
            "--output": one_of("out.txt"),
            **EARLIER,
        },
        {},
    ),
    "close": Command(
        3,
        {
            **STATE,
            **TOLERANCE,
            **COMMON,
            "--write": one_of("w.xml", "w.sdf", "w.urdf", "w.scene.toml", "w.usda"),
            "--driven": Asked.names,
            **EARLIER,
        },
        {"--to": one_of("mjcf", "sdf", "urdf", "usd", "scene"), "--no-drift": None},
    ),
    "diff": Command(
        3,
        {
            **COMMON,
            "--map": lambda a: f"{a.joint()}={a.joint()}",
            "--tolerance": any_of(1e-3, 0.1),
            **EARLIER,
        },
        {},
        _PAGE,
    ),
    "warmup": Command(1, {"--output": one_of("out.txt")}, {}),
    "config": Command(2, {"--output": one_of("out.txt")}, {}),
    "rule": Command(1, {"--output": one_of("out.txt")}, {}),
    "schema": Command(1, {"--output": one_of("out.txt")}, {}),
}
_CODES = ("MB201", "MB101", "MB9", "mb201", "nonpositive-mass", "MB999")
_DOCUMENTS = (
    "lint",
    "scene",
    "matrix",
    "rule",
    "reactions",
    "modes",
    "simulate",
    "estop",
    "calibrate",
    "worst-stop",
    "distance",
    "sweep",
    "crosscheck",
    "engines",
    "close",
    "diff",
    "config",
)


@dataclass(frozen=True)
class Subject:
    """What a case is about: some of the commands, options that they mostly have, and perhaps many of the others.

    Parameters
    ----------
    commands, options : tuple of str
        No command: any.
    many : bool
    """

    commands: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    many: bool = False


#: What has files of its own beside a model.
SUBJECTS = {
    "measured": Subject(("calibrate", "calibrate", "stop-table"), ("--measured",)),
    "profile": Subject(("simulate",), ("--profile",)),
    "recorded": Subject(("estop", "sweep", "view"), ("--trajectory", "--motion")),
    "against": Subject(
        tuple(name for name, one in COMMANDS.items() if "--against" in one.options and name != "crosscheck"),
        ("--against",),
    ),
    "baseline": Subject(("lint",), ("--baseline",)),
    "sweep": Subject(("sweep",)),
    "configuration": Subject(("lint", "lint", "config"), ("--config",)),
    "options": Subject(many=True),
    "usd": Subject(),
}


def command_line(
    mechanism: Sketch, main: list[str], files: list[str], dice: Dice, subject: Subject | None = None
) -> list[str]:
    """Return the arguments of a command.

    Parameters
    ----------
    subject : Subject, optional
        What the command line is about; by default any command.
    main : list of str
        Files that a command is about, the likeliest first.
    files : list of str
        All files of the folder.
    """
    known = subject.commands if subject is not None and subject.commands else tuple(COMMANDS)
    name = dice.choices(known, [COMMANDS[one].share if len(known) > 8 else 1 for one in known])[0]
    command, asked = COMMANDS[name], Asked(mechanism, files, dice)
    words = [name, *_about(name, main, files, dice)]
    for option in subject.options if subject is not None else ():
        if option in command.options and not dice.odd():
            words += _written(option, command.options[option], asked)
    for option, maker in command.always.items():
        if not dice.odd(0.3):
            words += _written(option, maker, asked)
    for option, maker in command.options.items():
        share = 0.6 if option in ("--base", "--brake") else min(0.25, 2.5 / len(command.options))
        if dice.chance(share * (2 if subject is not None and subject.many else 1)):
            words += _written(option, maker, asked)
    if dice.chance(0.7):
        words += ["--output-format", dice.name(command.formats)]
    if dice.odd():
        # an option of another command
        other = COMMANDS[dice.any(tuple(COMMANDS))].options
        words += _written(option := dice.any(tuple(other)), other[option], asked)
    # no process takes such an argument
    return [word.replace("\0", "") for word in words]


def _about(name: str, main: list[str], files: list[str], dice: Dice) -> list[str]:
    if name == "rule":
        return [dice.name(_CODES)] if dice.chance(0.7) else []
    if name == "schema":
        return [dice.name(_DOCUMENTS)]
    if name == "warmup":
        return []
    if name == "distance":
        return [_beside("stop.json", files, dice)]
    found = [dice.name([*files, ".", "-", "*.urdf"])] if dice.chance(0.02) or dice.odd() else [main[0]]
    if name == "diff":
        found.append(dice.name(files))
    if name == "calibrate":
        found.append(_beside("measured.csv", files, dice))
    if name == "lint" and dice.chance(0.03):
        found.append(dice.any(files))
    return found


def _beside(usual: str, files: list[str], dice: Dice) -> str:
    return usual if usual in files and not dice.odd() else dice.name([*files, usual])


def _written(option: str, maker: Maker, asked: Asked) -> list[str]:
    if maker is None:
        return [option]
    value = maker(asked)
    # there is no such file
    return [option, value] if value or asked.dice.odd() else []
