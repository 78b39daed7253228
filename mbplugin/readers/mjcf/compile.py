"""Compile MJCF with the mujoco package, condensing its messages to one sentence."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mbplugin.errors import (
    BadNumber,
    BrokenModel,
    MbPluginError,
    MissingDependency,
    UnresolvedPath,
    suggestion,
)
from mbplugin.model import LARGEST, WORLD, Defect, Origin, Request
from mbplugin.processes.foreign import EngineFailed
from mbplugin.processes.supervised import no_more_files
from mbplugin.readers.mjcf.files import (
    MISPLACED_ATTRIBUTE,
    SIZES,
    STATED_LINE,
    ModelFiles,
    Schema,
    correction_of,
    same_mechanics,
    stand_ins,
)
from mbplugin.readers.unread import (
    LOOKS,
    PROGRAM,
    READ,
    SENSOR,
    TOUCH,
    Entry,
    Idle,
    Unread,
    Use,
    Vocabulary,
    each,
    entry,
)
from mbplugin.readers.xml import TURNING, Element, attributes_of, local_name, origin, rounded_angle, where

#: Compiled arrays that are used in a mechanism.
_ARRAYS = (
    *("body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia"),
    *("jnt_pos", "jnt_axis", "qpos0", "eq_data", "site_pos", "site_quat"),
    *("dof_damping", "dof_armature", "dof_frictionloss", "geom_pos", "geom_quat", "geom_size"),
    *("jnt_stiffness", "qpos_spring"),
)
#: Arrays among these with no zero rows.
_DIRECTIONS = ("jnt_axis", "body_quat", "body_iquat", "geom_quat", "site_quat")
#: Warnings after which MuJoCo resets a diverged motion.
_DIVERGED = ("mjWARN_BADQPOS", "mjWARN_BADQVEL", "mjWARN_BADQACC")
_MISSING_FILE = re.compile(r"Error opening file '([^']*)'|(?:resource|file) not found[^']*'([^']*)'", re.I)
_ELEMENT = re.compile(r"[Ee]lement '([^']*)'")
#: MuJoCo prints tags in the first 30 columns, followed by their attributes.
_COLUMN = 30
_LABEL = Idle("a label that moves nothing")
_STEPS = Idle("steps and solvers of MuJoCo's own integration")
_BOUND = Idle("MuJoCo's memory")
_SOFT = Unread("constraints are rigid here", note=True)
_STAYS = Unread("it stays enabled here", default="enable")
_FLUID = Unread("there is no fluid here", default="0")
#: Most drives of public models, so a note: position drives hold joints at zero, which no error of the file is.
_DRIVE = Unread(
    "what it does without a command is left out, state it as [[spring]] in a scene file", note=True
)
_MOTOR = Unread("without a command it does nothing", note=True)
_TENDON = Unread("tendons are not modelled")
_SHEET = Unread("deformable bodies are not modelled")
_UNKNOWN = Unread()
_ACTUATORS: dict[str, Use | str] = {
    "motor": _MOTOR,
    **dict.fromkeys(
        ("general", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder"), _DRIVE
    ),
    **each("muscle adhesion dcmotor plugin", _DRIVE),
}
_ELEMENTS: dict[str, Entry] = {
    "mjcf_joint": entry(
        "name class type pos axis range limited ref stiffness springref springdamper springyield damping "
        "frictionloss armature actuatorfrclimited actuatorfrcrange",
        {
            "group": _LABEL,
            "user": _LABEL,
            "actuatorgravcomp": Unread("drives do not hold weight here", default="false"),
            "margin": Unread("limits act where they are", default="0", note=True),
            **each("solreflimit solimplimit solreffriction solimpfriction", _SOFT),
        },
        rest=_UNKNOWN,
    ),
    "mjcf_freejoint": entry("align", each("name group", _LABEL), rest=_UNKNOWN),
    "mjcf_inertial": entry(
        "pos quat mass axisangle xyaxes zaxis euler diaginertia fullinertia", rest=_UNKNOWN
    ),
    "mjcf_geom": entry(
        "class type size pos quat axisangle xyaxes zaxis euler fromto mass density shellinertia mesh "
        "fitscale contype conaffinity",
        {
            **each("name user group", _LABEL),
            **each("rgba material castshadow", LOOKS),
            "hfield": Unread("the shape is left out", note=True),
            **dict.fromkeys(
                ("condim", "friction", "solmix", "solref", "solimp", "margin", "gap", "priority"), TOUCH
            ),
            **each("adhesion surfacevel", TOUCH),
            **dict.fromkeys(("fluidcoef", "fluidshape"), Unread("there is no fluid here", note=True)),
        },
        {"plugin": PROGRAM},
        rest=_UNKNOWN,
    ),
    "mjcf_site": entry(
        "name class pos quat axisangle xyaxes zaxis euler fromto",
        each("type size rgba material group user mesh", Idle("looks of a marker")),
        rest=_UNKNOWN,
    ),
    "mjcf_equality": entry(
        "name class active body1 body2 site1 site2 anchor relpose joint1 joint2 polycoef",
        {
            "torquescale": Unread("only 0 counts, which frees the rotation", default="1", note=True),
            "solref": _SOFT,
            "solimp": _SOFT,
        },
        rest=_UNKNOWN,
    ),
    "mjcf_option": entry(
        "gravity",
        {
            "density": _FLUID,
            "viscosity": _FLUID,
            "wind": Unread("there is no wind here", default="0 0 0"),
            "magnetic": SENSOR,
            **each("o_margin o_solref o_solimp o_friction", TOUCH),
            "actuatorgroupdisable": Idle("actuators are not modelled"),
            **each(
                "timestep impratio integrator cone jacobian solver iterations ls_iterations tolerance "
                "noslip_iterations ccd_iterations sdf_iterations sdf_initpoints ls_tolerance apirate "
                "noslip_tolerance ccd_tolerance sleep_tolerance mpr_tolerance mpr_iterations collision",
                _STEPS,
            ),
        },
        {"flag": "mjcf_flag"},
        rest=_UNKNOWN,
    ),
    "mjcf_flag": entry(
        "gravity",
        {
            **each("constraint equality frictionloss limit spring damper passive", _STAYS),
            **each(
                "contact filterparent midphase nativeccd multiccd speculative ipc",
                Idle("bodies do not touch here anyway"),
            ),
            **each("actuation clampctrl", Idle("actuators are not modelled")),
            "sensor": SENSOR,
            **each(
                "warmstart refsafe eulerdamp autoreset override energy fwdinv invdiscrete island sleep "
                "diagexact",
                _STEPS,
            ),
        },
        rest=_UNKNOWN,
    ),
}
_BODY_CHILDREN: dict[str, Use | str] = {
    **dict.fromkeys(("body", "frame", "replicate", "composite", "attach"), "mjcf_body"),
    "inertial": "mjcf_inertial",
    "joint": "mjcf_joint",
    "freejoint": "mjcf_freejoint",
    "geom": "mjcf_geom",
    "site": "mjcf_site",
    "camera": LOOKS,
    "light": LOOKS,
    "plugin": PROGRAM,
    "flexcomp": _SHEET,
    "include": READ,
}
_MANY = " ".join(
    (
        *_BODY_CHILDREN,
        *_ACTUATORS,
        *("connect weld tendon flex flexstrain spatial fixed pair exclude default",),
        *("mesh hfield skin texture material model key worldbody",),
    )
)
_MODEL_CHILDREN: dict[str, Use | str] = {
    "compiler": "mjcf_compiler",
    "option": "mjcf_option",
    "size": _BOUND,
    "statistic": LOOKS,
    "visual": LOOKS,
    "default": "mjcf_default",
    "extension": PROGRAM,
    "asset": "mjcf_asset",
    "worldbody": "mjcf_body",
    "deformable": _SHEET,
    "contact": "mjcf_contact",
    "tendon": "mjcf_tendon",
    "equality": "mjcf_equalities",
    "actuator": "mjcf_actuator",
    "sensor": SENSOR,
    "custom": _LABEL,
    "keyframe": "mjcf_keyframe",
    "include": READ,
}
_SECTIONS = (
    *("compiler", "option", "default", "asset", "worldbody", "contact", "tendon", "equality", "actuator"),
    *("sensor", "custom", "keyframe", "size", "visual", "statistic", "extension", "deformable", "include"),
)
MJCF: Vocabulary = {
    **_ELEMENTS,
    "mujoco": entry("model", {}, _MODEL_CHILDREN, many=" ".join(_SECTIONS), foreign=_UNKNOWN),
    # an included file may contain a part of any section
    "mujocoinclude": entry(
        "model",
        {},
        {**_ACTUATORS, **_BODY_CHILDREN, **_MODEL_CHILDREN},
        many=f"{_MANY} {' '.join(_SECTIONS)}",
        foreign=READ,
        rest=READ,
    ),
    "mjcf_compiler": entry("", {}, {"lengthrange": Idle("lengths of muscles")}, rest=READ),
    "mjcf_body": entry(
        "name pos quat axisangle xyaxes zaxis euler childclass class fuse count offset sep prefix model body "
        "frame type size curve initial vertex",
        {
            "gravcomp": Unread("gravity acts on every body here", default="0"),
            "mocap": Unread("it stands still here", default="false"),
            "user": _LABEL,
            "sleep": _STEPS,
            "simple": _STEPS,
        },
        _BODY_CHILDREN,
        many=_MANY,
        foreign=_UNKNOWN,
        rest=_UNKNOWN,
    ),
    "mjcf_default": entry(
        "class",
        {},
        {
            "default": "mjcf_default",
            "joint": "mjcf_joint",
            "geom": "mjcf_geom",
            "site": "mjcf_site",
            "equality": "mjcf_equality",
            "mesh": READ,
            "tendon": Unread("tendons are not modelled", note=True),
            "pair": TOUCH,
            **each("camera light texture material", LOOKS),
            **dict.fromkeys(_ACTUATORS, Unread("actuators are not modelled", note=True)),
            "include": READ,
        },
        many=_MANY,
        foreign=_UNKNOWN,
    ),
    "mjcf_asset": entry(
        children={
            "mesh": READ,
            "model": Unread("it is compiled, but what is not read of it is not listed", note=True),
            **each("texture material skin", LOOKS),
            "hfield": Unread("the shape is left out", note=True),
            "include": READ,
        },
        many=_MANY,
        foreign=_UNKNOWN,
    ),
    "mjcf_contact": entry(children={"pair": TOUCH, "exclude": TOUCH}, many=_MANY, foreign=TOUCH),
    "mjcf_tendon": entry(children={"spatial": _TENDON, "fixed": _TENDON}, many=_MANY, foreign=_TENDON),
    "mjcf_equalities": entry(
        children={
            **dict.fromkeys(("connect", "weld", "joint"), "mjcf_equality"),
            "tendon": _TENDON,
            **each("flex flexvert flexstrain", _SHEET),
        },
        many=_MANY,
        foreign=_UNKNOWN,
    ),
    "mjcf_actuator": entry(children=_ACTUATORS, many=_MANY, foreign=_DRIVE),
    "mjcf_keyframe": entry(
        children={"key": Unread("a saved state; the pose of the model counts", note=True)},
        many=_MANY,
        foreign=_UNKNOWN,
    ),
}


def mujoco_module() -> Any:
    """Return the mujoco package.

    Raises
    ------
    MissingDependency
        The package is not installed.
    """
    try:
        import mujoco
    except ImportError:
        raise MissingDependency.of("reading MJCF", "mujoco", "mjcf") from None
    return mujoco


def compile_mjcf(files: ModelFiles, request: Request) -> Any:
    """Return the compiled ``MjModel``.

    Parameters
    ----------
    files : ModelFiles
        All content given to MuJoCo.
    request : Request
        The origin of the model, for messages.

    Raises
    ------
    UnresolvedPath
        An include is missing, or a mesh on which masses depend.
    BrokenModel
        Anything else that the compiler refuses.
    BadNumber
        A number is not finite, or too large.
    EngineFailed
        MuJoCo failed otherwise, and cannot be used any more in this process.
    """
    root = files.roots[0]
    if local_name(root) != "mujoco":
        raise BrokenModel(f"the root element is <{local_name(root)}>", where=where(root), expected="<mujoco>")
    mujoco = mujoco_module()
    with _quiet(mujoco) as warnings:
        try:
            model = _compiled(mujoco, files)
        except ValueError as error:
            message = files.as_written(str(error))
            documents = [*files.roots, *files.attached]
            correction = correction_of(Schema.of(mujoco, root), message, documents)
            raise _compile_error(message, request, meant(mujoco, message), correction) from None
        except Exception as error:
            # an error outside MuJoCo's own types leaves it locked: the next model would wait forever
            raise EngineFailed(
                f"MuJoCo failed while it compiled the model: {error or type(error).__name__}",
                where=request.path,
                expected="a model that MuJoCo compiles or refuses",
                remedy="look for empty or cut-off values in the file",
            ) from None
    if any("NaN" in warning for warning in warnings) or not _usable(model):
        raise BadNumber(
            "a number is not finite, or too large",
            where=_unusable_number([*files.roots, *files.attached]) or request.path,
            expected=f"magnitudes up to {LARGEST:g}",
            remedy="correct the number or its unit",
        )
    return model


def _compiled(mujoco: Any, files: ModelFiles) -> Any:
    """Return the compiled model, with stand-ins for missing files if no mechanics depend on them."""

    def compiled(assets: dict[str, bytes]) -> Any:
        with no_more_files():
            return mujoco.MjModel.from_xml_string(files.text, assets={**files.contents, **assets})

    contents = [stand_ins(files.missing, size) for size in SIZES] if files.missing else []
    if any(content is None for content in contents):
        contents = []
    models = [compiled(content) for content in contents if content is not None]
    if models and same_mechanics(*models):
        return models[0]
    return compiled({})


def _usable(model: Any) -> bool:
    """Return True if the compiled numbers are usable; a direction that overflowed has become zero."""
    # comparisons with NaN are false
    small = all((np.abs(getattr(model, name)) <= LARGEST).all() for name in _ARRAYS)
    directions = (getattr(model, name).any(axis=1).all() for name in _DIRECTIONS)
    return bool(small and np.isfinite(model.jnt_range).all() and all(directions))


@contextmanager
def _quiet(mujoco: Any) -> Iterator[list[str]]:
    """Collect the compiler's warnings, which otherwise go to stderr and a log file."""
    warnings: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(warnings.append)
    try:
        yield warnings
    finally:
        mujoco.set_mju_user_warning(before)


