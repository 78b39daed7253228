"""Answers to wrong command lines: one sentence, with what to type instead."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mbplugin.cli.help import COMMANDS, FILES, is_model
from mbplugin.files import remedy_for_missing
from mbplugin.phrases import ended, listed

if TYPE_CHECKING:
    from mbplugin.vocabulary import Described

#: Messages of libraries about values, and their replacements.
_WORDS = (
    (r": Value error, ", ": "),
    (r"Input should be a valid integer, .*", "expected a whole number"),
    (r"Input should be a valid number, .*", "expected a number"),
    (r"Input should be greater than or equal to (\S+)", r"expected at least \1"),
    (r"Input should be less than or equal to (\S+)", r"expected at most \1"),
    (r"(?i)'?([^' ]*)'? is not a valid (?:float|number)", r"\1 is not a number; expected a number"),
    (r"(?i)'?([^' ]*)'? is not a valid int(?:eger)?", r"\1 is not a whole number; expected a whole number"),
    (r"\. Did you mean (.*)\?", r"; did you mean \1?"),
    (r" \(Possible options?: (.*)\)", r"; did you mean \1?"),
    (r" Did you mean (.*)\?", r"; did you mean \1?"),
)
#: What words of other programs in the place of a command mean here.
_INTENDED = {
    "film": "view",
    "monte-carlo": "sweep",
    **dict.fromkeys(("help", "docs", "documentation", "manual", "man", "--list"), "--help"),
    **dict.fromkeys(("version", "-V", "-v"), "--version"),
    "--explain": "explain",
    **dict.fromkeys(("sim", "step", "play", "physics", "motion"), "simulate"),
    **dict.fromkeys(
        (
            "check",
            "info",
            "describe",
            "summary",
            "urdf",
            "sdf",
            "mjcf",
            "usd",
            "sdformat",
            "xacro",
            "loops",
            "loop",
            "closures",
            "stats",
            "statistics",
            "inertia",
            "mass",
            "masses",
            "limits",
            "joints",
            "links",
        ),
        "lint",
    ),
    **dict.fromkeys(("compile", "save", "write"), "close"),
    "constraints": "matrix",
    **dict.fromkeys(("fk", "forward-kinematics", "forward_kinematics"), "mb.forward_kinematics(FILE)"),
    **dict.fromkeys(
        ("rnea", "id", "inverse-dynamics", "inverse_dynamics", "torque", "torques", "actuation"),
        "mb.inverse_dynamics(FILE)",
    ),
    **dict.fromkeys(("jacobian", "jacobians"), "mb.jacobian(FILE, LINK)"),
    **dict.fromkeys(("crba", "mass-matrix", "mass_matrix"), "mb.mass_matrix(FILE)"),
    **dict.fromkeys(("gravity", "bias", "nle", "gravcomp", "gravity-compensation"), "mb.bias_forces(FILE)"),
    **dict.fromkeys(
        ("merge", "combine", "join", "attach"), "lint NAME.scene.toml, with a [[model]] table for each"
    ),
    **dict.fromkeys(("brake", "brakes", "halt", "stopping"), "estop"),
    "linearize": "modes",
    **dict.fromkeys(("list", "codes"), "rule"),
    "diagnose": "doctor",
    "setup": "init",
    **dict.fromkeys(
        ("animate", "animation", "movie", "video", "mp4", "gif", "tree", "urdf_to_graphiz"), "view"
    ),
    **dict.fromkeys(("configuration", "options", "show-config"), "config"),
    "completion": "--install-completion",
    "compare": "diff",
    "forces": "reactions",
    "watch": "lint --watch",
    "fix": "lint --fix",
    "patch": "lint --diff",
    "envelope": "reactions --envelope MOTION",
}
#: What options of other programs mean here; of several words the first that the command has.
_INSTEAD: dict[str, tuple[str, ...]] = {
    **{f"--{name}": (f"--output-format {name}",) for name in ("json", "html", "pdf", "sarif", "xlsx")},
    "--csv": ("--output-format csv", "--save"),
    "-f": ("--output-format",),
    **dict.fromkeys(("--out", "--save"), ("--output",)),
    **dict.fromkeys(("--seconds", "-t", "--end", "--length"), ("--duration",)),
    "-h": ("--step",),
    **dict.fromkeys(("--steps", "--nsteps", "--n-steps", "--num-steps", "--frames"), ("--duration S",)),
    **dict.fromkeys(("--config-q", "--initial", "--init", "--start", "--state"), ("--q",)),
    **dict.fromkeys(("--keyframe", "--key", "--home", "--named-pose"), ("--q NAME=VALUE",)),
    **dict.fromkeys(("--method", "--solver"), ("--integrator",)),
    **dict.fromkeys(
        ("--video", "--mp4", "--gif", "--record", "--movie", "--animation"),
        ("--film", "mbplugin view FILE --film robot.mp4"),
    ),
    **dict.fromkeys(("--log", "--log-file", "--export", "--dump", "--npz"), ("--save", "--output")),
    **dict.fromkeys(
        ("--brake-torque", "--braking-torque", "--holding-torque"), ("--brake JOINT:torque=50Nm",)
    ),
    **dict.fromkeys(
        ("--no-color", "--no-colour", "--color", "--colour", "--plain"), ("NO_COLOR=1 before the command",)
    ),
    **dict.fromkeys(("--viewer", "--gui", "--visualize", "--render", "--show"), ("mbplugin view FILE",)),
    **dict.fromkeys(
        ("--xacro", "--arg", "--args", "--xacro-args", "--mappings"), ("--xacro-arg NAME=VALUE",)
    ),
    "-I": ("--package-dir",),
    **dict.fromkeys(("--codes", "--rule", "--rules"), ("--select",)),
    "--no-warnings": ("--quiet",),
    **dict.fromkeys(
        ("--control", "--controller", "--policy", "--pd"), ("mb.simulate(FILE, controller=…) in Python",)
    ),
    "--merge": ("one scene file with a [[model]] table for each",),
    "-j": ("--jobs",),
    "--mass": ("--payload",),
    "--cat": ("--category",),
    "--min-severity": ("--fail-on",),
    "--rtol-rank": ("--tolerance",),
    **dict.fromkeys(("--tolerance", "--tol"), ("--tolerance", "--rtol")),
    **dict.fromkeys(("--external-force", "--external-forces"), ("--load",)),
    **dict.fromkeys(("--headless", "--offscreen", "--no-gui"), ("--picture robot.png",)),
    **dict.fromkeys(
        ("--fixed", "--fixed-base", "--static", "--anchored", "--weld", "--use-fixed-base"), ("--base fixed",)
    ),
    **dict.fromkeys(
        (
            "--free",
            "--floating",
            "--free-base",
            "--floating-base",
            "--free-flyer",
            "--freeflyer",
            "--root-joint",
            "--free-joint",
        ),
        ("--base free",),
    ),
    "--exclude": ("exclude = ['PATTERN'] in mbplugin.toml",),
    **dict.fromkeys(("--recursive", "-r", "-R", "--all"), ("a folder, which is searched with those in it",)),
    **dict.fromkeys(
        ("--exit-zero", "--no-fail", "--ignore-errors", "--no-error"), ("|| true behind the command",)
    ),
    **dict.fromkeys(("rule --list", "rule --all"), ("rule alone, which lists them",)),
    **dict.fromkeys(("--debug", "--details", "--full"), ("-v",)),
    "--strict": ("--fail-on note",),
    **dict.fromkeys(
        (
            "--werror",
            "--warn-as-error",
            "--warnings-as-errors",
            "--error-on-warning",
            "--fail-on-warning",
            "--max-warnings",
        ),
        ("--fail-on warning",),
    ),
    **dict.fromkeys(("--dry-run", "--patch", "--check"), ("--diff",)),
    **dict.fromkeys(("--markdown", "--md", "--github"), ("--output-format github",)),
    **dict.fromkeys(("--rev", "--revision", "--ref", "--commit"), ("REV:PATH for a file at a revision",)),
    **dict.fromkeys(
        ("server --port", "server --tcp", "server --socket", "server --ws"),
        ("mbplugin server, which speaks on stdin and stdout",),
    ),
    "-w": ("--watch",),
    "--preview": ("--diff",),
    **dict.fromkeys(("--help-all", "--usage", "--man", "-?"), ("--help",)),
    **dict.fromkeys(("--gravity", "--no-gravity", "-g"), ("gravity = [0, 0, 0] in a scene file",)),
    **dict.fromkeys(
        ("--speed", "--rate", "--omega", "estop --joint", "simulate --joint"), ("--qd NAME=VALUE",)
    ),
    **dict.fromkeys(("close --format", "close -f", "close --target"), ("--to",)),
    **dict.fromkeys(("close --save", "close --out", "close --export", "close --outfile"), ("--write",)),
    **dict.fromkeys(("--enable", "--include", "--with"), ("--extend-select", "--select")),
    **dict.fromkeys(("--yes", "-y", "--no-confirm"), ("it without: nothing is asked",)),
    **dict.fromkeys(("--error", "--errors", "--errors-only", "-e"), ("--fail-on error",)),
    **dict.fromkeys(("--realtime", "--real-time", "--live"), ("mbplugin view FILE --motion MOTION",)),
    "reactions --joint": ("no joint: the reactions of all are listed",),
    **dict.fromkeys(
        ("lint --write", "lint --in-place", "lint --inplace", "lint -i", "lint --repair"), ("--fix",)
    ),
}
#: Names of options that are as near as this are proposed for each other.
_NEAR = 0.75
#: Commands in which a word in place of an option is another argument.
_WORDS_OF = {
    "REV:PATH": "diff",
    "mbplugin": "",
    "NO_COLOR=1": "",
    "||": "",
    "it": "",
    "mb.simulate(FILE,": "",
    "one": "",
    "gravity": "",
    "exclude": "lint",
    "a": "lint",
    "rule": "rule",
    "no": "reactions",
}
#: Other names of formats of models.
_FORMATS = {
    **dict.fromkeys(("xml", "mujoco"), "mjcf"),
    **dict.fromkeys(("gazebo", "gz", "sdformat"), "sdf"),
    **dict.fromkeys(("usda", "usdc", "isaac", "openusd"), "usd"),
    **dict.fromkeys(("ros", "ros2", "pybullet"), "urdf"),
    "toml": "scene",
}
#: Names of the text of a comment on GitHub.
_MARKDOWN = ("markdown", "md", "gfm")
#: An argument of a xacro file, as the program xacro takes it.
_XACRO = re.compile(r"([A-Za-z_]\w*):=(.*)")
#: Values of options that name files, for messages.
_EXAMPLES = {
    "--plot": "motion.png",
    "--picture": "robot.png",
    "--film": "robot.mp4",
    "--save": "motion.csv",
    "--output": "FILE",
    "--write": "FILE",
    "--write-scene": "FILE.scene.toml",
    "--package-dir": "DIR",
    "--q": "NAME=VALUE",
    "--qd": "NAME=VALUE",
    "--payload": "BODY:MASS",
    "--load": "BODY:FX,FY,FZ",
    "--xacro-arg": "NAME=VALUE",
}
#: Number of files that converters take, one to read and one to write, and the formats of the second.
_OF_CONVERSION = 2
_WRITTEN_BY_CLOSE = {
    ".urdf": "urdf",
    ".sdf": "sdf",
    ".xml": "mjcf",
    ".usd": "usd",
    ".usda": "usd",
    ".toml": "scene",
}
#: Words of ``git diff OLD NEW FILE`` behind the command.
_OF_GIT = 3
#: Shortest name of an option that may be an abbreviation, with its dashes.
_ABBREVIATED = 4
#: Most commands with an option that are listed.
_OF_MANY = 5
#: Words of options of other programs for the file that is an argument here.
_OF_FILES = "file model robot input"


def usage_sentence(error: Any, arguments: Sequence[str], whole: Callable[[], typer.Typer]) -> str:
    """Return a sentence with the error in a command line and the correct usage.

    Parameters
    ----------
    error : UsageError
    arguments : sequence of str
        The command line.
    whole : callable
        Makes the application with all commands, in which an unknown word is searched for.
    """
    message = " ".join(error.format_message().split()).rstrip(".")
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    command = error.ctx.command_path if error.ctx else "mbplugin"
    if not message:  # no command at all: the help is the answer
        return str(error.ctx.get_help() if error.ctx else "")
    message = _with_near_options(f"{command}: {message[:1].lower()}{message[1:]}")
    if meant := _intended(message, error, arguments, whole):
        return ended(f"{message.partition(';')[0]}; write {meant}")
    if absent := _absent(message, error, whole):
        return ended(f"{message.partition(';')[0]}; {absent}")
    remedy = (
        _at_revisions(message, arguments)
        or _joined_value(message, arguments, error.ctx)
        or _remedy(message, command, arguments, error.ctx)
    )
    return message if message.endswith("?") else ended(f"{message}; {remedy}")


def _with_near_options(message: str) -> str:
    """Return a message about an unknown option with only those of its proposals that are near it."""
    if found := re.fullmatch(r"(.*no such command '(.*)'); did you mean '(.*)'\?", message):
        names = found[3].replace("'", "").split(", ")
        return message if any(map(partial(_hardly_differ, found[2]), names)) else found[1]
    found = re.fullmatch(r"(.*no such option: (-\S+)); did you mean (.*)\?", message)
    if not found:
        return message
    near = [
        option for option in found[3].split(", ") if _hardly_differ(found[2].strip("-"), option.strip("-"))
    ]
    return f"{found[1]}; did you mean {', '.join(near)}?" if near else found[1]


def _hardly_differ(typed: str, known: str) -> bool:
    return SequenceMatcher(None, typed, known).ratio() >= _NEAR


def _intended(message: str, error: Any, arguments: Sequence[str], whole: Callable[[], typer.Typer]) -> str:
    """Return our words for a word of another program; empty if it is unknown."""
    first, rest = (arguments[0], arguments[1:]) if arguments else ("", ())
    of_group = not error.ctx or error.ctx.parent is None
    if of_group and first == "help" and rest and rest[0] not in (*COMMANDS, *_INTENDED):
        return "mbplugin --help"
    if of_group and first.startswith("-") and "no such option" in message and (moved := _moved(arguments)):
        return moved
    unknown = "no such command" in message or "no such option" in message
    if of_group and unknown and rest and re.fullmatch(r"(?i)MB\d{3}", rest[0]):
        return f"mbplugin explain {rest[0]}"
    word = _INTENDED.get(
        first, _INTENDED.get(first.removesuffix("es"), _INTENDED.get(first.removesuffix("s"), ""))
    )
    if (
        of_group
        and not word
        and "no such option" in message
        and (line := _command_named(first[2:], error.ctx))
    ):
        return line
    if of_group and not word and "no such command" in message and "did you mean" not in message:
        return _command_like(first, rest, whole)
    if of_group and word.startswith("mb.") and unknown:
        # a function on arrays, which the shell has no form for
        return (
            word.replace("FILE", repr(rest[0]) if rest else "FILE")
            + " in Python, after import mbplugin as mb"
        )
    if of_group and word and unknown:
        command, *options = word.split()
        words = (*rest[:1], command) if word.startswith("--") else (command, *rest, *options)
        if command == "close":
            words = (command, *_arguments_of(command, first, rest))
        if command == "lint" and any(_XACRO.fullmatch(one) for one in rest):
            words = (command, *(_XACRO.sub(r"--xacro-arg \1=\2", one) for one in rest))
        return " ".join(("mbplugin", *words))
    found = re.search(r"no such option: (-\S+?)(?:;|$)", message)
    if not found or of_group:
        return ""
    typed = next((k for k, word in enumerate(arguments) if word.partition("=")[0] == found[1]), None)
    following = [] if typed is None else [arguments[typed].partition("=")[2], *arguments[typed + 1 :]]
    value = next((word for word in following[:2] if word and not word.startswith("-")), "")
    if found[1] == "--explain" or (found[1].startswith("--explain") and re.match(r"MB\d", value)):
        return f"mbplugin explain {value or 'CODE'}"
    if found[1] in ("-f", "-i", "--file", "--input") and value and Path(value).is_file():
        return f"mbplugin {error.ctx.info_name} {value}"
    if _is_number(found[1][1:]) and (meant := _negative_number(arguments)):
        return meant
    spelt = found[1].replace("_", "-").lower() if found[1].startswith("--") else found[1]
    # a letter with two dashes
    spelt = spelt[1:] if re.fullmatch("--[a-z]", spelt) and spelt[1:] in _INSTEAD else spelt
    if spelt in {name for one in error.ctx.parent.command.params for name in one.opts}:
        return f"mbplugin {spelt}"
    words = tuple(_instead(spelt, error.ctx.info_name))
    if found[1] == "--exclude" and re.match(r"MB\d", value):
        # rules are ignored, files are excluded
        words = ("--ignore",)
    if instead := next(filter(None, (_with_value(word, value, error.ctx) for word in words)), ""):
        return instead
    if instead := _by_letter(found[1], value, error.ctx) or _with_part(spelt, value, error.ctx):
        return instead
    if "did you mean" in message:
        return ""
    if instead := _of_other_command(spelt, value, error.ctx, whole):
        return instead
    # a word that is known, but not for this command, leads to nothing
    return "" if words else _option_like(spelt, value, error.ctx)


def _instead(option: str, command: str) -> Sequence[str]:
    """Return our words for an option of another program, which may be shortened or switched off."""
    if words := _INSTEAD.get(f"{command} {option}") or _INSTEAD.get(option, ()):
        return words
    joined = {known.replace("-", ""): words for known, words in _INSTEAD.items() if known.startswith("--")}
    if words := joined.get(option.replace("-", ""), ()):
        return words
    begun = {words for known, words in _INSTEAD.items() if known.startswith(option)}
    if len(option) > _ABBREVIATED and len(begun) == 1:
        return begun.pop()
    off = re.fullmatch(r"--(?:(?:no|without|disable|ignore)-(.+)|(.+?)-off)", option)
    return _INSTEAD.get(f"--no-{off[1] or off[2]}", ()) if off else ()


def _moved(arguments: Sequence[str]) -> str:
    """Return a command line whose first options stand behind its command; empty if there is no command in it."""
    place = next((k for k, word in enumerate(arguments) if word in COMMANDS or is_model(word)), 0)
    first, *values = arguments[:place] or ("",)
    named = () if arguments[place] in COMMANDS else ("lint",)
    options = (*_INSTEAD.get(first, (first,))[:1], *values)
    return " ".join(("mbplugin", *named, *arguments[place:], *options)) if place else ""


def _by_letter(letter: str, value: str, context: Any) -> str:
    """Return the options that a letter abbreviates: those with a value if there is one, and flags if it is a file."""
    if not re.fullmatch("-[a-zA-Z]", letter):
        return ""
    own = [one for one in context.command.params if one.param_type_name == "option" and one.name != "help"]
    begun = {
        one.opts[0]: one.is_flag or one.count for one in own if one.opts[0].startswith(f"-{letter.lower()}")
    }
    taking, flags = ([name for name, is_flag in begun.items() if is_flag == kind] for kind in (False, True))
    taking = [name for name in taking if name == f"-{letter}"] or taking
    found = [_with_value(name, value, context) for name in taking] if value else []
    found += flags if not value or is_model(value) else []
    return " or ".join(filter(None, found)) if len(found) in (1, 2) else ""


def _with_part(option: str, value: str, context: Any) -> str:
    """Return the one option that a longer one begins or ends with, such as ``--plot`` for ``--plot-file``."""
    names = [name for one in context.command.params for name in one.opts if name.startswith("--")]
    found = [name for name in names if name.replace("-", "") == option.replace("-", "")]
    found = found or [n for n in names if option.startswith(f"{n}-") or option.endswith(f"-{n[2:]}")]
    line = _with_value(found[0], value, context) if len(found) == 1 else ""
    if value or not line:
        return line
    part = next(one for one in context.command.params if found[0] in one.opts)
    return line if part.is_flag or part.count else ""


def _of_other_command(option: str, value: str, context: Any, whole: Callable[[], typer.Typer]) -> str:
    """Return the form of an option that another command has; empty if none has it."""
    others = [name for name in _described_commands(whole)[1].get(option, ()) if name != context.info_name]
    if len(others) > 1:
        return f"it behind a command that has it: {listed(others, _OF_MANY)}"
    line = f"mbplugin {others[0]} FILE {option} {value}".strip() if others else ""
    return line and f"{line}: {context.info_name} has no such option"


def _absent(message: str, error: Any, whole: Callable[[], typer.Typer]) -> str:
    """Return the remedy for a command or an option of a subject that is absent here; empty for any other."""
    from mbplugin.vocabulary import told

    found = re.search(r"no such (command|option):? '?([^';]*)'?$", message)
    if not found:
        return ""
    known = _described_commands(whole)[0] if found[1] == "command" else _described_options(error.ctx)
    return told(found[2].strip("-"), known)


def _command_like(word: str, rest: Sequence[str], whole: Callable[[], typer.Typer]) -> str:
    """Return the command line, the function or the option that a word in place of a command means; empty if unknown."""
    from mbplugin.vocabulary import meant, misspelt, public, told

    commands, options = _described_commands(whole)
    intended = {known: word for known, word in _INTENDED.items() if word in COMMANDS}
    if owners := options.get(f"--{word}", ()):
        return f"--{word} behind a command that has it: {listed(owners, _OF_MANY)}"
    functions = [one for one in public() if one.name.islower()]
    if not misspelt(word, commands, intended) and told(word, (*commands, *functions)):
        return ""
    if found := meant(word, commands, intended):
        name, *others = found
        line = " ".join(("mbplugin", name, *_arguments_of(name, word, rest)))
        return f"{line}, or {' or '.join(others)} instead of {name}" if others else line
    if found := meant(word, functions, {}):
        file = repr(rest[0]) if rest else "FILE"
        return f"{' or '.join(f'mb.{name}({file})' for name in found)} in Python, after import mbplugin as mb"
    return ""


def _arguments_of(command: str, word: str, rest: Sequence[str]) -> Sequence[str]:
    """Return the arguments of a command that stands for another word, which may name the format to write."""
    if command == "close" and (conversion := _conversion(rest)):
        return [conversion]
    formats = {**_FORMATS, **{one: one for one in _WRITTEN_BY_CLOSE.values()}}
    parts = re.split(r"[^a-z]+", word.lower())
    own = [_INSTEAD.get(f"{command} {one}", (one,))[0] for one in rest]
    if command == "view":
        written = {".mp4": "--film", ".gif": "--film", ".png": "--picture", ".jpg": "--picture"}
        own = [f"{written.get(Path(one).suffix.lower(), '')} {one}".strip() for one in own]
    if command == "close" and len(parts) > 1 and parts[-1] in formats and "--to" not in own:
        return [*own, "--to", formats[parts[-1]]]
    return own


def _described_commands(whole: Callable[[], typer.Typer]) -> tuple[list[Described], dict[str, list[str]]]:
    """Return the commands with their texts, and the commands of each option."""
    from mbplugin.vocabulary import Described

    group: Any = typer.main.get_command(whole())
    described: list[Described] = []
    options: dict[str, list[str]] = {}
    for name, command in group.commands.items():
        own = [one for one in command.params if one.param_type_name == "option"]
        texts = [f"{' '.join(one.opts)} {one.help or ''}" for one in own]
        described.append(Described(name, f"{COMMANDS[name].summary}", " ".join((command.help or "", *texts))))
        for one in own:
            for spelling in one.opts:
                options.setdefault(spelling, []).append(name)
    return described, options


def _option_like(option: str, value: str, context: Any) -> str:
    """Return the option that is meant by an unknown one of a command; empty if unknown."""
    from mbplugin.vocabulary import Described, leads_to, told

    known = _described_options(context)
    word = option.strip("-")
    for one in known:
        if word in _choices(_record(context, one.name)):
            return f"{one.name} {word}"
    if line := _command_named(word, context):
        return line
    if told(word, known):
        return ""
    file, about = _argument(context)
    own = _OF_FILES if file == "FILE" else file
    names = leads_to(option, [*known, Described(own, about)])
    if names[:1] == (own,) and (not value or is_model(value) or file != "FILE"):
        return f"{file} without an option: mbplugin {context.info_name} {value or file}"
    found = [line for name in names if (line := _with_value(name, value, context))]
    if not found:
        # a value of a form that only one option has
        alike = [one.name for one in known if _form(_record(context, one.name)).startswith("NAME=VALUE")]
        return f"{alike[0]} {value}" if "=" in value and len(alike) == 1 else ""
    first, *others = found
    line = f"{first}{_clause_of(first.partition(' ')[0], word, context)}"
    return f"{line}, or {' or '.join(one.partition(' ')[0] for one in others)}" if others else line


def _clause_of(option: str, word: str, context: Any) -> str:
    """Return the first clause of an option's help in parentheses, where only that help leads from a word to it."""
    own, given = option.strip("-").split("-"), word.lower().split("-")
    if any(a.startswith(b) or b.startswith(a) for a in own for b in given):
        return ""
    text = next((one.help or "" for one in context.command.params if option in one.opts), "")
    clause = re.split(r"[;:.,](?: |$)", text, maxsplit=1)[0]
    if not clause[1:2].isupper():
        clause = f"{clause[:1].lower()}{clause[1:]}"
    return f" ({clause})" if " " in clause else ""


