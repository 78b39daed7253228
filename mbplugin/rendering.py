"""Output of results in every format. Results import the reports only here, and only when they are used."""

from __future__ import annotations

import re
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from mbplugin.errors import BadUsage, meant_by
from mbplugin.phrases import listed

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from mbplugin.vocabulary import Described

#: Package that makes the documents, texts, tables and pages of all results; no lower layer may import it.
_REPORTS = "mbplugin.report.results"
#: File endings, and the format of each.
ENDINGS: dict[str, str] = {
    ".txt": "text",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".xlsx": "xlsx",
    ".csv": "csv",
    ".toml": "toml",
    ".sarif": "sarif",
    ".xml": "junit",
}
#: Names of other libraries for methods of results.
_INSTEAD = {
    "html": "to_html",
    "json": "to_dict",
    "to_json": "to_dict",
    **dict.fromkeys(("to_pandas", "to_df", "df", "pandas"), "to_frame"),
    "to_dataframe": "to_frame",
    "dataframe": "to_frame",
    "figure": "plot",
    **dict.fromkeys(("file_name", "filename", "path", "location"), "file"),
    **dict.fromkeys(("lineno", "row"), "line"),
    **dict.fromkeys(("text", "description", "msg"), "message"),
    **dict.fromkeys(("rule", "id", "rule_id"), "code"),
    **dict.fromkeys(("results", "result", "violations", "problems", "diagnostics"), "findings"),
    **dict.fromkeys(("redundant_constraints", "redundancies", "redundancy"), "degree_of_redundancy"),
    **dict.fromkeys(("last", "final", "end", "x", "state", "states", "history"), "q"),
    "write": "save",
    **dict.fromkeys(("errors", "warnings", "notes", "issues", "messages", "codes"), "findings"),
    **dict.fromkeys(("ok", "passed", "success", "failed", "status", "valid", "clean"), "exit_code"),
    **dict.fromkeys(("t", "times", "stop_time"), "time"),
    **dict.fromkeys(("positions", "qpos", "angles"), "q"),
    **dict.fromkeys(("velocities", "qvel", "speeds"), "qd"),
    **dict.fromkeys(("A", "J", "toarray", "todense", "jacobian"), "C"),
    **dict.fromkeys(("shape", "nnz"), "C"),
    "p": "degree_of_redundancy",
    **dict.fromkeys(("distance", "distances"), "joints"),
    **dict.fromkeys(("joints", "edges"), "pairs"),
    "links": "bodies",
    **dict.fromkeys(
        ("is_overconstrained", "overconstrained", "overconstraints", "redundant", "is_redundant"),
        "degree_of_redundancy",
    ),
    **dict.fromkeys(("model", "robot", "tree", "plant"), "mechanism"),
    **dict.fromkeys(("torques", "forces", "tau", "wrenches"), "reactions"),
    **dict.fromkeys(("jacobian_matrix", "matrix"), "C"),
    **dict.fromkeys(("data", "asdict", "as_dict", "dict"), "to_dict"),
    "joint_names": "q_names",
}
#: Expressions for what results do not have as a method.
_PRINTED = dict.fromkeys(("print", "summary", "describe", "pprint", "display", "report"), "print(result)")
#: Expressions for what a scene or a mechanism does not have as an attribute.
COMPUTED = {
    **dict.fromkeys(("nq", "n_q"), "len(scene.mechanism.q_names)"),
    **dict.fromkeys(("dof", "dofs", "mobility", "nv", "ndof"), "mb.analyze(scene).mobility"),
    **dict.fromkeys(("njoints", "njnt", "num_joints", "n_joints"), "len(scene.mechanism.pairs)"),
    **dict.fromkeys(("nbodies", "nbody", "num_bodies", "n_links", "nframes"), "len(scene.mechanism.bodies)"),
    **dict.fromkeys(
        ("joint", "get_joint", "getJointId", "joint_map", "GetJointByName"),
        "scene.mechanism.pair_by_name[NAME]",
    ),
    **dict.fromkeys(
        ("link", "body", "get_link", "getBodyId", "getFrameId", "GetBodyByName"),
        "scene.mechanism.bodies[scene.mechanism.body_index[NAME]]",
    ),
    **dict.fromkeys(("qpos0", "q0", "neutral", "home", "qpos", "positions"), "scene.state.q"),
    **dict.fromkeys(("step", "rollout"), "mb.simulate(scene, 1.0)"),
    **dict.fromkeys(
        ("link_names", "body_names", "linkNames", "frame_names"),
        "[body.name for body in scene.mechanism.bodies]",
    ),
    **dict.fromkeys(("root", "base", "base_link", "root_link"), "scene.mechanism.tree.joints[0].outer"),
    **dict.fromkeys(
        ("save", "write", "export", "to_xml", "to_mjcf", "to_urdf", "to_sdf", "to_usd"),
        "mb.close(scene, 'mjcf').text",
    ),
    **dict.fromkeys(("mass", "total_mass", "get_mass"), "sum(body.mass for body in scene.mechanism.bodies)"),
    **dict.fromkeys(
        ("lower", "upper", "lower_limits", "upper_limits", "joint_limits", "jnt_range"),
        "[pair.freedoms for pair in scene.mechanism.pairs]",
    ),
    **dict.fromkeys(("plot", "draw", "show", "visualize"), "mb.view(scene)"),
    **dict.fromkeys(("fk", "forward_kinematics", "link_fk"), "mb.forward_kinematics(scene)"),
    **dict.fromkeys(("M", "mass_matrix", "crba"), "mb.mass_matrix(scene)"),
    **{
        name: f"mb.{name}(scene)"
        for name in ("simulate", "lint", "analyze", "reactions", "estop", "jacobian", "inverse_dynamics")
    },
}
_WRITTEN_FILES = dict.fromkeys(("to_csv", "to_excel", "export"), "save")
#: Attributes of a class with a docstring of their own.
_DOCUMENTED = (property, cached_property, FunctionType)
#: Binary formats, which are written to files only.
BINARY = ("pdf", "xlsx")
#: Endings of files of any text or any XML, which another stated format may use.
_OPEN = (".txt", ".xml")