def has_diverged(mujoco: Any, data: Any) -> bool:
    """Return True if MuJoCo has reset the motion of its data, which starts anew."""
    return any(data.warning[int(getattr(mujoco.mjtWarning, name))].number for name in _DIVERGED)


def _compile_error(
    message: str, request: Request, remedy: str = "", correction: Mapping[str, Any] | None = None
) -> MbPluginError:
    """Convert a multi-line compiler message to one error of this package."""
    missing = _MISSING_FILE.search(message)
    line = STATED_LINE.search(message)
    # MuJoCo reports line 0 for missing files
    place = f"{request.path}:{line.group(1)}" if line and int(line.group(1)) else request.path
    if missing:
        return UnresolvedPath(
            f"{(missing.group(1) or missing.group(2))!r} cannot be opened",
            where=place,
            expected="every file that the model names beside it",
            remedy="put it where meshdir, texturedir or the include says",
        )
    first, _, rest = message.strip().partition("\n")
    reason = re.sub(r"((XML )?Error|XML parse error \d+)\s*:\s*", "", first).strip()
    detail = re.sub(r"Element name '', id \d+(, )?|,? ?line \d+", "", " ".join(rest.split())).strip(" ,")
    reason = "; ".join(part for part in (reason.rstrip("."), detail) if part)
    words = list(correction.get("meant", {}).values()) if correction else []
    other = (
        "exchange them, or correct the sign"
        if correction and "exchange" in correction
        else "correct the file there"
    )
    told = BrokenModel(
        f"MuJoCo cannot compile the model: {reason or 'no reason given'}",
        where=correction["places"][0] if correction else place,
        remedy=remedy or (f"did you mean {words[0]!r}?" if words else other),
    )
    if correction:
        told.correction = correction
    return told


