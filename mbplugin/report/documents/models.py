"""The JSON documents of models: ``view``, ``config``, ``matrix``, ``rule``, ``diff``, ``close`` and ``engines``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field

from mbplugin.choices import Format, LossKind
from mbplugin.closing.drift import Closing, Drives, assumptions_of
from mbplugin.comparison.models import alignment
from mbplugin.joint_reactions.values import Mode
from mbplugin.linter.rule import Rule as LintRule, Severity
from mbplugin.report.documents.motions import StancePart
from mbplugin.report.documents.part import (
    Code,
    Count,
    Document,
    Matrix,
    Model,
    Part,
    PlanarModel,
    Recorded,
    Six,
    Size,
    Three,
    by_name,
    key,
)

if TYPE_CHECKING:
    from mbplugin.comparison.side_by_side import JointWrench, SideBySide
    from mbplugin.constraints.rank import ConstraintMatrix
    from mbplugin.linter import Settings
    from mbplugin.model import Origin, Scene
    from mbplugin.visualization.gui import Viewed

_SixOrNull = Annotated[list[float | None], Field(min_length=6, max_length=6)]
_SixTruths = Annotated[list[bool], Field(min_length=6, max_length=6)]


class ViewOutput(Document):
    """A view of a robot in a window, or its picture."""

    source: str = key("the FILE as it was given")
    model: Model
    outcome: Literal["closed", "ended", "written"]
    written: list[str] = key("pictures and films", read="files")
    notes: list[str] = key("what is not shown as it is")


def view_document(viewed: Viewed, source: str, scene: Scene) -> dict[str, Any]:
    """Return the document of a view.

    Parameters
    ----------
    source : str
        The FILE as it was given.
    """
    return ViewOutput.of(viewed, source=source, model=(scene.mechanism.name, scene.files))


# The JSON document of ``mbplugin config`` (contract: keys may be added, never renamed).


class _Setting(Part):
    name: str
    value: Any
    origin: str = key("file:line, or default")


class _Ignore(Part):
    rule: Code
    element: str
    files: str
    reason: str
    file: str = key(read="config")
    line: Count


class ConfigOutput(Document):
    """The settings that apply to a file."""

    configuration: str | None = key("the file; null where there is none")
    settings: list[_Setting]
    ignores: list[_Ignore]


def settings_document(settings: Settings) -> dict[str, Any]:
    """Return the JSON document of ``mbplugin config``."""
    return ConfigOutput.of(
        settings,
        configuration=settings.file or None,
        settings=[(name, *setting) for name, setting in settings.values.items()],
    )


# The JSON document of ``mbplugin matrix`` (contract: keys may be added, never renamed).


class _Row(Part):
    constraint: str
    component: str
    holonomic: bool
    b: float = key("C v + b = 0")
    Gamma: float = key("C dv/dt = Gamma")
    Phi: float = key("position residual, m or rad")


class _Column(Part):
    body: str
    component: str


class MatrixOutput(Recorded):
    """The labelled constraint matrix."""

    model: PlanarModel
    shape: tuple[Count, Count]
    rows: list[_Row]
    columns: list[_Column]
    entries: list[tuple[Count, Count, float]] = key("nonzeros: [row, column, value]")


def matrix_document(matrix: ConstraintMatrix, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of a labelled constraint matrix, with its nonzeros as [row, column, value]."""
    C = matrix.C.tocoo()
    values = zip(matrix.b.tolist(), matrix.Gamma.tolist(), matrix.Phi.tolist(), strict=True)
    return MatrixOutput.of(
        matrix,
        model=(matrix.mechanism.name, files, matrix.planar or False),
        shape=C.shape,
        rows=[
            (*label, k < matrix.holonomic_rows, *numbers)
            for k, (label, numbers) in enumerate(zip(matrix.rows, values, strict=True))
        ],
        entries=list(zip(C.row.tolist(), C.col.tolist(), C.data.tolist(), strict=True)),
    )


# The JSON document of ``mbplugin rule`` (contract: keys may be added, never renamed).


