"""The words of URDF (1.0 to 1.2), of PyBullet's, Drake's and Gazebo's additions, and what they do."""

from __future__ import annotations

from mbplugin.readers.common.vocabulary import (
    LABEL,
    READ,
    SENSOR,
    SHAPE,
    TOUCH,
    Entry,
    Idle,
    Unread,
    Use,
    Vocabulary,
    each,
    entry,
)
from mbplugin.readers.sdf.vocabulary import JOINT_OF_GAZEBO, SDF

_COLOUR = Idle("colours and textures")
_CONTROL = Unread("drives and their control are not modelled", note=True)
_PROGRAM = Unread("what a program does to the robot is not known", note=True)

_ORIGIN = entry("xyz rpy quat_xyzw")
_VALUE = entry("value")

_GEOMETRY: dict[str, Entry] = {
    "geometry": entry(
        children={
            **{kind: kind for kind in ("box", "sphere", "cylinder", "capsule", "mesh", "plane")},
            "drake:ellipsoid": SHAPE,
            "drake:capsule": SHAPE,
            "cdf": SHAPE,
        }
    ),
    "box": entry("size"),
    "sphere": entry("radius"),
    "cylinder": entry("radius length"),
    "capsule": entry("radius length"),
    "mesh": entry("filename scale", children={"drake:declare_convex": Idle("says how shapes touch")}),
    "plane": entry("normal"),
}

_LINK: dict[str, Entry] = {
    "link": entry(
        "name",
        {"type": LABEL},
        {
            "inertial": "inertial",
            "visual": "visual",
            "collision": "collision",
            "contact": TOUCH,
            "self_collision_checking": TOUCH,
            "collision_checking": TOUCH,
            "sensor": SENSOR,
            "audio_source": Idle("a sound"),
            "drake:self_collision_filter": TOUCH,
        },
        many="visual collision sensor",
    ),
    "inertial": entry(children={"origin": "origin", "mass": "value", "inertia": "inertia"}),
    "inertia": entry("ixx ixy ixz iyy iyz izz"),
    "origin": _ORIGIN,
    "value": _VALUE,
    "visual": entry(
        "",
        {"name": LABEL, "group": LABEL},
        {"origin": "origin", "geometry": "geometry", "material": _COLOUR, "drake:accepting": LABEL},
    ),
    "collision": entry(
        "",
        {"name": LABEL, "group": TOUCH, "concave": TOUCH},
        {
            "origin": "origin",
            "geometry": "geometry",
            "material": _COLOUR,
            "verbose": LABEL,
            "drake:proximity_properties": TOUCH,
        },
    ),
}

_MECHANICAL: dict[str, Use | str] = {
    "origin": "origin",
    "parent": "end",
    "child": "end",
    "axis": "axis",
    "limit": "limit",
    "dynamics": "dynamics",
    "mimic": "mimic",
    "calibration": "calibration",
    "safety_controller": "safety_controller",
    "joint_properties": "joint_properties",
    "drake:screw_thread_pitch": "value",
    "drake:controller_gains": _CONTROL,
    "drake:mimic": Unread("write <mimic>"),
}

_JOINT: dict[str, Entry] = {
    "joint": entry("name type", {}, _MECHANICAL),
    "end": entry("link"),
    "axis": entry("xyz"),
    "limit": entry(
        "lower upper effort velocity acceleration deceleration jerk",
        {
            "drake:acceleration": Unread("write acceleration"),
            "twist": Unread("PyBullet alone reads it, for spherical joints", note=True),
        },
    ),
    "dynamics": entry("damping friction"),
    "mimic": entry("joint multiplier offset"),
    "calibration": entry(
        "",
        dict.fromkeys(("rising", "falling", "reference_position"), Idle("where a reference switch sits")),
    ),
    "joint_properties": entry("", each("damping friction", Unread("write <dynamics>", default="0"))),
    "safety_controller": entry(
        "",
        each(
            "soft_lower_limit soft_upper_limit k_position k_velocity",
            Unread("limits of a controller are not modelled", note=True),
        ),
    ),
    "loop_joint": entry(
        "name type",
        {},
        {
            "link1": "side",
            "link2": "side",
            "axis": "axis",
            "limit": Unread("the loop is closed without limits"),
            "dynamics": Unread("the loop is closed without friction"),
        },
        many="link1",
    ),
    "side": entry("link xyz rpy quat_xyzw"),
    "ball": entry(
        "name",
        {},
        {
            "drake:ball_constraint_body_A": "body_name",
            "drake:ball_constraint_body_B": "body_name",
            "drake:ball_constraint_p_AP": "point",
            "drake:ball_constraint_p_BQ": "point",
        },
    ),
    "body_name": entry("name", text=READ),
    "point": entry("value", text=READ),
}