def _unusable_number(roots: list[Element]) -> str:
    """Return the location of the first attribute with an unusable number."""
    for element in (element for root in roots for element in root.iter()):
        for name, value in attributes_of(element).items():
            if name in ("name", "class", "childclass", "file"):
                continue
            for word in str(value).split():
                try:
                    if not abs(float(word)) <= LARGEST:
                        return where(element)
                except ValueError:
                    break
    return ""


# Proposals for misspelt MJCF words, from the list of words that MuJoCo prints.


def meant(mujoco: Any, message: str) -> str:
    """Return "did you mean …" for a compiler message about an unknown word, empty for others."""
    element = _ELEMENT.search(message)
    if "unrecognized" not in message or element is None:
        return ""
    words = _words(mujoco)
    if attribute := MISPLACED_ATTRIBUTE.search(message):
        return suggestion(attribute.group(1), sorted(words.get(element.group(1), ())))
    return suggestion(element.group(1), sorted(words))


def _words(mujoco: Any) -> dict[str, set[str]]:
    """Return the attributes of every element, whatever its parent."""
    found: dict[str, set[str]] = defaultdict(set)
    tag = ""
    for line in mujoco.mj_printSchema(False, False).splitlines():
        head = line[:_COLUMN].split()
        if head:
            tag = "body" if head[0] == "(world)body" else head[0]
        found[tag].update(line[_COLUMN:].split())
    return {**found, "worldbody": found["body"]}