class _Rule(Part):
    code: Code
    name: str
    severity: Severity
    opt_in: bool | None = key("off by default; --extend-select switches it on", optional=True)
    documentation: str
    fix: str | None = key("the effect of --fix and --unsafe-fixes; omitted if none", optional=True)

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of a rule, with its fix."""
        from mbplugin.linter.fixes.proposals import REMEDIES, fix_of

        return super().of(value, fix=fix_of(value.code) if value.code in REMEDIES else None, **stated)


class RuleOutput(Document):
    """Rules with their documentation."""

    rules: list[_Rule]


def rules_document(rules: Sequence[LintRule]) -> dict[str, Any]:
    """Return the document of rules with their documentation."""
    return RuleOutput.of(rules=rules)


# The JSON document of ``mbplugin diff`` (contract: keys may be added, never renamed).


class _Model(Part):
    name: str
    bodies: Count = key("without the ground, fixed links merged")
    joints: Count
    loops: Count
    couplings: Count
    mass: float = key("kg")
    degree_of_redundancy: Count | None = key("null where the loops cannot be closed")
    mobility: Count | None = key("to first order; left out where the loops cannot be closed", optional=True)
    dof: Count | None = key("mobility, by its other name; null where the loops cannot be closed")
    undetermined: list[str] | None = key(
        "joints whose reactions a rigid model does not determine; left out where the loops cannot be closed",
        optional=True,
    )


class _Place(Part):
    file: str
    line: Count = key("0 if unknown")


class _Difference(Part):
    kind: alignment.DifferenceKind
    element_a: str = key("empty where A has no such element")
    element_b: str = key("empty where B has no such element")
    value_a: str
    value_b: str
    cause: str = key("the probable cause; empty if none is obvious")
    place_a: _Place | None
    place_b: _Place | None

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of one difference."""
        found: alignment.Difference = value
        places = {name: _place(getattr(found, name)) for name in ("place_a", "place_b")}
        return super().of(value, **places, **stated)


def _place(origin: Origin | None) -> dict[str, Any] | None:
    return None if origin is None or not origin.file else _Place.of(origin)


class _Normalised(Part):
    kind: alignment.NormalisedKind
    element: str
    text: str


class _NotCompared(Part):
    kind: alignment.StatedKind | Literal["scene", "unread"] = key(
        "scene: what a scene adds to the robot; unread: parts of the files that mbplugin does not read"
    )
    side: Literal["A", "B", ""] = key("the model whose format cannot state it")
    elements: list[str] = key("joints of A for which the other model states it; unread parts that differ")
    text: str


class _StopFigure(Part):
    joint: str
    unit: Literal["rad", "m"]
    speed: Size = key("at the signal, rad/s or m/s")
    outcome: str = key("as of estop; failed where it cannot be computed")
    time: Size | None = key("from the signal to rest, s; null unless it stops")
    travel: Size | None = key("rad or m")
    tool_travel: Size | None = key("length of the path of the tool, m")
    reason: str = key("why it cannot be computed")


class _StopChange(Part):
    joint: str
    a: _StopFigure | None = key("null where A has no such stop")
    b: _StopFigure | None


class DiffOutput(Recorded):
    """Whether two models are the same robot."""

    source_a: str = key("A as it was given")
    source_b: str = key("B as it was given")
    files: list[str]
    same: bool
    tolerance: Size = key("relative, of masses")
    a: _Model
    b: _Model
    differences: list[_Difference]
    normalised: list[_Normalised] = key("legitimate differences, taken away before the comparison")
    not_compared: list[_NotCompared] = key(
        "quantities that one format cannot state, and elements that scenes add to the robot; omitted if none",
        optional=True,
    )
    bodies: dict[str, str] = key("names of A and of B")
    joints: dict[str, str] = key("names of A and of B")
    poses: Count = key(
        "random poses at which the dynamics were compared; 0 where the trees do not correspond"
    )
    mass_matrix: Size | None = key("largest relative difference")
    gravity_forces: Size | None = key("largest relative difference")
    wrenches: Size | None = key(
        "largest relative difference of joint forces that both rigid models determine"
    )
    stops: list[_StopChange] | None = key("with --stops: emergency stops of the joints", optional=True)


