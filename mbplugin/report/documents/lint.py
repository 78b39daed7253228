"""The JSON document of ``mbplugin lint`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from mbplugin.analysis.uniqueness import joint_place
from mbplugin.linter.rule import Applicability, Severity
from mbplugin.model import ConstraintKind, CoordinateUnit, ReactionSource, ReactionUnit, Uniqueness, forward
from mbplugin.report.documents.part import (
    Code,
    Count,
    Document,
    Matrix,
    OpenForce,
    OpenMoment,
    Part,
    Planar,
    Size,
    Three,
    Weight,
    key,
)

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.linter.run import Report


class _Model(Part):
    name: str
    files: list[str]
    bodies: Count
    pairs: Count = key("all pairs, closures included")
    closures: Count = key("pairs that a file states as closing a loop")
    rows: Count
    holonomic_rows: Count
    pfaffian_rows: Count
    columns: Count = key("6 per body, 3 per body in a plane")
    planar: Planar


class _Plateau(Part):
    from_: Size = key(read="start", name="from")
    to: Size = key(read="stop")
    degree_of_redundancy: Count


class _Branch(Part):
    mobility: Count | None = key("of the block along it", optional=True)
    dof: Count = key("mobility, by its other name")
    rates: list[str] = key("joint rates that move along it")


class _BlockMobility(Part):
    constraints: list[str]
    infinitesimal: Count = key("freedoms of the block to first order")
    finite: Count | None = key("freedoms of motion, those of the largest branch; null where not decided")
    branches: list[_Branch] = key("sets of poses that meet here; none where the pose is isolated")
    shaky: Count = key("freedoms that are infinitesimal only")
    shaky_rates: list[str] = key("joint rates that are free to first order only")


class _Mobility(Part):
    rank: Count
    rank_holonomic: Count
    rank_pfaffian: Count
    mobility: int | None = key("columns - rank: mobility to first order", read="dof", optional=True)
    dof: int = key("mobility, by its other name")
    finite_mobility: int | None = key(
        "mobility in fact, the dimension of the set of poses; left out where a large block is not decided",
        optional=True,
    )
    finite_dof: int | None = key("finite_mobility, by its other name", optional=True)
    differing: list[_BlockMobility] = key(
        "blocks in which mobility to first order and in fact differ", read="mobility.blocks", optional=True
    )
    gruebler: int = key("columns - rows")
    degree_of_redundancy: Count = key("rows - rank at this pose")
    structural_redundancy: Count = key("rows - rank at the generic pose")
    singular_pose: bool
    sigma_r: Size | None = key("smallest singular value that counts, relative to the largest")
    sigma_r_plus_1: Size | None = key("largest singular value that does not count, relative")
    tolerance: Size = key("relative rank tolerance")
    plateaus: list[_Plateau] = key("degree of redundancy over the tolerance")
    characteristic_length: Size | None = key("m")
    closure_residual_file: Size = key("largest loop gap at the pose as given, m", read="assembly.worst_file")
    closure_residual: Size = key("largest loop gap at the pose analyzed, m", read="assembly.worst")
    closure_starts: Count = key(
        "poses from which the hardest group of loops was closed, 0: none open",
        read="assembly.starts",
        optional=True,
    )
    closure_degenerate: list[str] = key(
        "constraints that lose rank at the nearest closed pose, another one is analyzed",
        read="assembly.degenerate",
        optional=True,
    )


class _ComponentVerdict(Part):
    name: str
    unique: bool | None = key("null where the method does not decide it")


class _ConstraintVerdict(Part):
    name: str
    kind: ConstraintKind
    type: str
    body_a: str
    body_b: str
    reaction: Uniqueness
    indeterminate_dim: Count | None = key("null where the method does not decide it")
    components: list[_ComponentVerdict]
    open_force: OpenForce
    open_moment: OpenMoment
    B_norm: Size | None = key(
        "Frobenius norm of B_X of wojtyra2013 (27), in characteristic lengths; 0 where the reaction is unique, "
        "null where the method does not decide it",
        optional=True,
    )
    point: Three | None = key("origin of S in the world, m; null for no pair")
    R_WJ: Matrix | None = key(
        "rows of the rotation whose columns are the axes of P in the world; null for no pair"
    )


class _GroupVerdict(Part):
    members: list[str]
    reaction: Uniqueness
    components_unique: bool
    assembly_effect_unique: bool | None = key("null where a member is not on the ground")
    resultant_unique: bool


class _BodyVerdict(Part):
    name: str
    may_stay_rigid: bool


class _SelfStress(Part):
    constraints: list[str]
    components: list[Weight]
    text: str
    loop: str = key(
        "the bodies of the loop in their order; empty where the constraints form none", optional=True
    )
    restrains: str = key("the motion that is restrained twice", optional=True)
    closed_by: str = key("the constraint that restrains it once more", optional=True)


class _MisfitLoad(Part):
    constraint: str
    component: str
    unit: ReactionUnit
    value: float | None = key("on the successor; null where no compliance limits it")
    source: ReactionSource | None = key("the source that determines it; null where no compliance limits it")


class _MisfitEffect(Part):
    constraint: str
    component: str
    misfit: Size = key("m or rad", read="step.size")
    misfit_unit: CoordinateUnit = key(read="step.unit")
    loads: list[_MisfitLoad] = key("the largest first")
    missing_bodies: list[str] = key(
        "that need a stiffness before every load has a value", read="missing.bodies"
    )
    missing_pairs: list[str] = key("likewise", read="missing.pairs")


class _LoopMisfits(Part):
    constraints: list[str] = key("that a misfit loads")
    effects: list[_MisfitEffect] = key(
        "of each component of the closing constraints, the most expensive first"
    )


class _MisfitCost(Part):
    constraint: str = key("that misfits", read="effect.constraint")
    component: str = key(read="effect.component")
    misfit: Size = key("m or rad", read="effect.step.size")
    misfit_unit: CoordinateUnit = key(read="effect.step.unit")
    load: _MisfitLoad = key("the largest that it causes")


class _LoopStiffness(Part):
    constraint: str
    component: str
    value: float | None = key("N/m or N·m/rad; null if the loop is rigid")
    unit: ReactionUnit = key("of the load")


class _Consequence(Part):
    after: _MisfitCost | None = key("the largest remaining load; null: misfits cost nothing any more")
    given_up: list[_LoopStiffness] = key(
        "of each changed constraint the component in which its loop was stiffest"
    )


class _Consequences(Part):
    kept: _MisfitCost = key("without any change")
    kept_turned: _MisfitCost | None = key("the same by 1 mrad, where 0.1 mm and 1 mrad both cost something")
    remedies: list[_Consequence] = key("in the order of remedies")


class _Change(Part):
    constraint: str
    from_: str = key(read="old", name="from")
    to: str = key(read="new")


class _Remedy(Part):
    changes: list[_Change]
    degree_of_redundancy: Count
    mobility: int | None = key("after the changes", optional=True)
    dof: int = key("mobility, by its other name")
    restores: list[str] = key(
        "joints that the loops lock, and that can move after the changes", optional=True
    )
    toml: str


class _Obstacle(Part):
    constraint: str
    duties: list[str]


class _Edit(Part):
    file: str
    start_line: Count = key("from 1")
    start_column: Count = key("from 1, in characters")
    end_line: Count
    end_column: Count = key("of the first character that stays")
    text: str = key("the replacement of the range")


class _Fix(Part):
    applicability: Applicability = key("unsafe: the meaning of the file changes")
    title: str
    edits: list[_Edit]
    changes: list[str] = key("changes of the robot, by the comparison of both models")


class _Finding(Part):
    code: Code
    name: str
    severity: Severity
    message: str
    element: str
    file: str
    line: Count = key("from 1; 0 where there is none")
    evidence: dict[str, Any] = key("numbers, with their units in the keys")
    help: str
    fix: _Fix | None = key("with --diff: the edits that mend it, each tried and proved", optional=True)


class _Unmended(Part):
    finding: _Finding
    reason: str


class _SuppressedFinding(Part):
    finding: _Finding
    reason: str = key(read="ignore.reason")


class _Stance(Part):
    links: list[str] = key("whose lowest points touch the ground")
    friction: Size = key("coefficient of friction of these contacts")
    assumed_friction: bool = key("whether the coefficient is assumed, not stated")


class _Decision(Part):
    joint: str
    unique: bool


class _TestedGroup(Part):
    members: list[str]
    columns: Count = key("of G that belong to the group", read="ranks.columns")
    rank: Count = key("of these columns; full where it is as large", read="ranks.tested")
    rank_rest: Count = key("of the other columns", read="ranks.remaining")
    excess: Count = key(
        "rank + rank_rest - rank of G; 0 where the effect on the assembly is unique", read="ranks.excess"
    )
    assembly_effect_unique: dict[str, bool] = key("by tool")
    components_unique: dict[str, bool] = key("by tool")

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of a group."""
        effect = {name: answer.assembly_effect_unique for name, answer in value.answers}
        components = {name: answer.components_unique for name, answer in value.answers}
        return super().of(value, assembly_effect_unique=effect, components_unique=components)