def _command_named(word: str, context: Any) -> str:
    """Return the command line for an option with the name of a command, such as ``--list-rules``; empty without one."""
    core = [part for part in word.split("-") if part not in ("list", "show", "print", "do", "run", "get")]
    named = {f"{name}{ending}": name for name in COMMANDS for ending in ("", "s")}
    command = named.get("-".join(core), context.info_name)
    if command == context.info_name:
        return f"mbplugin {command} {_argument(context)[0]}: it is the command" if word == command else ""
    return f"mbplugin {command}"


def _argument(context: Any) -> tuple[str, str]:
    """Return the name of the first argument of a command, and its help text; ``FILE`` where it has none."""
    found = next((one for one in context.command.params if one.param_type_name == "argument"), None)
    return (
        ("FILE", "")
        if found is None
        else ((found.metavar or found.name.upper()).strip("…"), found.help or "")
    )


def _described_options(context: Any) -> list[Described]:
    """Return the options of a command with their help texts and the forms of their values."""
    from mbplugin.vocabulary import Described

    records = {one.opts[0]: one.get_help_record(context) for one in context.command.params}
    records = {name: record for name, record in records.items() if name.startswith("-") and record}
    return [Described(name, f"{text} {_form(record)}") for name, (record, text) in records.items()]


def _record(context: Any, option: str) -> str:
    """Return the first column of the help of an option."""
    found = next(one for one in context.command.get_params(context) if option in one.opts)
    return str(found.get_help_record(context)[0])


