"""Check the arguments of public functions at each call against the annotations of their signatures."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, wraps
from inspect import Parameter, Signature, getdoc, signature, unwrap
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar, get_args

from mbplugin.choices import library_model
from mbplugin.errors import BadUsage
from mbplugin.phrases import cut_short, listed

if TYPE_CHECKING:
    from mbplugin.vocabulary import Described

_P = ParamSpec("_P")
_R = TypeVar("_R")
#: Other accepted names of a parameter (from other functions, the command line, earlier versions), and what they mean.
ALIASES = {
    "q0": ("q",),
    "qd0": ("qd",),
    "payloads": ("payload",),
    "number": ("count",),
    "brake": ("brakes",),
    "driver": ("drivers",),
    "load": ("loads",),
    "category": ("categories",),
    "engine": ("only",),
    "engines": ("only",),
    "mech": ("model", "source", "scene"),
    "model": ("mech", "source", "scene"),
    "source": ("mech", "model", "scene"),
}
#: Names from other libraries whose spelling alone would suggest a wrong parameter.
_ELSEWHERE = {
    **dict.fromkeys(("dq", "qvel", "v", "speed", "velocity", "velocities", "qdot", "vel"), "qd"),
    "a": "qdd",
    "format": "to",
    **dict.fromkeys(
        ("qpos", "pose", "positions", "joint_positions", "angles", "configuration", "state"), "q"
    ),
    **dict.fromkeys(("t", "T", "seconds", "n_steps", "nsteps", "steps", "num_steps"), "duration"),
    **dict.fromkeys(("ctrl", "tau", "torque", "actuation"), "controller"),
    **dict.fromkeys(("mass", "tool_mass", "tool"), "payload"),
    **dict.fromkeys(("frame", "frame_name", "tip"), "link"),
    **dict.fromkeys(("codes", "rules"), "select"),
    "fixed": "base",
    **dict.fromkeys(("inplace", "in_place"), "dry_run"),
}
#: Names from other libraries for the model of a function.
_OF_FILES = ("file", "path", "filename", "file_name", "robot", "urdf", "mjcf", "sdf", "xml", "input")
#: Remedies for words of other libraries that no argument stands for.
_REMEDIES = {
    "units": "results are in SI; texts state units, as in q={'j0': '30deg'}",
    "gravity": "state gravity = [0, 0, -9.81] in a scene file",
    "fix": "call mb.fix(FILE)",
    "joint": "the result has all joints",
    **dict.fromkeys(
        ("format", "output_format", "output", "out", "filename"), "call .save('report.json') on the result"
    ),
    **dict.fromkeys(("verbose", "quiet", "print"), "print the result"),
}
#: Options of ``load`` only; functions that take a mechanism have no such parameter.
_OF_LOADING = ("base", "massless", "package_dirs", "xacro_args", "xacro_unsafe")
_SHORT = 40
#: Dimensions of numbers that may be texts with a unit, by the names of their parameters.
_DIMENSIONS = {"duration": "time", "signal": "time", "step": "time", "max_seconds": "time", "payload": "mass"}
#: Type aliases of the annotations, written out. Classes are recognized by name, so none is imported.
_NAMED = {
    "ModelSource": "str | Path | Client | LibraryModel | Scene | Mechanism",
    "JointValues": "Mapping[str, float | str] | Array | None",
    "NamedNumbers": "Mapping[str, float | str]",
    "LoadLike": "Load | Mapping[str, Any]",
    "PayloadLike": "Payload | Mapping[str, Any]",
    "ContactLike": "Contact | Mapping[str, Any]",
    "PayloadValue": "float | PayloadLike | Iterable[PayloadLike] | None",
    "BrakeLike": "Brake | Mapping[str, Any]",
    "StiffnessLike": "Mapping[str, Any] | Iterable[Stiffness | Mapping[str, Any]]",
    "StopLike": "StopReport | StoppingTable | WorstStops | StopFigures | str | Path",
    "BulletClient": "Client",
    "MuJoCoModel": "LibraryModel",
    "MuJoCoData": "LibraryModel",
    "Start": "Move | Recorded",
    "Severity": "Literal['error', 'warning', 'note']",
    "Profile": "Callable",
    "Controller": "Callable",
    "Progress": "Callable",
    "Count": "Callable",
}
#: Phrases for messages: singular and plural.
_WORDS = {
    "ModelSource": (
        "a path, a PyBullet client, a Scene, a Mechanism, or a model of MuJoCo, Pinocchio, yourdfpy or urchin",
        "models",
    ),
    "JointValues": ("a mapping of joint names to numbers, or a vector", "vectors"),
    "NamedNumbers": ("a mapping of names to numbers", "mappings of names to numbers"),
    "StopLike": ("a StopReport, a StoppingTable, WorstStops, or the JSON file of one", "stops"),
    "Any": ("anything", "anything"),
    "float": ("a number", "numbers"),
    "int": ("a whole number", "whole numbers"),
    "bool": ("True or False", "True or False"),
    "str": ("a text", "texts"),
    "Path": ("a path", "paths"),
    "Array": ("numbers", "numbers"),
    "Client": ("a PyBullet client", "PyBullet clients"),
    "LibraryModel": ("a model of MuJoCo, Pinocchio, yourdfpy or urchin", "models"),
    "Callable": ("a function", "functions"),
}
#: Examples for messages, by a word of the expected kind.
EXAMPLES = {
    "Brake": "{'joint': 'elbow', 'torque': 50}",
    "Payload": "{'body': 'hand', 'mass': 5}",
    "Load": "{'body': 'hand', 'force': [0, 0, -10]}",
    "JointSpring": "mb.JointSpring('elbow', 200)",
    "Driver": "mb.Driver('crank', 'elbow', rate=1.0)",
    "Lock": "mb.Lock('elbow', at=0.5)",
    "TimedConstraint": "mb.TimedConstraint('clutch', at=0.5)",
    "joint names": "{'elbow': 0.5}",
}


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Wrap a public function so that each call checks its arguments and reports a mismatch in one sentence.

    Raises
    ------
    BadUsage
        Raised by the returned function: a value does not match its annotation, or an argument is unknown,
        missing or given twice.
    """

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        read: Any = [*_read_positional(function, args)], _read_named(function, len(args), kwargs)
        return function(*read[0], **read[1])

    if shared_arguments(function) is not None:
        # help() and inspect show each shared argument by its own name
        described: Any = call
        described.__signature__, described.__doc__ = _signature(function), _description(function)
    return call