class _Dca(Part):
    columns: Count = key("columns of G")
    rank: Count = key("rank of G")
    tested: list[_TestedGroup] = key(
        "ground joints, alone and together, as the four tools test them; none of a large connection",
        optional=True,
    )
    order: list[_Decision]
    stalled: list[str] = key("bodies at which the propagation stops")
    trace: str = key("every step in words")

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of a test."""
        return super().of(value, columns=value.columns)


class _Run(Document):
    source: str = key("the FILE as it was given, or the scene that the configuration names for it")
    exit_code: Literal[0, 1, 2]
    skipped: bool = key(
        "the file was found, not named, and is not a complete model or a part of another", optional=True
    )
    model: _Model | None
    mobility: _Mobility | None
    constraints: list[_ConstraintVerdict]
    groups: list[_GroupVerdict]
    bodies: list[_BodyVerdict]
    self_stresses: list[_SelfStress]
    remedies: list[_Remedy]
    obstacles: list[_Obstacle] = key(
        "joints whose role prevents a weaker type, where every remedy would change them"
    )
    findings: list[_Finding]
    suppressed: list[_SuppressedFinding] = key("findings that the configuration ignores")
    mended: list[_Finding] = key("with --fix: findings of the files as they were", optional=True)
    unmended: list[_Unmended] = key("with --fix and --diff: fixes that were not made, and why", optional=True)
    patch: str = key("of fix in Python: the unified diff of the fixes", optional=True)
    misfits: list[_LoopMisfits] = key(
        "with --verbose: the loads that 0.1 mm or 1 mrad of each closing component causes, loop by loop",
        optional=True,
    )
    consequences: _Consequences | None = key(
        "with --verbose: the effect of the remedies on the loads of misfits", optional=True
    )
    rounding: _MisfitEffect | None = key(
        "with --verbose: the loads of all rounded angles together; the misfit is the largest gap that they make",
        optional=True,
    )
    stance: _Stance | None = key(
        "with --stance: the links on which the robot was assumed to stand", optional=True
    )
    dca: _Dca = key("the divide-and-conquer test, where it was the method", optional=True)

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of one run; without an analysis, model and mobility are null and lists empty."""
        if isinstance(value, dict):
            return value
        analysis = value.analysis
        misfits = value.misfits if stated.get("verbose") else None
        fixes = {name: getattr(value, name) or None for name in ("mended", "unmended", "patch")}
        if analysis is None:
            lists = ("constraints", "groups", "bodies", "self_stresses", "remedies", "obstacles")
            nothing = dict.fromkeys(("model", "mobility", "dca", "misfits", "consequences", "rounding"))
            return super().of(value, **nothing, **fixes, **dict.fromkeys(lists, ()))
        names = ("groups", "bodies", "self_stresses", "remedies", "obstacles", "dca")
        return super().of(
            value,
            model=_model(value, analysis),
            mobility=analysis,
            constraints=_constraints(analysis),
            misfits=misfits,
            consequences=value.consequences if stated.get("verbose") else None,
            rounding=value.rounding if stated.get("verbose") else None,
            **fixes,
            **{name: getattr(analysis, name) for name in names},
        )