def _form(record: str) -> str:
    """Return the form of an option's value, as its help has it behind its name: ``S`` or ``text|json``."""
    return re.sub(r"^.*?(?: (?=[^-])|$)", "", record)


def _choices(record: str) -> list[str]:
    """Return the values that an option offers, from the first column of its help."""
    form = re.sub(r"[<>\[\]]", "", _form(record))
    return form.split("|") if "|" in form and form.lower() == form else []


def _negative_number(arguments: Sequence[str]) -> str:
    """Return the right form of a vector whose negative number stands as a separate word; empty without one."""
    place = next((k for k, word in enumerate(arguments) if word[:1] == "-" and _is_number(word[1:])), 0)
    option = next((word for word in reversed(arguments[:place]) if word.startswith("--")), "")
    if option in ("--force", "--wrench", "--load"):
        return "--load BODY:FX,FY,FZ, the numbers joined by commas"
    return f"{option} with its numbers joined to it, as in NAME={arguments[place]}" if option else ""


def _conversion(files: Sequence[str]) -> str:
    """Return the words of ``close`` for a file and the file to write, as converters take them; else an empty text."""
    if len(files) != _OF_CONVERSION or any(file.startswith("-") for file in files):
        return ""
    written = _WRITTEN_BY_CLOSE.get(Path(files[1]).suffix.lower())
    return f"{files[0]} --to {written} --write {files[1]}" if written else ""