def rendered(result: object, kind: Literal["json", "html"]) -> str:
    """Return the JSON document or the HTML page of a result.

    Raises
    ------
    TypeError
        There is no report for a result of this type.
    """
    return str(_reports().text_of(result, kind))


def cell(result: object) -> str:
    """Return the HTML of a result for a notebook cell."""
    return str(_reports().cell_of(result))


def _reports() -> Any:
    return import_module(_REPORTS)


def refuse_attribute(owner: object, name: str, part: str = "") -> NoReturn:
    """Raise the error for an attribute that an object does not have, with what is meant.

    Parameters
    ----------
    owner : object
    name : str
    part : str
        An attribute of the object whose own attributes may be meant.

    Raises
    ------
    AttributeError
    """
    if not name.startswith("_") and name in dir(type(owner)):
        # a property raised the error
        object.__getattribute__(owner, name)
    raise _NoAttribute(owner, name, part)


class _NoAttribute(AttributeError):
    """The error for an unknown attribute; what is meant is searched for when the message is read, not before."""

    # tracebacks show the name of what users catch
    __module__, __qualname__ = "builtins", "AttributeError"

    def __init__(self, owner: object, name: str, part: str) -> None:
        super().__init__(f"{type(owner).__name__!r} object has no attribute {name!r}", name=name, obj=owner)
        self._part = part

    def __str__(self) -> str:
        name = self.name or "_"
        return f"{self.args[0]}{'' if name.startswith('_') else f'; {_meant(self.obj, name, self._part)}'}"

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        """Return the error with its message only, for other processes."""
        return AttributeError, (str(self),)