def diff_document(
    found: alignment.ModelDiff, sources: tuple[str, str], files: Sequence[str]
) -> dict[str, Any]:
    """Return the document of one comparison."""
    return DiffOutput.of(
        found,
        source_a=sources[0],
        source_b=sources[1],
        files=list(dict.fromkeys(files)),
        not_compared=found.not_compared or None,
        stops=found.stops or None,
    )


# The JSON document of ``mbplugin close`` (contract: keys may be added, never renamed).


class _Closure(Part):
    name: str
    type: str
    body_a: str
    body_b: str
    was: str = key("the type of this pair in FILE")
    instead_of: str = key("the pair that closes the loop in FILE", read="cut.instead_of")
    independence: Size = key("projective criterion of the cut, 0 to 1", read="cut.independence")


class _Change(Part):
    constraint: str = key("a joint of the tree")
    from_: str = key(name="from", read="old")
    to: str = key(read="new")


class _Verdict(Part):
    degree_of_redundancy: Count
    structural_redundancy: Count = key("at a generic pose")
    mobility: int | None = key("in fact; to first order where a large block is not decided", optional=True)
    held_mobility: int | None = key("mobility with all driven joints locked", optional=True)
    dof: int = key("mobility, by its other name")
    held_dof: int = key("held_mobility, by its other name")


class _ClosureDrift(Part):
    name: str
    type: str
    gap: Size = key("largest violation of a distance, m")
    turn: Size = key("largest violation of an angle, rad")
    force: Size = key("root mean square of the force, N")
    noise: Size = key("root mean square of the white noise in the force, N")


class _Drift(Part):
    engine: str
    version: str = key("empty if it did not run")
    step: Size = key("of the engine, s")
    duration: Size = key("s")
    reason: str = key("the reason why it has no answer; empty if it has one")
    gap: Size = key("largest of all closures, m")
    turn: Size = key("largest of all closures, rad")
    noise: Size = key("largest of all closures, N")
    closures: list[_ClosureDrift]


class _Drifts(Part):
    drives: Drives = key("whether driven joints move freely or are held")
    before: list[_Drift] = key("with the closures of FILE, one per engine")
    after: list[_Drift] = key("with the closures that were written, one per engine")


class _Commanded(Part):
    engine: str
    version: str = key("empty if it did not run")
    kind: Literal["command", "torque", "none"] = key("the motion of the driven parts")
    driven: list[str] = key("actuators, or joints where no actuator takes a command")
    angle: Size = key("largest difference of the orientations of a body at the end, rad")
    distance: Size = key("largest distance of a body of both at the end, m")
    body: str = key("the body of the largest one")
    moved: Size = key("largest distance that a body of FILE moves, m")
    duration: Size = key("s")
    seed: Count = key("of the random commands")
    step: Size = key("of the engine, s", optional=True)
    reason: str = key("the reason why there is no answer; empty if there is one")


class _Loss(Part):
    kind: LossKind = key("what --allow-loss accepts")
    text: str


class CloseOutput(Recorded):
    """A model written with closures that a format holds."""

    assumptions: list[str]
    source: str = key("the FILE as it was given")
    files: list[str]
    format: Format
    written: str | None = key("the file that was written; null where none was")
    tolerance: Size = key("relative rank tolerance")
    q: dict[str, float] = key("the closed pose that was written, rad and m")
    copied: bool = key("whether the text is that of FILE, but for its closures", optional=True)
    anew: str = key("why a FILE that stays in its format is not a copy; else empty", optional=True)
    proved: bool = key("whether the written file, read again, has p = 0 and the mobility of FILE")
    keeps_mobility: bool
    reason: str = key("why constraints are still redundant; empty where none is")
    driven: list[str] = key("joints that stay in the tree")
    closures: list[_Closure]
    changes: list[_Change] = key("other joints with a new type")
    held: list[str] = key("elements written in another way than in FILE, with the same motion")
    left_out: list[str] = key("elements that the format cannot state")
    losses: list[_Loss] = key("the same with its kind", optional=True)
    refused: list[LossKind] = key(
        "kinds of losses that --allow-loss does not name: the exit code is 1", optional=True
    )
    before: _Verdict = key("of FILE")
    after: _Verdict = key("of the written file, read again")
    drift: _Drifts
    commanded: _Commanded | None = key(
        "how far FILE and the written file move apart under the same commands; null where that was not computed",
        optional=True,
    )
    commanded_in_bullet: _Commanded | None = key("the same in PyBullet, under torques", optional=True)