def _with_value(word: str, value: str, context: Any) -> str:
    """Return an option with its value if the command has the option, and offers the value; else an empty text."""
    name, _, own = word.partition(" ")
    if name in _WORDS_OF:
        if re.fullmatch(r"[-+\d.e]+(,[-+\d.e]+)+", value):
            word = re.sub(r"\[.*\]", f"[{value.replace(',', ', ')}]", word)
        return word if _WORDS_OF[name] in ("", context.info_name) else ""
    option = next((one for one in context.command.get_params(context) if name in one.opts), None)
    if option is not None and (own.isupper() or ":" in own or "." in own):
        # a form to fill in
        return word
    offered = [] if option is None else re.split(r"\W", str(option.get_help_record(context)[0]))
    if option is None or not {*filter(None, re.split(r"\W", own))} <= {*offered}:
        return ""
    takes_one = not own and not (option.is_flag or option.count)
    if not own and not takes_one and value and not is_model(value):
        # a flag has no use for the value
        return ""
    form = _form(str(option.get_help_record(context)[0]))
    is_number = type(option.default) in (int, float) or re.match("<(float|int)", form)
    ending = Path(value).suffix.lower()
    if takes_one and name in ("--output", "--save") and ending in FILES:
        # the ending says what the file holds
        own_options = {one.name: one.opts[0] for one in context.command.params}
        word = next((own_options[one] for one in FILES[ending] if one in own_options), word)
    if takes_one and value and (choices := _choices(str(option.get_help_record(context)[0]))):
        return f"{word} {value}" if value in choices else ""
    if takes_one and value and is_number and not _is_number(value):
        return ""
    if takes_one and "=" in form.partition("|")[0] and not re.search("[=:]", value):
        return f"{word} {form}"
    if takes_one and name in ("--q", "--qd"):
        # as a mapping is written elsewhere
        value = re.sub(r"\s*[:=]\s*", "=", value.strip("{} ")).replace("'", "").replace('"', "")
    return f"{word} {value}".strip() if takes_one else word


