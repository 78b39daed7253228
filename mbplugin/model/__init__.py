"""The model: the mechanism, its state, and the forces on it. Only values: no files, no physics engine.

Other packages take its names from here; a name is looked up in its module when it is imported, so that help loads
units and laws of brakes without the mechanism.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbplugin.choices import (
        LARGEST as LARGEST,
        PAIR_ROLES as PAIR_ROLES,
        SIMULATORS as SIMULATORS,
        Backend as Backend,
        Base as Base,
        ConstraintKind as ConstraintKind,
        Coordinates as Coordinates,
        CoordinateUnit as CoordinateUnit,
        FailureKind as FailureKind,
        LossKind as LossKind,
        Massless as Massless,
        Moving as Moving,
        PairRole as PairRole,
        ReactionSource as ReactionSource,
        ReactionUnit as ReactionUnit,
        Simulator as Simulator,
        StopCategory as StopCategory,
        StopLimits as StopLimits,
        Uniqueness as Uniqueness,
        decimal as decimal,
        library_model as library_model,
    )
    from mbplugin.model.brake_law import (
        PARTS as PARTS,
        SI as SI,
        UNITS as UNITS,
        Brake as Brake,
        BrakeLaw as BrakeLaw,
        FitUncertainty as FitUncertainty,
        Ramp as Ramp,
        Units as Units,
        depends_on_rate as depends_on_rate,
        rate_force as rate_force,
        said_in as said_in,
    )
    from mbplugin.model.brakes import (
        NO_FORCES as NO_FORCES,
        AppliedForces as AppliedForces,
        BrakeForce as BrakeForce,
        BrakeLike as BrakeLike,
        JointBrake as JointBrake,
        implausible as implausible,
        rate_values as rate_values,
        scene_actions as scene_actions,
        stated_coordinates as stated_coordinates,
        warn_of as warn_of,
        weightless as weightless,
        with_coordinates as with_coordinates,
    )
    from mbplugin.model.mechanism import (
        STANDARD_GRAVITY as STANDARD_GRAVITY,
        WORLD as WORLD,
        Body as Body,
        Constraint as Constraint,
        Coupling as Coupling,
        Driver as Driver,
        KnifeEdge as KnifeEdge,
        Lock as Lock,
        Mechanism as Mechanism,
        Pfaffian as Pfaffian,
        Rolling as Rolling,
        Term as Term,
        TimedConstraint as TimedConstraint,
        TreeJoint as TreeJoint,
        base_sentence as base_sentence,
        held_sentence as held_sentence,
    )
    from mbplugin.model.mechanism.identity import (
        DisjointSets as DisjointSets,
        Holder as Holder,
        RowLabel as RowLabel,
        adjacency as adjacency,
        breadth_first as breadth_first,
        drive_component as drive_component,
        freedom_held as freedom_held,
        freedom_name as freedom_name,
        freedom_of as freedom_of,
        lock_component as lock_component,
        lock_label as lock_label,
        pair_and_freedom as pair_and_freedom,
    )
    from mbplugin.model.mechanism.kinematics import (
        FRAMES_MEET as FRAMES_MEET,
        BodyPoses as BodyPoses,
        JointValues as JointValues,
        NamedNumbers as NamedNumbers,
        Poses as Poses,
        accelerations_of as accelerations_of,
        coordinate_units as coordinate_units,
        coordinates_of as coordinates_of,
        displace as displace,
        follows as follows,
        forward as forward,
        frames_apart as frames_apart,
        free_pose as free_pose,
        home as home,
        is_batch as is_batch,
        joint_axes as joint_axes,
        joint_vector as joint_vector,
        numbers as numbers,
        rate_units as rate_units,
        rate_vector as rate_vector,
        rates_of as rates_of,
        relative_pose as relative_pose,
        rigid_groups as rigid_groups,
        states as states,
        welded_bodies as welded_bodies,
    )
    from mbplugin.model.mechanism.pair import (
        LARGEST_FRICTION as LARGEST_FRICTION,
        MOST_CONTACTS as MOST_CONTACTS,
        NORMAL as NORMAL,
        PAIR_TYPES as PAIR_TYPES,
        SIDES as SIDES,
        TANGENTS as TANGENTS,
        Between as Between,
        Contact as Contact,
        Freedom as Freedom,
        MotionProfile as MotionProfile,
        Pair as Pair,
        RowKind as RowKind,
        has_quaternion as has_quaternion,
        measure as measure,
        travel_per_radian as travel_per_radian,
    )
    from mbplugin.model.scene import (
        FREEDOM_KEYS as FREEDOM_KEYS,
        MADE as MADE,
        Actuator as Actuator,
        ActuatorLaw as ActuatorLaw,
        Defect as Defect,
        Document as Document,
        Duty as Duty,
        LintOptions as LintOptions,
        Load as Load,
        LoadLike as LoadLike,
        Node as Node,
        Origin as Origin,
        OriginKey as OriginKey,
        Payload as Payload,
        PayloadLike as PayloadLike,
        Request as Request,
        Scene as Scene,
        Shape as Shape,
        State as State,
        Stiffness as Stiffness,
        as_scene as as_scene,
        duties as duties,
        in_coordinates_of as in_coordinates_of,
        mechanism_of as mechanism_of,
        option_of as option_of,
        read_loads as read_loads,
        read_payloads as read_payloads,
        replaced_payloads as replaced_payloads,
    )
    from mbplugin.model.spatial import (
        COMPONENTS as COMPONENTS,
        MOTION_WORDS as MOTION_WORDS,
        ROTATION as ROTATION,
        TRANSLATION as TRANSLATION,
        TWIST_COLUMNS as TWIST_COLUMNS,
        AnyArray as AnyArray,
        Array as Array,
        JointSpring as JointSpring,
        Pose as Pose,
        Spring as Spring,
        align_z as align_z,
        axis_of as axis_of,
        cross as cross,
        is_turn as is_turn,
        make_read_only as make_read_only,
        pivot_order as pivot_order,
        pivots as pivots,
        quaternion_from_rotation as quaternion_from_rotation,
        rotation_from_quaternion as rotation_from_quaternion,
        rotation_from_rpy as rotation_from_rpy,
        rpy_from_rotation as rpy_from_rotation,
        shift_rows as shift_rows,
        shift_twists as shift_twists,
        skew as skew,
        unit as unit,
        units_of as units_of,
        vector_from_rotation as vector_from_rotation,
    )

else:
    from importlib import import_module

    #: From the ground up: a module imports none after it.
    _MODULES = (
        "mbplugin.choices",
        "mbplugin.model.brake_law",
        "mbplugin.model.spatial",
        "mbplugin.model.mechanism.identity",
        "mbplugin.model.mechanism.pair",
        "mbplugin.model.mechanism",
        "mbplugin.model.mechanism.kinematics",
        "mbplugin.model.scene",
        "mbplugin.model.brakes",
        "mbplugin.model.solids",
    )

    def __getattr__(name: str) -> object:
        # the import of a module of the room asks for its name first
        if not name.startswith("_") and f"{__name__}.{name}" not in _MODULES:
            for module in _MODULES:
                names = vars(import_module(module))
                if name in names:
                    globals()[name] = names[name]
                    return names[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
