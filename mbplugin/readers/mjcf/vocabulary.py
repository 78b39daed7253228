"""The vocabulary of MJCF; MuJoCo itself reports unknown names.

A word that is not listed here, of a version of MuJoCo to come, is one that is not read.
"""

from __future__ import annotations

from mbplugin.readers.common.vocabulary import (
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

_LABEL = Idle("a label that moves nothing")
_STEPS = Idle("steps and solvers of MuJoCo's own integration")
_BOUND = Idle("MuJoCo's memory")
_SOFT = Unread("constraints are rigid here", note=True)
_STAYS = Unread("it stays enabled here", default="enable")
_FLUID = Unread("there is no fluid here", default="0")
_DRIVE = Unread("what it does without a command is left out, state it as [[spring]] in a scene file")
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

_MANY = " ".join((*_BODY_CHILDREN, *_ACTUATORS, "connect weld tendon flex flexstrain spatial fixed pair"))
_MANY += " exclude default mesh hfield skin texture material model key worldbody"

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
    # an included file may stand for a part of any section
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