def _remedy(message: str, command: str, arguments: Sequence[str], context: Any) -> str:
    name = command.partition(" ")[2]
    if found := re.search(r"option '(-[\w-]+)' does not take a value", message):
        return f"write {found[1]} alone"
    if len(arguments) > 1 and {*arguments[:2]} <= {*COMMANDS}:
        return f"write one command, mbplugin {' '.join(arguments[1:])} or {arguments[0]} instead of {arguments[1]}"
    if (found := re.search(r"option '(-[\w-]+)' requires an argument", message)) and arguments[0] in COMMANDS:
        offered = _choices(_record(context, found[1])) if context and context.parent else []
        value = offered[0] if offered else _EXAMPLES.get(found[1], "VALUE")
        return f"write {found[1]} {value}, see 'mbplugin {arguments[0]} --help'"
    if name == "server" and "unexpected extra argument" in message:
        return "write mbplugin server, the editor names the files"
    if name == "diff" and ": missing " in message and (file := arguments[-1].partition(":")[2]):
        return f"write mbplugin diff {arguments[-1]} {file}"
    if word := _offered(message):
        return f"write {word}"
    given = [word for word in arguments[1:] if word not in ("--output", "-o", "--write")]
    if name == "close" and "'--to'" in message and (words := _conversion(given)):
        return f"write mbplugin close {words}"
    if ": missing " in message and name in COMMANDS:
        return f"for example {COMMANDS[name].example}"
    first = arguments[0].lstrip("-") if arguments else ""
    if not name and first in COMMANDS:
        return f"write mbplugin {' '.join((first, *arguments[1:]))}"
    if "no such command" in message:
        beside = remedy_for_missing(Path(first)) if first else ""
        if beside.startswith("did you mean"):
            return f"of files, {beside}"
        return f"the commands are {', '.join(COMMANDS)}"
    for word in arguments:
        # a long name with a single dash
        if f"no such option: {word[:2]}" in message and re.match("-[^-].", word):
            return f"write -{word}"
    if "unexpected extra argument" in message and name in COMMANDS:
        several = "one FILE to each call; " if any(map(is_model, arguments[2:])) else ""
        return f"give {several}values to options, for example {COMMANDS[name].example}"
    return f"see '{command} --help'"