def close_document(
    found: Closing, source: str, files: Sequence[str], written: str | None, refused: Sequence[LossKind] = ()
) -> dict[str, Any]:
    """Return the document of one conversion."""
    return CloseOutput.of(
        found,
        assumptions=list(assumptions_of(found)),
        source=source,
        files=list(files),
        written=written,
        copied=found.written.copy_of is not None,
        anew=found.written.anew,
        q=by_name(found.mechanism.q_names, found.state.q),
        held=found.written.held,
        left_out=found.written.left_out,
        losses=found.written.losses,
        refused=list(refused),
    )


# The JSON document of ``mbplugin engines`` (contract: keys may be added, never renamed).


class _Engine(Part):
    engine: str
    version: str = key("empty if it did not run")
    answers: bool
    reason: str = key("the reason why it has no answer; empty if it has one")


class _Joint(Part):
    name: str
    type: str
    body_a: str
    body_b: str
    held: bool = key("its drive's force is in the wrench")
    point: Three = key("where the wrenches act, world, m")
    R_WJ: Matrix = key("axes of the wrenches in the world, by column")
    unique: _SixTruths = key("whether the rigid model determines each component")
    agrees: _SixTruths = key("whether the engines differ by less than 1 % of size")
    wrenches: dict[str, _SixOrNull] = key(
        "by engine: force (N) and moment (N·m) on the successor; null in ours where undetermined"
    )
    spread: Six = key("largest difference between two engines, N and N·m")
    size: Six = key("largest force and moment of any engine in this joint, at least 1 % of the model's")

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of one joint."""
        joint: JointWrench = value
        wrenches = {
            name: [None if np.isnan(entry) else float(entry) for entry in wrench]
            for name, wrench in joint.wrenches.items()
        }
        return super().of(value, wrenches=wrenches, **stated)


class EnginesOutput(Recorded):
    """Joint wrenches of several engines at one instant."""

    source: str = key("the FILE as it was given")
    files: list[str]
    mode: Mode
    tolerance: Size = key("relative rank tolerance")
    q: dict[str, float] = key("of the joints that are not held, rad and m")
    qd: dict[str, float]
    held: list[str]
    assumed_held: list[str] = key(
        "held joints that have no drive in the file, and that the load would move", optional=True
    )
    assumed_fixed: list[str] = key(
        "roots that are assumed to be fixed to the ground", read="mechanism.assumed_fixed", optional=True
    )
    stance: StancePart | None = key(
        "links on which the robot stands; contact forces that balance it are loads", optional=True
    )
    degree_of_redundancy: Count = key("with the held joints")
    agrees: bool = key("whether all engines have the same value of every component that is unique")
    largest_unique_difference: Size = key("as a fraction of size")
    largest_undetermined_difference: Size = key("as a fraction of size, of the non-unique components")
    engines: list[_Engine]
    joints: list[_Joint]
    notes: list[str]


def engines_document(found: SideBySide, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one comparison."""
    mech = found.mechanism
    return EnginesOutput.of(
        found,
        source=source,
        files=files,
        q=by_name(mech.q_names, found.q),
        qd=by_name(mech.qd_names, found.qd),
        engines=[_Engine.of(engine, answers=not engine.reason) for engine in found.engines],
    )
