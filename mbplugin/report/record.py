"""The record of a report: its date, version, command and input files; and sentences that several reports share."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import cache
from math import isinf
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.files import read_bounded
from mbplugin.model import SIDES, Array, CoordinateUnit, Mechanism, Scene
from mbplugin.phrases import counted, dataclass, listed, number
from mbplugin.readers import Source
from mbplugin.version import __version__

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.joint_reactions.misfit import LoopMisfits, LoopStiffness, MisfitCost, RemedyConsequences
    from mbplugin.joint_reactions.misfit_response import MisfitBudget, MisfitEffect, MisfitResponse
    from mbplugin.joint_reactions.sizing import Envelope, LargestLoad
    from mbplugin.joint_reactions.values import ActuatorForces, ComponentReaction, Reactions
    from mbplugin.linter.run import Report


#: With more bodies, reports leave out reactions, which would take too long; ``mbplugin reactions`` computes them.
_MOST_BODIES = 300
#: Maximum number of loads of one misfit in a sentence, and of listed misfits of one loop; the JSON has all.
_LOADS = 6
_MISFITS = 12
#: Titles of the loads due to tolerances, and of the misfits that limits allow.
DEVIATIONS_TITLE = "Standard deviations for the stated tolerances (? where nothing gives way)"
BUDGET_TITLE = "Largest misfit within the limits, without other loads"
#: An absolute path in a command line, at its start or after a space, a quote or the ``=`` of an option.
_ABSOLUTE = re.compile(r"(^|[\s'\"=])(/[^\s'\"]+)")
_HASH = re.compile(r"[0-9a-f]{40,64}")
#: Digits of a commit hash in reports.
_DIGITS = 12
_SMALL: Mapping[CoordinateUnit, str] = {"m": "mm", "rad": "mrad"}
_Directions = Sequence[Sequence[float]] | None
#: Marks an actuator force that is shared with other actuators.
SHARED = "="
ACTUATOR_TITLE = "Actuators: the force that this motion needs, with rotor inertia, damping and friction"


@dataclass(frozen=True)
class Record:
    """The information needed to reproduce a report.

    Parameters
    ----------
    date : str
        ISO 8601, UTC, to the second.
    version : str
        Version of mbplugin.
    command : str
        The command line, quoted for a shell.
    robot : str
        Name of the model; empty if the report has none.
    files : tuple of Source
        The files that were read, each with its SHA-256.
    standard : str, optional
        The edition of the standard whose form the report follows.
    python, numpy : str, optional
        Versions of Python and NumPy.
    commit : str, optional
        Commit of mbplugin, if installed or run from a repository; a checkout may have uncommitted changes.
    """

    date: str
    version: str
    command: str
    robot: str
    files: tuple[Source, ...]
    standard: str | None = None
    python: str | None = None
    numpy: str | None = None
    commit: str | None = None


def record_of(command: str, robot: str, files: Iterable[Source], standard: str | None = None) -> Record:
    """Return the record of a report made now, or at ``SOURCE_DATE_EPOCH``.

    Raises
    ------
    BadUsage
        ``SOURCE_DATE_EPOCH`` is set, but is not a valid time.
    """
    return Record(
        time_of_report().strftime("%Y-%m-%dT%H:%M:%SZ"),
        __version__,
        command,
        robot,
        tuple(dict.fromkeys(files)),
        standard,
        sys.version.split()[0],
        np.__version__,
        commit(),
    )


def _by_name(command: str) -> str:
    """Return a command line with absolute paths reduced to file names."""
    return _ABSOLUTE.sub(lambda found: found[1] + PurePath(found[2]).name, command)


def record_facts(record: Record) -> Iterator[str]:
    """Yield the lines of a record."""
    yield f"date: {record.date}"
    yield f"mbplugin: {record.version}" + (f", commit {record.commit}" if record.commit else "")
    if record.python is not None:
        yield f"Python: {record.python}, NumPy: {record.numpy}"
    yield f"command: {_by_name(record.command)}"
    yield f"robot: {record.robot}"
    yield from (f"file: {replace(one, path=_by_name(one.path))}" for one in record.files)
    if record.standard is not None:
        yield f"form: {record.standard}"


def time_of_report() -> datetime:
    """Return the time of ``SOURCE_DATE_EPOCH``, else the current time, in UTC; written files are dated with it.

    Raises
    ------
    BadUsage
        ``SOURCE_DATE_EPOCH`` is set, but is not a valid time.
    """
    stated = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return datetime.now(timezone.utc) if not stated else datetime.fromtimestamp(int(stated), timezone.utc)
    except (ValueError, OverflowError, OSError):
        raise BadUsage(
            f"SOURCE_DATE_EPOCH is {stated!r}", expected="whole seconds since 1970, or no such variable"
        ) from None


# The commit of the package.


@cache
def commit() -> str | None:
    """Return the abbreviated commit from which the package was installed, else that of its checkout, else None."""
    found = _installed() or checked_out(Path(__file__).resolve().parents[2] / ".git")
    return found[:_DIGITS] if found else None


def _installed() -> str | None:
    # slow to import, and a report as text needs no commit
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        stated = distribution("mbplugin").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    made = json.loads(stated or "{}").get("vcs_info", {}).get("commit_id", "")
    return made if _HASH.fullmatch(made) else None


def checked_out(git: Path) -> str | None:
    """Read the commit of a checkout from the files in its ``.git``, without running git; None if not found."""
    try:
        if git.is_file():
            # in a worktree, .git is a file with the path of the folder
            git = Path(_words(git).removeprefix("gitdir:").strip())
        head = _words(git / "HEAD")
        if not head.startswith("ref:"):
            return head if _HASH.fullmatch(head) else None
        name, common = head.removeprefix("ref:").strip(), git / "commondir"
        folder = git / _words(common) if common.is_file() else git
        if (folder / name).is_file():
            return _words(folder / name)
        packed = _words(folder / "packed-refs").splitlines()
        return next((line.split()[0] for line in packed if line.endswith(f" {name}")), None)
    except (OSError, UnicodeDecodeError, MbPluginError):
        return None


def _words(path: Path) -> str:
    return read_bounded(path).decode("ascii").strip()


# Verdicts and reactions that pages and windows add to a model at a pose, or a sentence that says why they are missing.


def judged(
    model: Scene | Mechanism, q: Array, planar: str | None = None, tolerance: float | None = None
) -> tuple[Analysis | None, tuple[str, ...]]:
    """Return the analysis at a pose q (nq,), or None and the reason why there is none."""
    from mbplugin.analysis import analyze

    try:
        return analyze(model, q, planar=planar, tolerance=tolerance), ()
    except MbPluginError as error:
        return None, (f"Bodies and joints are not judged: {error.sentence()}",)


def reactions_at_rest(
    model: Scene | Mechanism, analysis: Analysis
) -> tuple[Reactions | None, tuple[str, ...]]:
    """Return the joint reactions at rest at the pose of an analysis, or None and the reason why there are none."""
    return reactions_at(model, analysis.q, analysis.tolerance, analysis.planar)


def reactions_at(
    model: Scene | Mechanism, q: Array, tolerance: float | None, planar: str | None
) -> tuple[Reactions | None, tuple[str, ...]]:
    """Return the joint reactions at rest at a pose q (nq,), or None and the reason why there are none."""
    from mbplugin.joint_reactions.run import reactions

    mech = model if isinstance(model, Mechanism) else model.mechanism
    if len(mech.bodies) > _MOST_BODIES:
        return None, (f"Joint reactions are left out: there are more than {_MOST_BODIES} bodies.",)
    try:
        return reactions(model, q, tolerance=tolerance, planar=planar), ()
    except MbPluginError as error:
        return None, (f"Joint reactions are left out: {error.sentence()}",)


# Sentences about misfits: their sizes, the loads that they cause, and the misfits that limits allow.


def misfit_words(value: float, unit: CoordinateUnit) -> str:
    """Format a misfit of ``value`` m or rad in mm or mrad."""
    return f"{1e3 * value:.4g} {_SMALL[unit]}"


def budget_words(one: MisfitBudget) -> str:
    """Return a sentence with the largest misfit of one component that the limits allow."""
    label = f"{one.constraint} {one.component}"
    if one.largest == 0:
        return f"{label}: none, as no compliance limits the load of {one.decided_by}"
    return f"{label}: {misfit_words(one.largest, one.unit)}, limited by {one.decided_by}"


def deviation_rows(result: Reactions) -> list[tuple[str, str]]:
    """Return each component with the standard deviation of its load; components that no misfit loads are left out."""
    return [
        (f"{c.name} {one.name}", "?" if one.sigma is None else f"{one.sigma:.4g} {one.unit}")
        for c in result.constraints
        for one in c.components
        if one.sigma is None or one.sigma > 0
    ]


def interval_words(component: ComponentReaction) -> str:
    """Return the least and the greatest possible value of a component, as ``12.3 … 47.1``; empty if unbounded."""
    lower, upper = component.lower, component.upper
    if lower is None and upper is None:
        return ""
    if lower is None:
        return f"≤ {number(upper or 0.0)}"
    return f"≥ {number(lower)}" if upper is None else f"{number(lower)} … {number(upper)}"


ENVELOPE_HEADS = ("largest", "at s", "at most", "at s")


def envelope_title(envelope: Envelope) -> str:
    """Return a title with the instants of the motion, or the stops, over which an envelope is the largest."""
    instants = counted(len(envelope.time), "instant")
    if envelope.stops:
        instants = f"{counted(envelope.stops, 'stop')}, {instants}"
    return f"{instants} from {envelope.time.min():.6g} to {envelope.time.max():.6g} s ({envelope.source})"


def envelope_cells(load: LargestLoad) -> tuple[str, str, str, str]:
    """Return the largest value, its time, the bound where it is not determined, and its time."""
    value = "" if load.value is None else f"{load.value:.6g} {load.unit}{'*' if load.stated else ''}"
    bound = (
        "" if load.determined else "not bounded" if load.bound is None else f"{load.bound:.6g} {load.unit}"
    )
    return value, _when(load.time, load.stop), bound, _when(load.bound_time, load.bound_stop)


def _when(time: float | None, stop: int | None) -> str:
    """Return a time, s, with the number of the stop if there is one."""
    if time is None:
        return ""
    return f"{time:.6g}" if stop is None else f"{time:.6g} of {stop}"


def envelope_legend(envelope: Envelope) -> Iterator[str]:
    """Yield the meanings of the columns of an envelope."""
    yield "axial along the joint's axis, radial across it, moment across it, torque about it, on the successor"
    if envelope.stops:
        yield "at s: the time from the signal of the stop with that number"
    if any(load.stated for load in envelope.loads):
        yield "* by the stated stiffness at some instant"
    if any(not load.determined for load in envelope.loads):
        yield (
            "at most: where the rigid model does not determine the load, no possible value is larger;"
            " not bounded: no contact and no effort limit bounds it"
        )


def bounds_legend(result: Reactions) -> Iterator[str]:
    """Yield the meanings of intervals and equal bounds in a table of reactions."""
    components = [component for c in result.constraints for component in c.components]
    if any(component.source == "inequalities" for component in components):
        yield "# not determined by the rigid model; contacts and limits leave one value"
    if any(component.value is None and interval_words(component) for component in components):
        circle = f"; friction as a polygon of {SIDES} sides around the circle" if result.contacts else ""
        yield f"… not determined, but every value lies between these bounds{circle}"


def standing_words(result: Reactions) -> Iterator[str]:
    """Yield the states of the contacts, and the margins of those that hold."""
    for state in ("holds", "slips", "opens"):
        names = [contact.name for contact in result.contacts if contact.state == state]
        if names:
            yield f"{listed(names)}: {state if len(names) == 1 else state.removesuffix('s')}"
    if (found := result.standing) is None:
        return
    if found.smallest_friction is not None:
        yield f"smallest coefficient of friction that holds: {number(found.smallest_friction)}"
    elif found.friction_factor is not None:
        yield f"the contacts hold with {number(found.friction_factor)} times the stated friction"
    if found.load_factor is not None:
        yield f"the loads can grow to {number(found.load_factor)} times, until {_limit_words(found.load_limited_by)}"
    if found.sideways is not None and found.sideways_direction is not None:
        yield (
            f"{'tips' if found.tips else 'slips'} under a sideways load of {number(found.sideways)} times the weight"
            f" along {vector_words(found.sideways_direction)}: {_limit_words(found.sideways_limited_by)}"
        )


def _limit_words(names: Sequence[str]) -> str:
    """Return a clause on the contacts that open or slip, from the labels of inequalities."""
    clauses = []
    for kind, word in (("cn", "open"), ("friction", "slip")):
        own = [name.rpartition(".")[0] for name in names if name.endswith(f".{kind}")]
        if own:
            clauses.append(f"{listed(own)} {word}{'s' if len(own) == 1 else ''}")
    return " and ".join(clauses)


def effect_words(effect: MisfitEffect) -> str:
    """Return a sentence with the loads of a misfit of one component, or with the stiffness that is missing."""
    misfit = f"{effect.step} at {effect.constraint} {effect.component}"
    if effect.infinite:
        endless = dict.fromkeys(load.constraint for load in effect.loads if load.source is None)
        return (
            f"{misfit}: no compliance limits the load of {listed(tuple(endless), _LOADS)}; "
            f"it needs a stiffness of {lacking_words(effect)}"
        )
    return f"{misfit}: {load_words(effect)} ({source_words(effect)} stiffness)"


def load_words(effect: MisfitEffect) -> str:
    """Return the formatted loads of a misfit, the largest first."""
    loads = [f"{load.constraint} {load.component} {load.value:.4g} {load.unit}" for load in effect.loads]
    return listed(loads, _LOADS)


def lacking_words(effect: MisfitEffect) -> str:
    """Return the names of the bodies and joints that need a stiffness before every load has a value."""
    return listed((*effect.missing.bodies, *effect.missing.pairs), _LOADS)


def source_words(effect: MisfitEffect) -> str:
    """Return the sources of the stiffness that determines the loads: stated, estimated, or both."""
    sources = {load.source for load in effect.loads}
    return " and ".join(source for source in ("stated", "estimated") if source in sources)


def loop_words(loop: LoopMisfits | MisfitResponse) -> Iterator[str]:
    """Yield sentences with the loads of the misfits of one loop, or of all loops, the costliest misfit first."""
    yield from (effect_words(effect) for effect in loop.effects[:_MISFITS])
    if len(loop.effects) > _MISFITS:
        yield f"and {len(loop.effects) - _MISFITS} more: the JSON has all"


def rounding_words(effect: MisfitEffect) -> str:
    """Return a sentence with the combined effect of the rounded angles of a file."""
    return f"rounded angles together, a gap of {effect_words(effect)}"


def consequence_words(report: Report) -> Iterator[str]:
    """Yield a sentence on the misfit loads after each remedy, and one on keeping all redundant constraints."""
    found, analysis = report.consequences, report.analysis
    if found is None or analysis is None:
        return
    for k, one in enumerate(found.remedies, 1):
        names = listed(list(dict.fromkeys(change.constraint for change in one.remedy.changes)), _LOADS)
        left = "a misfit costs nothing" if one.after is None else _cost_words(one.after)
        lost = listed([_stiffness_words(stiffness) for stiffness in one.given_up], _LOADS)
        gives = f"; the loop no longer opposes {lost}" if lost else ""
        yield f"remedy {k} ({names}): then {left}{gives}"
    yield _redundancy_words(found, report.scene, analysis.degree_of_redundancy)


def _redundancy_words(found: RemedyConsequences, scene: Scene | None, redundancy: int) -> str:
    """Return the loads of keeping all redundant constraints; advise it if they are finite and within the limit."""
    kept, turned = found.kept, found.kept_turned
    limit = scene.options.misfit_limit if scene is not None and kept.load.unit == "N" else None
    also = f"; {_cost_words(turned)}" if turned is not None else ""
    if isinf(kept.load.value) or (turned is not None and isinf(turned.load.value)):
        return f"kept as it is: {_cost_words(kept)}{also}"
    if limit is not None and abs(kept.load.value) > limit:
        return f"kept as it is: {_cost_words(kept)}, ABOVE the limit of {limit:g} N{also}"
    declared = f"[lint] degree_of_redundancy = {redundancy} declares it"
    if limit is None:
        return f"keep it where that is allowed: {_cost_words(kept)}{also}; {declared}"
    return f"keep it: {_cost_words(kept)}, within the limit of {limit:g} N{also}; {declared}"


def _cost_words(cost: MisfitCost) -> str:
    effect, load = cost.effect, cost.load
    place = f"at {effect.constraint} {effect.component}"
    if isinf(load.value):
        return f"no compliance limits what {effect.step} {place} costs; state a stiffness of {lacking_words(effect)}"
    size = f"{abs(load.value):.4g} {load.unit} in {load.constraint}"
    return f"a misfit of {effect.step} costs at most {size} ({place}; {load.source} stiffness)"


def _stiffness_words(one: LoopStiffness) -> str:
    unit = {"N": "N/m", "N·m": "N·m/rad"}[one.unit]
    value = "without any compliance" if isinf(one.value) else f"with {one.value:.4g} {unit}"
    return f"{one.constraint} {one.component} {value}"


# Undetermined directions in space as text: along a line, in a plane across a normal, or all.


def open_words(force: _Directions, moment: _Directions) -> str:
    """Return a text such as "force open along (0, 0, 1), moment unique"; empty without a result.

    Parameters
    ----------
    force, moment : sequence of (x, y, z) or None
        Orthonormal, world axes.
    """
    if force is None or moment is None:
        return ""
    if not force and not moment:
        return "unique"
    return f"force {_span(force)}, moment {_span(moment)}"


def _span(directions: Sequence[Sequence[float]]) -> str:
    match len(directions):
        case 0:
            return "unique"
        case 1:
            return f"open along {vector_words(directions[0])}"
        case 2:
            normal = np.cross(np.array(directions[0]), np.array(directions[1]))
            largest = int(np.argmax(np.round(np.abs(normal), 6)))
            return f"open across {vector_words((normal * np.sign(normal[largest])).tolist())}"
        case _:
            return "open in all directions"


def vector_words(vector: Sequence[float]) -> str:
    """Format the coordinates of a vector."""
    return f"({', '.join(f'{value + 0.0:.4g}' if abs(value) > 1e-12 else '0' for value in vector)})"


# Sentences about non-unique actuator forces.


def share_words(found: ActuatorForces) -> Iterator[str]:
    """Yield, for each freely chosen actuator force, the forces in other joints that go with 1 N·m or 1 N of it."""
    for name, column in zip(found.free, found.shares.T, strict=True):
        others = " and ".join(
            f"{value:.6g} {force.unit} in {force.joint}"
            for force, value in zip(found.forces, column.tolist(), strict=True)
            if value and force.joint != name
        )
        yield f"1 {found[name].unit} in {name}" + (f" with {others}" if others else " alone")


@dataclass(frozen=True)
class Term:
    """A term: its name, its meaning, and other forms of it in outputs."""

    name: str
    meaning: str
    forms: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """The name as a URL fragment."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    @property
    def words(self) -> tuple[str, ...]:
        """The name, then all other forms."""
        return (self.name, *self.forms)