# Names of compiled MuJoCo objects, and their source lines.


class Names:
    """Unique names for the bodies and constraints of a compiled model.

    Parameters
    ----------
    mujoco : module
    model : MjModel
    roots : list of Element
        The files from which the model was compiled; empty for a model in memory.
    radians : bool
        The angles in these files are in radians.
    """

    def __init__(self, mujoco: Any, model: Any, roots: list[Element], *, radians: bool = False) -> None:
        self._mujoco, self._model, self._radians = mujoco, model, radians
        self._file = str(roots[0].base) if roots else ""
        self._lines = _lines(roots)
        #: A default says that joints have no limits, whatever their range.
        self.unlimited_by_default = any(
            joint.get("limited") == "false" and local_name(outer) == "default"
            for root in roots
            for joint in root.iter("joint")
            if (outer := joint.getparent()) is not None
        )
        self._taken: dict[str, set[str]] = {"body": set(), "constraint": set()}
        self.defects: list[Defect] = []
        self._bodies = [WORLD] + [
            self.unique("body", self.written("body", i) or f"body{i}") for i in range(1, model.nbody)
        ]

    def body(self, index: int) -> str:
        """Return the name of a body; the ground has index 0."""
        return self._bodies[index]

    def written(self, kind: str, index: int) -> str:
        """Return the name of a body, joint, equality or tendon in the file, empty if it has none."""
        type = getattr(self._mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        return self._mujoco.mj_id2name(self._model, type, index) or ""

    def joint(self, index: int) -> str:
        """Return the name of a joint, as written or from MuJoCo's index."""
        return self.written("joint", index) or f"joint{index}"

    def unique(self, kind: str, name: str) -> str:
        """Reserve a name, adding a number if another body or constraint has it.

        This is not a defect of the file: MuJoCo refuses duplicate names; only generated names, or a joint
        and an equality with the same name, collide in this namespace.
        """
        chosen, count = name, 1
        while chosen in self._taken[kind]:
            count += 1
            chosen = f"{name}#{count}"
        self._taken[kind].add(chosen)
        return chosen

    def origin(self, kind: str, name: str) -> Origin:
        """Return the location of a body, joint or equality; line 0 if it is unknown."""
        element = self.element(kind, name)
        return Origin(self._file, 0) if element is None else origin(element)

    def element(self, kind: str, name: str) -> Element | None:
        """Return the element of a named body, joint or equality, None if there is none."""
        return self._lines.get((kind, name))

    def turns(self, body: str) -> Iterator[tuple[str, Origin]]:
        """Yield the attributes that turn a body by rounded angles in radians, with their locations.

        They are those of the body and of the frames around it; of two alike the inner one counts.
        """
        found: dict[str, Origin] = {}
        element = self.element("body", body) if self._radians else None
        while element is not None:
            for part, before in TURNING.items():
                text = str(element.get(part, ""))
                if part not in found and any(map(rounded_angle, text.split()[before:])):
                    found[part] = origin(element, text)
            outer = element.getparent()
            element = outer if outer is not None and local_name(outer) == "frame" else None
        yield from found.items()

    def note(
        self,
        code: str,
        kind: str,
        names: Sequence[str],
        message: str,
        evidence: dict[str, object] | None = None,
    ) -> None:
        """Record a minor item of the file that the mechanism cannot represent."""
        place = self.origin(kind, names[0])
        self.defects.append(Defect(code, names[0], message, place, evidence or {}, severity="note"))

    def not_read(self, kind: str, name: str, message: str) -> None:
        """Record an item of the file that the mechanism cannot represent."""
        self.defects.append(Defect("MB113", name, message, self.origin(kind, name)))


def _lines(roots: list[Element]) -> dict[tuple[str, str], Element]:
    """Map (kind, name) to the element, for named elements of the files."""
    found: dict[tuple[str, str], Element] = {}
    for element in (element for root in roots for element in root.iter()):
        name = str(element.get("name", ""))
        outer = element.getparent()
        if not name or outer is None:
            continue
        kind = local_name(element)
        if local_name(outer) == "equality":
            kind = "equality"
        elif kind == "freejoint":
            kind = "joint"
        found.setdefault((kind, name), element)
    return found