def _offered(message: str) -> str:
    """Return a choice that is meant by a value that is none, with its option or command; empty if none is near."""
    from mbplugin.vocabulary import Described, meant

    found = re.search(r"(\w*): invalid value for '(-*[\w-]+)[^']*': '([^']*)' is not one of (.*)", message)
    if not found:
        return ""
    typed, choices = found[3].lower(), re.findall(r"'([^']*)'", found[4])
    elsewhere = {**_FORMATS, **dict.fromkeys(_MARKDOWN, "github")}
    wanted = meant(typed, [Described(one) for one in choices], elsewhere)
    owner = found[2] if found[2].startswith("-") else f"mbplugin {found[1]}"
    return f"{owner} {wanted[0]}" if len(wanted) == 1 else ""


def _joined_value(message: str, arguments: Sequence[str], context: Any) -> str:
    """Return a remedy for a value that is separated from its option; empty if there is none.

    Examples are ``--qd j0 1.5``, ``--qd j0=1 j1=2`` and ``--payload 5 kg``.
    """
    if "unexpected extra argument" not in message:
        return ""
    for place, (option, first, extra) in enumerate(
        zip(arguments, arguments[1:], (*arguments[2:], ""), strict=False)
    ):
        flag = next(
            (one for one in context.command.params if option in (*one.opts, *one.secondary_opts)), None
        )
        if (
            flag is not None
            and getattr(flag, "is_flag", False)
            and option != "--force"
            and f"({first}" in message
        ):
            return f"{option} takes no value: {flag.help}"
        if option == "--force" and f"({first}" in message:
            return "write --load BODY:FX,FY,FZ for a force; --force replaces files"
        if not option.startswith("--") or f"({extra}" not in message or first.startswith("--"):
            continue
        if "=" in extra:
            return f"write {option} {first} {option} {extra}"
        if _is_number(first) and extra.isalpha():
            return f"write {option} {first}{extra}"
        if "=" not in first and _is_number(extra):
            # loads and payloads are stated as BODY:NUMBERS
            sign = ":" if option in ("--load", "--payload") else "="
            numbers = itertools.takewhile(_is_number, arguments[place + 2 :])
            return f"write {option} {first}{sign}{','.join(numbers)}"
        if option == "--units":
            return f"write {option} {first},{extra}"
    return ""


def _at_revisions(message: str, arguments: Sequence[str]) -> str:
    """Return a remedy for ``diff OLD NEW FILE``, as git has it; empty for anything else."""
    given = [word for word in arguments[1:] if not word.startswith("-")]
    if "unexpected extra argument" not in message or arguments[0] != "diff" or len(given) != _OF_GIT:
        return ""
    old, new, file = given
    return "" if is_model(old) or not is_model(file) else f"write mbplugin diff {old}:{file} {new}:{file}"


def _is_number(text: str) -> bool:
    return text[:1].isdigit() or (text[:1] in "+-." and text[1:2].isdigit())