class _Runs(Document):
    runs: list[_Run]


LintOutput = _Run | _Runs


def lint_document(reports: Sequence[Report], verbose: bool = False) -> dict[str, Any]:
    """Return the run of one report, or all runs of several; ``verbose`` adds the loads of misfits."""
    runs = [_Run.of(report, verbose=verbose) for report in reports]
    return runs[0] if len(runs) == 1 else _Runs.of(runs=runs)


def _model(report: Report, analysis: Analysis) -> dict[str, Any]:
    mech = analysis.mechanism
    return _Model.of(
        analysis,
        name=mech.name,
        files=report.scene.files if report.scene is not None else (),
        bodies=len(mech.bodies),
        pairs=len(mech.pairs),
        closures=sum(pair.closure for pair in mech.pairs),
        planar=analysis.planar or False,
    )


def _constraints(analysis: Analysis) -> list[dict[str, Any]]:
    """Return the constraint verdicts with the location and axes of each joint."""
    mech = analysis.mechanism
    poses = forward(mech, analysis.q)
    found = []
    for verdict in analysis.constraints:
        pair = mech.pair_by_name.get(verdict.name)
        point, R_WJ = (None, None) if pair is None else joint_place(mech, poses, pair)
        found.append(_ConstraintVerdict.of(verdict, point=point, R_WJ=R_WJ))
    return found