_FOR_GAZEBO = Unread("settings of Gazebo's contacts and solver", note=True, joined=True)
_GRAVITY_OF_ONE = Unread("gravity acts on every body here", default="true")
_GAZEBO = {
    "gazebo": entry(
        "",
        {"reference": Idle("names whose settings follow; the settings are judged one by one")},
        {
            "joint": "gazebo_joint",
            "plugin": _PROGRAM,
            "link": "gazebo_link",
            "static": Unread("--base fixed, or base in a scene file, fixes the robot", default="false"),
            "gravity": _GRAVITY_OF_ONE,
            "turnGravityOff": Unread("gravity acts on every body here", default="false"),
            "springStiffness": Unread("state it as [[spring]] in a scene file", default="0"),
            "springReference": Unread("state it as [[spring]] in a scene file", default="0"),
            "dampingFactor": Unread("bodies are not damped here", default="0"),
            "sensor": SENSOR,
            "material": _COLOUR,
            "visual": _COLOUR,
            "provideFeedback": Idle("Gazebo's measuring of joint forces"),
            "preserveFixedJoint": Idle("fixed joints are never merged here"),
            "disableFixedJointLumping": Idle("fixed joints are never merged here"),
        },
        many="joint plugin sensor link",
        foreign=_FOR_GAZEBO,
    ),
}

#: A link inside a URDF's ``<gazebo>``.
_GAZEBO_LINK = {
    "gazebo_link": entry(
        "name",
        {},
        {
            **dict.fromkeys(("pose", "inertial", "visual", "collision"), READ),
            "gravity": _GRAVITY_OF_ONE,
            "sensor": SENSOR,
        },
        many="visual collision sensor",
        foreign=_FOR_GAZEBO,
    )
}

URDF: Vocabulary = {
    **SDF,
    **_GEOMETRY,
    **_LINK,
    **_JOINT,
    **_GAZEBO,
    **_GAZEBO_LINK,
    "gazebo_joint": JOINT_OF_GAZEBO,
    "robot": entry(
        "name",
        {"version": Idle("every version is read by the same rules")},
        {
            "link": "link",
            "joint": "joint",
            "drake:joint": "joint",
            "loop_joint": "loop_joint",
            "drake:ball_constraint": "ball",
            "gazebo": "gazebo",
            "material": _COLOUR,
            "sensor": SENSOR,
            "transmission": _CONTROL,
            "drake:transmission": _CONTROL,
            "ros2_control": _CONTROL,
            "drake:linear_bushing_rpy": Unread("bushings are not modelled"),
            "drake:linear_spring_damper": Unread("state it as [[spring]] in a scene file"),
            "drake:prismatic_spring": Unread("state it as [[spring]] in a scene file"),
            "drake:revolute_spring": Unread("state it as [[spring]] in a scene file"),
            "drake:distance_constraint": Unread("state it as a [[closure]] of type distance"),
            "force_element": Unread("state it as [[spring]] or [[load]] in a scene file"),
            "actuator": _CONTROL,
            "mujoco": Unread("MuJoCo alone reads it", note=True),
            "frame": Unread("frames that no joint uses are left out", note=True),
            "drake:collision_filter_group": TOUCH,
            "self_collision_checking": TOUCH,
            **{
                f"xacro:{word}": Idle("a definition that xacro leaves behind")
                for word in ("property", "arg", "macro")
            },
        },
        many="link joint drake:joint loop_joint drake:ball_constraint gazebo transmission frame "
        "force_element actuator ros2_control drake:collision_filter_group drake:linear_bushing_rpy "
        "drake:linear_spring_damper drake:prismatic_spring drake:revolute_spring "
        "drake:distance_constraint drake:transmission",
    ),
}