class Loaded(ABCMeta):
    """The class of what ``load`` returns: an unknown attribute of it, such as ``from_file``, leads to ``load``."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> NoReturn:
            """Raise the error for an attribute that the class does not have; its values may have it."""
            said = f"type object {cls.__name__!r} has no attribute {name!r}"
            if not name.startswith("_"):
                # users may derive from both
                is_scene = any(base.__name__ == "Scene" for base in cls.__mro__)
                loaded = 'mb.load("robot.urdf")' + ("" if is_scene else ".mechanism")
                said += f"; write {loaded}{f'.{name}' if name in getattr(cls, '__dataclass_fields__', ()) else ''}"
            raise AttributeError(said, name=name, obj=cls)


def _meant(owner: object, name: str, part: str) -> str:
    """Return the attribute or the expression that is meant by an attribute that an object does not have."""
    from mbplugin.vocabulary import leads_to, misspelt, proposal, public

    expressions = {**_PRINTED, **_WRITTEN_FILES} if isinstance(owner, Result) else {}
    if type(owner).__name__ in ("Scene", "Mechanism"):
        expressions = COMPUTED
    if written := expressions.get(name):
        return f"write {written}" if re.search(r"[(\[.]", written) else f"did you mean {written!r}?"
    known = _described(owner)
    if part in vars(owner):
        own = {one.name for one in known}
        inside = [one for one in _described(vars(owner)[part]) if one.name not in own]
        known += [one._replace(name=f"{part}.{one.name}") for one in inside]
    places = {one.name.removeprefix(f"{part}."): one.name for one in known}
    elsewhere = {**places, **{word: places.get(instead, "") for word, instead in _INSTEAD.items()}}
    if found := misspelt(name, known, elsewhere):
        return proposal(found)
    if written := meant_by(name, expressions):
        return f"write {written}"
    if any(one.name == name for one in public()):
        return f"write mb.{name}(…)"
    # a result does not repeat the parts of its mechanism
    mechanism = getattr(owner, "mechanism", None) if isinstance(owner, Result) else None
    if mechanism is not None:
        parts = {
            **dict.fromkeys(("joints", "joint_list"), "pairs"),
            **dict.fromkeys(("links", "link_list"), "bodies"),
        }
        if found := misspelt(name, _described(mechanism), parts):
            return f"write {' or '.join(f'mechanism.{one}' for one in found)}"
    if found := leads_to(name, known):
        return proposal(found)
    # the function that made a result has given all that it has
    own_kind = type(owner).__name__.lower()
    others = [one for one in public() if one.name.islower() and one.name != own_kind]
    if functions := leads_to(name, others, is_named=True):
        return f"write {' or '.join(f'mb.{one}(…)' for one in functions)}"
    return f"known names are {listed(sorted(one.name for one in known if '.' not in one.name), 16)}"


def _described(owner: object) -> list[Described]:
    """Return the public attributes of an object with their texts: those of its class, and their own."""
    from mbplugin.vocabulary import Described, described_entries

    entries = described_entries(getdoc(type(owner)) or "")
    names = [name for name in dir(owner) if name[0] != "_"]
    own = {name: getattr(type(owner), name, None) for name in names}
    texts = {name: getdoc(one) or "" for name, one in own.items() if isinstance(one, _DOCUMENTED)}
    return [
        Described(name, texts.get(name, "").partition("\n\n")[0], entries.get(name, "")) for name in names
    ]


class Result:
    """A result: one line in an interpreter, text in ``print``, a short table or picture in a notebook."""

    def __str__(self) -> str:
        """Return the text that the command line prints."""
        return str(_reports().text_of(self, "text"))

    def _repr_html_(self) -> str:
        return cell(self)

    def __getattr__(self, name: str) -> NoReturn:
        """Raise the error for an attribute that does not exist, with the nearest one that does."""
        refuse_attribute(self, name)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document of the command line as Python values that JSON can hold."""
        document: dict[str, Any] = _reports().dict_of(self)
        return document

    def to_frame(self) -> pandas.DataFrame:
        """Return the result's table (SI units) as a ``pandas.DataFrame``.

        Raises
        ------
        MissingDependency
            pandas is not installed.
        """
        return _reports().frame_of(self)

    def to_html(self) -> str:
        """Return the result as a self-contained HTML page."""
        return str(_reports().text_of(self, "html"))

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the result to a ``.png``, ``.svg``, ``.pdf`` or ``.jpg`` file, or in a window if no path is given.

        Returns
        -------
        matplotlib.figure.Figure
            The drawing, whether or not there is a display.

        Raises
        ------
        MissingDependency
            Matplotlib is not installed.
        BadUsage
            The ending means no picture format, or the file cannot be written.
        """
        figure: Figure = _reports().plot(self, path)
        return figure

    def save(self, path: str | Path = "") -> None:
        """Write the result to ``.json``, ``.html``, ``.csv`` (the table), ``.txt`` or ``.xlsx``.

        The file is written completely or not at all. Results with an HTML page can also be written to ``.pdf``,
        and some have further formats, such as ``.npz`` for a motion.

        Raises
        ------
        BadUsage
            There is no path, its ending means none of these formats, or the file cannot be written.
        MissingDependency
            The package of a format is not installed.
        """
        if not str(path):
            raise BadUsage("'path' is missing", where="save()", remedy="write save('result.json')")
        _reports().save(self, Path(path), self._writers())

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        """Return the writers of formats specific to this result, by ending."""
        return {}


# The formats of output files by their ending, for all commands and for ``save``.


def endings_of(formats: Sequence[str]) -> list[str]:
    """Return the endings of these formats."""
    return [ending for ending, meant in ENDINGS.items() if meant in formats]


def format_of(
    path: Path, formats: Sequence[str], what: str, own: Sequence[str] = (), remedy: str = ""
) -> str:
    """Return the format of an output file by its ending.

    Parameters
    ----------
    path : Path
    formats : sequence of str
        The formats offered.
    what : str
        Name of the file in the error, such as ``--output``.
    own : sequence of str
        Endings of further formats that are accepted, for the error.
    remedy : str
        An alternative, for the error.

    Raises
    ------
    BadUsage
        The ending means none of the formats.
    """
    ending = path.suffix.lower()
    meant = ENDINGS.get(ending)
    if meant is None or meant not in formats:
        raise BadUsage(
            f"{what} is {str(path)!r}, and {ending or 'a file without ending'} is none of the formats here",
            expected=f"a file that ends in {' or '.join(dict.fromkeys((*own, *endings_of(formats))))}",
            remedy=remedy,
        )
    return meant


def require_agreement(path: Path, stated: str) -> None:
    """Require that the ending of ``--output`` does not contradict the stated format.

    Raises
    ------
    BadUsage
    """
    ending = path.suffix.lower()
    meant = ENDINGS.get(ending, stated)
    if meant != stated and ending not in _OPEN:
        raise BadUsage(
            f"--output is {str(path)!r}, but --output-format is {stated}",
            expected=f"--output-format {meant}, or another ending",
        )