def known_as(function: Callable[_P, _R], name: str) -> Callable[_P, _R]:
    """Return a checked function under another name, which its error messages show."""
    inner: Any = unwrap(function)

    @wraps(inner)
    def twin(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        found: _R = inner(*args, **kwargs)
        return found

    twin.__name__ = twin.__qualname__ = name
    return checked(twin)


@cache
def _parameters(function: Callable[..., Any]) -> dict[str, tuple[Parameter, Kind]]:
    found = _signature(function).parameters.items()
    return {name: (p, kind_of(ast.parse(p.annotation, mode="eval").body)) for name, p in found}


def shared_arguments(function: Callable[..., Any]) -> Any:
    """Return the TypedDict of a function's ``**arguments: Unpack[TypedDict]``; None for other functions."""
    inner: Any = unwrap(function)
    variadic = [p for p in signature(inner).parameters.values() if p.kind is Parameter.VAR_KEYWORD]
    name = re.fullmatch(r"Unpack\[(\w+)\]", variadic[0].annotation) if variadic else None
    return None if name is None else inner.__globals__[name[1]]


def _signature(function: Callable[..., Any]) -> Signature:
    """Return the signature of a function, with each shared argument as a parameter of its own."""
    own, shared = signature(unwrap(function)), shared_arguments(function)
    if shared is None:
        return own
    parameters = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    for name, reference in shared.__annotations__.items():
        # Annotated[TYPE, DEFAULT], as text because the annotations of the module are not evaluated
        annotated: Any = ast.parse(reference.__forward_arg__, mode="eval").body
        annotation, default = annotated.slice.elts
        kind = Parameter.KEYWORD_ONLY
        parameters.append(
            Parameter(name, kind, default=ast.literal_eval(default), annotation=ast.unparse(annotation))
        )
    return own.replace(parameters=parameters)


def _description(function: Callable[..., Any]) -> str:
    """Return the docstring of a function, with the parameters of its shared arguments in place of ``**NAME``."""
    entries = getdoc(shared_arguments(function)) or ""
    entries = entries.partition("Parameters\n----------\n")[2].rstrip()
    own = getdoc(unwrap(function)) or ""
    return re.sub(r"^\*\*\w+ : \w+\n(?: +.*\n)*", lambda _: f"{entries}\n", own, count=1, flags=re.MULTILINE)


def _read_positional(function: Callable[..., Any], args: Sequence[object]) -> Iterator[object]:
    places = [(n, p, k) for n, (p, k) in _parameters(function).items() if p.kind is not p.KEYWORD_ONLY]
    if places and places[-1][1].kind is Parameter.VAR_POSITIONAL:
        places += places[-1:] * (len(args) - len(places))
    if len(args) > len(places):
        raise _bad(
            function,
            f"{len(args)} arguments are given by position",
            f"{len(places)} at most ({listed([name for name, _, _ in places]) or 'none'})",
            "name the others",
        )
    form = f"write {function.__name__}({', '.join(name for name, _, _ in places)})" if len(args) > 1 else ""
    for value, (name, _, kind) in zip(args, places, strict=False):
        yield _read(function, name, kind, value, form)


def _read_named(function: Callable[..., Any], given: int, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    parameters = _parameters(function)
    names = [n for n, (p, _) in parameters.items() if p.kind is not p.VAR_POSITIONAL]
    found: dict[str, Any] = {}
    for written, value in kwargs.items():
        others = ALIASES.get(written, ()) if written not in names else ()
        name = next((other for other in others if other in names), written)
        if name not in names:
            remedy = _other_argument(function, written, names)
            if written in _OF_LOADING:
                remedy = f"give it to mb.load(FILE, {written}=…), and the result to this function"
            if _ELSEWHERE.get(written) not in names:
                remedy = _REMEDIES.get(written, remedy)
            raise _bad(function, f"there is no argument {written!r}", "", remedy)
        if name in found or name in names[:given]:
            raise _bad(function, f"{name!r} is given twice", "it once", "")
        found[name] = _read(function, name, parameters[name][1], value)
    for name in names[given:]:
        if parameters[name][0].default is Parameter.empty and name not in found:
            raise _bad(function, f"{name!r} is missing", parameters[name][1].words, f"write {name}=…")
    for name in getattr(shared_arguments(function), "__annotations__", ()):
        found.setdefault(name, parameters[name][0].default)
    return found


def described_arguments(function: Callable[..., Any]) -> list[Described]:
    """Return the arguments of a checked function with their descriptions, those of its shared arguments included."""
    from mbplugin.vocabulary import Described, described_entries

    texts = described_entries(_description(function))
    kinds = _parameters(function).items()
    return [Described(n, texts.get(n, "")) for n, (p, _) in kinds if p.kind is not p.VAR_POSITIONAL]


def _other_argument(function: Callable[..., Any], written: str, names: Sequence[str]) -> str:
    """Return a remedy with the argument that is meant by an unknown one, else with all arguments."""
    from mbplugin.vocabulary import meant, proposal

    known = [one for one in described_arguments(function) if one.name in names]
    model = next((name for name in ("source", "mech", "model", "scene") if name in names), "")
    elsewhere = {**_ELSEWHERE, **dict.fromkeys(_OF_FILES, model)}
    return proposal(meant(written, known, elsewhere)) or f"known names are {listed(sorted(names), 16)}"


def _read(function: Callable[..., Any], name: str, kind: Kind, value: object, form: str = "") -> object:
    """Return the value of an argument; ``form`` is the remedy where the value itself suggests none."""
    try:
        return kind.read(name, value)
    except Misfit as misfit:
        if (number := _with_unit(function, name, value)) is not None:
            return kind.read(name, number)
        what = f"{misfit.place} is {cut_short(repr(misfit.value), _SHORT)}"
        examples = (f"such as {example}" for kind, example in EXAMPLES.items() if kind in misfit.expected)
        row = "such as [0, 0, 0.1]" if misfit.expected == "numbers" else ""
        remedy = _as_path(misfit.value) or _as_number(misfit) or next(examples, row) or form
        raise _bad(function, what, misfit.expected, remedy) from None


def _bad(function: Callable[..., Any], what: str, expected: str, remedy: str) -> BadUsage:
    return BadUsage(what, where=f"{function.__name__}()", expected=expected, remedy=remedy)


def _with_unit(function: Callable[..., Any], name: str, value: object) -> float | None:
    """Return the SI value of a text with a unit, such as ``5kg``; None for any other value.

    Raises
    ------
    BadUsage
        The unit is of another dimension.
    """
    if not isinstance(value, str) or not re.fullmatch(r"\s*[-+.\d].*[^\W\d_]\s*", value):
        return None
    annotation = _parameters(function)[name][0].annotation
    if name not in _DIMENSIONS or "float" not in annotation:
        named = _NAMED.get(annotation, "")
        if name not in _DIMENSIONS or "float" not in named:
            return None
    from mbplugin.model import SI

    return SI.value(value, _DIMENSIONS[name], f"{function.__name__}(): {name} is")


def _as_path(value: object) -> str:
    """Return a remedy for what names files in another way than with a text or a path."""
    if isinstance(value, bytes) and value.lstrip().startswith(b"<"):
        return "decode it, and give it to mb.lint('robot.urdf', text=…)"
    if isinstance(value, bytes):
        return "write os.fsdecode(…) for a path in bytes"
    if isinstance(value, list | tuple) and value and all(isinstance(one, str | os.PathLike) for one in value):
        return "call it for each file"
    name = getattr(value, "name", None)
    return f"give its path, {name!r}" if hasattr(value, "read") and isinstance(name, str) else ""


def _as_number(misfit: Misfit) -> str:
    """Return a remedy with the numeric literal for a text that states a number, converted to SI if it has a unit."""
    if not isinstance(misfit.value, str) or "number" not in misfit.expected:
        return ""
    from mbplugin.model import SI

    try:
        value = SI.value(misfit.value, "", "")
    except BadUsage:
        return ""
    if "whole" in misfit.expected and value != round(value):
        return ""
    has_unit = misfit.value.strip()[-1] not in "0123456789."
    return f"write {value:.12g}{' (SI units)' if has_unit else ''}"


# Kinds of values that annotations admit: their wording in messages, and functions that read a value.


class Misfit(Exception):
    """A value that does not match: its location in the argument, the value, and the expected kind."""

    def __init__(self, place: str, value: object, expected: str) -> None:
        self.place, self.value, self.expected = place, value, expected


class Kind(NamedTuple):
    """Values that an annotation admits: singular and plural in words, and a reader that returns a value or raises."""

    words: str
    plural: str
    read: Callable[[str, Any], Any]


def kind_of(node: ast.expr) -> Kind:
    """Return the kind of values that an annotation admits.

    Raises
    ------
    AssertionError
        The form of the annotation is not supported.
    """
    match node:
        case ast.BinOp(left=left, right=right):
            return _either(kind_of(left), kind_of(right))
        case ast.Constant(value=None):
            return Kind("", "", _only(lambda value: value is None, ""))
        case ast.Subscript(value=ast.Name(id="Literal"), slice=inner):
            return _choice([ast.literal_eval(one) for one in _members(inner)])
        case ast.Subscript(value=ast.Name(id="Mapping"), slice=ast.Tuple(elts=[key, value])):
            return _mapping(kind_of(key), kind_of(value))
        case ast.Subscript(value=ast.Name(id="Iterable" | "Sequence"), slice=inner):
            return _several(kind_of(inner))
        case ast.Subscript(value=ast.Name(id="tuple"), slice=inner):
            return _row([kind_of(one) for one in _members(inner) if not isinstance(one, ast.Constant)], inner)
        case ast.Subscript(value=ast.Name(id="Callable")):
            return _named("Callable")
        case ast.Name(id=name):
            return _named(name)
    raise AssertionError(ast.unparse(node))


def _members(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _named(name: str) -> Kind:
    from mbplugin import choices

    if name in _NAMED:
        found = kind_of(ast.parse(_NAMED[name], mode="eval").body)
        return _called(found, *_WORDS[name]) if name in _WORDS else found
    if hasattr(choices, name):
        return _choice(get_args(getattr(choices, name)))
    article = "an" if name[0] in "AEIOU" else "a"
    words, plural = _WORDS.get(name, (f"{article} {name}", f"{name}s"))
    return Kind(words, plural, _only(_TESTS.get(name, lambda value: _is_a(value, name)), words))


def _called(kind: Kind, words: str, plural: str) -> Kind:
    """Return a kind with other wording."""

    def read(place: str, value: Any) -> Any:
        try:
            return kind.read(place, value)
        except Misfit as misfit:
            raise misfit if misfit.place != place else Misfit(place, value, words) from None

    return Kind(words, plural, read)


def _is_a(value: object, name: str) -> bool:
    return any(kind.__name__ == name for kind in type(value).__mro__)


def _is_client(value: object) -> bool:
    own = value if _is_whole(value) else getattr(value, "_client", None)
    return _is_whole(own)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return (isinstance(value, Real) and not isinstance(value, bool)) or (_is_array(value) and value.ndim == 0)


def _is_array(value: Any) -> bool:
    return hasattr(value, "dtype") and hasattr(value, "ndim") and value.dtype.kind in "fiu"


def _are_numbers(value: object) -> bool:
    if isinstance(value, list | tuple | range):
        return all(_is_number(one) or _are_numbers(one) for one in value)
    return _is_array(value)


_TESTS: dict[str, Callable[[Any], bool]] = {
    "Any": lambda value: True,
    "float": _is_number,
    "int": _is_whole,
    "bool": lambda value: (
        isinstance(value, bool) or _is_a(value, "bool_") or (_is_whole(value) and value in (0, 1))
    ),
    "str": lambda value: isinstance(value, str),
    "Path": lambda value: isinstance(value, os.PathLike),
    "Array": _are_numbers,
    "Client": _is_client,
    "LibraryModel": lambda value: library_model(value) is not None,
    "Callable": callable,
}


def _only(admits: Callable[[Any], bool], words: str) -> Callable[[str, Any], Any]:
    def read(place: str, value: Any) -> Any:
        if not admits(value):
            raise Misfit(place, value, words)
        return value

    return read


def _choice(names: Sequence[str]) -> Kind:
    words = " or ".join(map(repr, names))
    return Kind(
        words, f"some of {words}", _only(lambda value: isinstance(value, str) and value in names, words)
    )


def _either(left: Kind, right: Kind) -> Kind:
    words, plural = (" or ".join(filter(None, pair)) for pair in zip(left[:2], right[:2], strict=True))

    def read(place: str, value: Any) -> Any:
        try:
            return left.read(place, value)
        except Misfit as first:
            try:
                return right.read(place, value)
            except Misfit as second:
                deepest = max(first, second, key=lambda misfit: len(misfit.place))
                raise deepest if len(deepest.place) > len(place) else Misfit(place, value, words) from None

    return Kind(words, plural, read)


def _mapping(key: Kind, value: Kind) -> Kind:
    members = "" if value.words == "anything" else f" of names to {value.plural}"

    def read(place: str, given: Any) -> Any:
        if not isinstance(given, Mapping):
            raise Misfit(place, given, f"a mapping{members}")
        return {key.read(f"a name in {place}", k): value.read(f"{place}[{k!r}]", v) for k, v in given.items()}

    return Kind(f"a mapping{members}", f"mappings{members}", read)


def _several(one: Kind) -> Kind:
    """Return the kind of a list of any length; a single value that is not itself a list is accepted too."""
    words = f"a list of {one.plural}"

    def read(place: str, given: Any) -> Any:
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            try:
                return (one.read(place, given),)
            except Misfit:
                raise Misfit(place, given, words) from None
        members: Any = given
        members = members.tolist() if _is_array(given) else members
        return tuple(one.read(f"{place}[{k}]", value) for k, value in enumerate(members))

    return Kind(words, f"lists of {one.plural}", read)


def _row(members: Sequence[Kind], node: ast.expr) -> Kind:
    """Return the kind of a tuple, of fixed or of any length."""
    endless = ast.unparse(node).endswith("...)")
    words = members[0].plural if endless else f"{len(members)} {members[0].plural}"

    def read(place: str, given: Any) -> Any:
        if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
            raise Misfit(place, given, words)
        found = _several(members[0]).read(place, given)
        if not endless and len(found) != len(members):
            raise Misfit(place, given, words)
        return found

    return Kind(words, f"lists of {words}", read)