def _term(name: str, meaning: str, *forms: str) -> Term:
    return Term(name, meaning, forms)


#: Sorted by subject: verdicts, reactions, mechanisms, motions, stops, comparisons.
TERMS: tuple[Term, ...] = (
    _term(
        "redundant constraint",
        "A constraint row that restrains only what other rows already restrain. It changes no motion, but it makes"
        " joint reactions undetermined in a rigid model.",
        "redundant constraints",
        "overconstrained",
        "overconstraint",
    ),
    _term(
        "degree of redundancy",
        "The number p of redundant constraints: rows less rank.",
        "degrees of redundancy",
    ),
    _term(
        "mobility",
        "The number of independent motions at a pose. To first order it is columns less rank; in fact it may be less.",
        "degrees of freedom",
    ),
    _term(
        "Grübler",
        "Columns less rows: the mobility if all rows were independent. It is less than the mobility by the degree of"
        " redundancy.",
        "Grübler's number",
        "Grübler's formula",
    ),
    _term(
        "rank tolerance",
        "Relative to the largest singular value of the constraint matrix: rows whose singular value is smaller count"
        " as dependent.",
        "tolerance",
        "relative tolerance",
    ),
    _term(
        "plateau",
        "A range of tolerances in which the degree of redundancy does not change. One wide plateau: the result"
        " does not depend on the tolerance.",
        "plateaus",
    ),
    _term(
        "singular configuration",
        "A pose at which the rank is lower than at poses nearby: some motions exist only there.",
        "singular pose",
        "singular configurations",
    ),
    _term(
        "structural redundancy",
        "The degree of redundancy at the largest rank that was found over sampled poses.",
    ),
    _term(
        "unique reaction",
        "A joint force or moment that the equations of rigid bodies determine; every accurate simulator gives it.",
        "reaction unique",
        "unique reactions",
        "unique",
    ),
    _term(
        "non-unique reaction",
        "A joint force or moment that the equations of rigid bodies do not determine; what a simulator prints for it"
        " is arbitrary.",
        "reactions not unique",
        "non-unique reactions",
        "reaction not unique",
        "non-unique",
        "non-unique components",
        "not unique",
    ),
    _term(
        "self-stress",
        "Forces in the joints that are in equilibrium without any load. There is one for each redundant constraint.",
        "self-stresses",
    ),
    _term(
        "norm of B_X",
        "How much of the reaction of a joint X the self-stresses can change: zero where all of it is unique. The size"
        " of the joint's part of an orthonormal basis of them, lengths in characteristic lengths.",
        "norms of B_X",
    ),
    _term(
        "must be flexible",
        "A body whose stiffness decides reactions that rigid bodies leave undetermined; the other bodies may"
        " stay rigid.",
        "bodies that must be flexible",
        "may stay rigid",
        "flexible bodies",
    ),
    _term(
        "misfit",
        "The deviation of a closing joint from its place, due to manufacture or rounding, in m or rad. In a redundant"
        " loop it causes loads.",
        "misfits",
    ),
    _term(
        "remedy",
        "A change of joint types that removes redundant constraints and keeps the mobility, proved by an analysis.",
        "remedies",
    ),
    _term("group", "Constraints whose reactions are judged together, for example two hinges.", "groups"),
    _term(
        "wrench",
        "Force and moment of a joint on its successor, at the origin of its joint frame.",
        "joint reactions",
        "wrenches",
    ),
    _term(
        "component",
        "One direction of a joint: tx ty tz are forces (translations), rx ry rz moments (rotations), in axes of the"
        " predecessor's joint frame, z along the joint axis.",
        "components",
    ),
    _term("predecessor", "The body in whose joint frame a joint's components are written; body_a."),
    _term("successor", "The body on which a joint's reaction acts; body_b."),
    _term("pair", "A joint between two bodies: revolute, prismatic, spherical and so on.", "pairs"),
    _term("closure", "A pair that closes a loop of the tree of joints.", "closures"),
    _term("coupling", "A linear relation of joint rates, such as a gear or a mimic joint.", "couplings"),
    _term(
        "Pfaffian",
        "A constraint on velocities that does not constrain positions: a rolling wheel, a knife edge. The others are"
        " holonomic.",
        "nonholonomic",
        "holonomic",
    ),
    _term(
        "pose",
        "The positions and orientations of all bodies, given by the joint coordinates q.",
        "poses",
    ),
    _term(
        "closure residual",
        "How far a loop is open, m or rad, in the pose of the file and in the one that is analyzed.",
        "closure residuals",
    ),
    _term(
        "constraint manifold",
        "All poses at which every loop is closed; a mechanism moves along it.",
    ),
    _term("lock", "A constraint that begins at an instant and holds a joint.", "locks"),
    _term(
        "event",
        "An instant at which a motion changes its equations: a lock, a brake, a limit, slip or stick.",
        "events",
    ),
    _term("impulse", "A force integrated over an impact, N·s or N·m·s.", "impulses"),
    _term(
        "stop category",
        "IEC 60204-1: 0 removes power at once and brakes; 1 stops by the drives and then removes power; 2 stops by"
        " the drives and keeps power.",
        "category",
        "stop categories",
    ),
    _term(
        "reaction time",
        "From the signal until braking starts, s; the reaction travel is covered in it.",
        "reaction travel",
    ),
    _term(
        "braking",
        "From the end of the reaction time until the joint is at rest.",
        "braking time",
        "braking travel",
    ),
    _term(
        "instant stop",
        "The usual simplification, naive, that sets the rate of a joint to zero at the instant its brake engages.",
        "tool error of an instant stop",
        "an instant stop would predict",
        "naive",
    ),
    _term(
        "swept corridor",
        "The box in world axes that the moving bodies sweep during a stop.",
        "swept volume",
    ),
    _term(
        "tool",
        "The point whose path a stop reports; if none is given, that of the outermost link, or of a base on wheels.",
        "tool path",
    ),
    _term("payload", "A mass that the tool carries, kg.", "payloads"),
    _term(
        "assumed brake",
        "A brake that the file does not state; its torque is then the effort limit. Real brakes are often weaker.",
        "assumed brakes",
        "assumed",
    ),
    _term(
        "order of convergence",
        "How the deviation from PyBullet falls with its step: order 1 halves it with half the step.",
        "orders",
        "observed orders of convergence",
    ),
    _term(
        "characteristic length",
        "The length by which distances are divided so that translations and rotations can be compared, m.",
    ),
)


def term_of(words: str) -> Term | None:
    """Return the term with these words, whatever their case; None if there is none."""
    return _BY_WORDS.get(words.lower())


_BY_WORDS = {form.lower(): term for term in reversed(TERMS) for form in term.words}
