"""The result of the divide-and-conquer test, and its trace in the order of pekal2024 §4."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from mbplugin.analysis.dca.model import DcaModel, GroundConnection
from mbplugin.analysis.dca.propagation import (
    PRECONDITIONS,
    TOOLS,
    Decision,
    GroupRanks,
    GroupUniqueness,
    Propagation,
    group_ranks,
)
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model import AnyArray, Array, Mechanism, Uniqueness
from mbplugin.phrases import counted, listed

#: Width of sentences if no width is requested.
_WIDTH = 100
#: First heading of the table; cells are separated by at least two blanks.
FIRST_HEAD = "ranks"
_BLANKS = re.compile(r"\s{2,}")
#: Maximum number of names, bodies or executions listed.
FEW = 24
#: With more joints, a connection is tested only as a whole and by groups of equal verdict, not joint by joint.
MOST_JOINTS = 24


def explain(result: DcaResult, width: int | None = None) -> str:
    """Return the printable trace of a divide-and-conquer uniqueness test, wrapped to ``width`` if given."""
    lines = [
        *_preconditions(result),
        *_assembly(result),
        *_step_1(result),
        *_step_2(result),
        *_step_3(result),
        *_step_4_and_5(result),
        *_steps_6_to_8(result),
        *_end(result),
    ]
    return "\n".join(set_lines(lines, width)) + "\n"


def _preconditions(result: DcaResult) -> Iterator[str]:
    model = result.model
    joints = [joint for joint in model.joints if joint.name not in model.pair_of] + list(model.cut)
    grounded = sum(joint.grounded for joint in model.joints if joint.name not in model.pair_of)
    yield f"Divide-and-conquer uniqueness test of {result.mechanism.name!r}"
    yield from text(
        f"{len(result.mechanism.bodies)} bodies, {len(joints)} joints: {grounded} to the ground and "
        f"{len(joints) - grounded} between bodies. Relative coordinates, wrenches in world axes."
    )
    yield from few(
        [
            f"Body {result.mechanism.bodies[body].name} is welded by {weld} and counts as ground."
            for weld, body in result.model.welded.items()
        ]
    )
    yield from title("Preconditions")
    yield from few(
        [
            f"{name} closes a loop that does not pass through the ground, and is cut: {one} and {other} count "
            "as ground joints with the same multipliers. Extension, not in the paper."
            for name, (one, other) in result.model.cut.items()
        ]
    )
    for name, sentence in PRECONDITIONS.items():
        if name == "ground connection" and result.model.cut:
            continue
        # without redundancy no nearby pose can have a higher rank
        open_question = name == "nonsingular pose" and result.degree_of_redundancy and not result.samples
        yield f"  {'not checked' if open_question else 'holds'}: {sentence}"


def _assembly(result: DcaResult) -> Iterator[str]:
    yield from title("Binary assembly")
    tree = result.model.tree
    yield from few(
        [
            f"{node.label} = {node.left} + {node.right}, joint {node.joint} eliminated; "
            f"handles left: {names_of(node.handles) or 'none'}"
            for node in tree.nodes
        ]
    )
    held = [
        f"ground joints {names_of(ground)}" if ground else "no joint to the ground"
        for *_, ground in tree.roots
    ]
    yield from few(
        [
            f"Complete assembly {label}: {counted(len(bodies), 'body', 'bodies')}, {how}"
            for (label, bodies, _), how in zip(tree.roots, held, strict=True)
        ]
    )


def _step_1(result: DcaResult) -> Iterator[str]:
    yield from title("Step 1. Empty handles: no joint, so the reaction is zero and thereby unique")
    names = [
        b.name for b, own in zip(result.mechanism.bodies, result.model.handles, strict=True) if len(own) < 2
    ]
    yield from text(f"Bodies with an empty handle: {names_of(names) or 'none'}")


def _step_2(result: DcaResult) -> Iterator[str]:
    yield from title("Step 2. Between the complete assembly and the ground")
    multi = {c.joints: c for c in result.connections}
    for weld in result.model.welded:
        if weld in result.model.only_ties:
            yield from text(
                f"{weld} alone ties its bodies to the world: its reaction cannot split, it is unique"
            )
    roots = result.model.tree.roots
    for label, _, ground in roots[:FEW]:
        if c := multi.get(ground):
            yield from connection_lines(c)
        elif ground:
            yield from text(
                f"{label} hangs on the single joint {ground[0]}: its reaction cannot split, it is unique"
            )
        else:
            yield from text(f"{label} floats: nothing to decide")
    yield from more(len(roots))
    yield from _decided(d for d in result.order if d.step == 2)


def _step_3(result: DcaResult) -> Iterator[str]:
    yield from title("Step 3. From the root to the leaves")
    decided = [decision for decision in result.order if decision.step == 2]
    for decision in decided[:FEW]:
        body = result.model.joint[decision.joint].moving[0]
        yield from text(_path(result, decision, body))
    yield from more(len(decided))


def _path(result: DcaResult, decision: Decision, body: int) -> str:
    """Return the subassemblies on which a ground joint acts, from the root down to its body."""
    parts = [n.label for n in result.model.tree.nodes if decision.joint in n.handles and body in n.bodies]
    arrows = " → ".join([*reversed(parts), f"body {result.mechanism.bodies[body].name}"])
    return f"{decision.joint} ({_verdict(decision.unique)}): {arrows}"


def _step_4_and_5(result: DcaResult) -> Iterator[str]:
    yield from title("Step 4. Bodies with one joint")
    single = [d for d in result.order if d.step == 4]
    yield from few(
        [f"body {d.body}: nothing else can carry what {d.joint} carries; {d.joint} is unique" for d in single]
    )
    yield from _nothing(single)
    yield from title("Step 5. From the leaves to the root")
    yield from _upwards(result, single)


def _steps_6_to_8(result: DcaResult) -> Iterator[str]:
    for execution in range(1, min(result.propagation.executions, FEW) + 1):
        decided = [d for d in result.order if d.execution == execution]
        yield from title(f"Step 6, execution {execution}. Bodies with one unknown reaction")
        for d in decided[:FEW]:
            yield from text(_balance(result, d))
        yield from more(len(decided))
        yield from title(f"Step 7, execution {execution}. From the leaves to the root")
        yield from _upwards(result, decided)
    yield from more(result.propagation.executions)
    yield from title("Step 8. Repeat until nothing new is found")
    yield from text(f"Step 6 decided something {counted(result.propagation.executions, 'time', 'times')}.")


def _balance(result: DcaResult, decision: Decision) -> str:
    body = next(k for k, b in enumerate(result.mechanism.bodies) if b.name == decision.body)
    others = [h for h in result.model.handles[body] if h != decision.joint]
    arbitrary = [h for h in others if not result.propagation.unique[h]]
    if arbitrary:
        return (
            f"body {decision.body}: {arbitrary[0]} is non-unique and accelerations are unique, so "
            f"{decision.joint} is non-unique"
        )
    sentence = f"{names_of(others)} {'is' if len(others) == 1 else 'are'} unique and so are accelerations"
    return f"body {decision.body}: {sentence}; so {decision.joint} is unique"


def _upwards(result: DcaResult, decided: Sequence[Decision]) -> Iterator[str]:
    for d in decided[:FEW]:
        joint = result.model.joint[d.joint]
        others = [result.mechanism.bodies[b].name for b in joint.touched]
        others = [f"body {name}" for name in others if name != d.body]
        parts = [n.label for n in result.model.tree.nodes if d.joint in n.handles]
        acts = " and with the opposite sign on " + names_of(others) if others else ""
        through = f", also as a handle of {names_of(parts)}" if parts else ""
        yield from text(f"{d.joint} ({_verdict(d.unique)}) acts on body {d.body}{acts}{through}")
    yield from more(len(decided))
    yield from _nothing(decided)


def _end(result: DcaResult) -> Iterator[str]:
    yield from title("Result")
    undecided = [
        v.name for v in result.verdicts if v.name in result.model.joint and v.decided_by in ("", "extension")
    ]
    for body in result.stalled[:FEW]:
        index = next(k for k, b in enumerate(result.mechanism.bodies) if b.name == body)
        loaded = [h for h in result.model.handles[index] if not result.propagation.unique.get(h, False)]
        yield from text(f"Stalled at body {body}: its loaded handles are {names_of(loaded)}.")
    yield from more(len(result.stalled))
    if result.extended and undecided:
        yield from text(
            "Extension, not in the paper: the null space N is carried through the tree by statics. "
            f"It decides {names_of(undecided)}."
        )
    for reaction in ("non-unique", "unique", "undecided"):
        names = [v.name for v in result.verdicts if v.reaction == reaction]
        if names or reaction != "undecided":
            by = " by this method" if reaction == "undecided" else ""
            yield from text(f"{reaction}{by}: {names_of(names) or 'none'}")
    yield from text(f"bodies to be modelled as flexible: {names_of(result.flexible_bodies) or 'none'}")
    if result.undecided_bodies:
        yield from text(f"undecided bodies: {names_of(result.undecided_bodies)}")


def _decided(decisions: Iterable[Decision]) -> Iterator[str]:
    found = list(decisions)
    for unique in (True, False):
        names = [d.joint for d in found if d.unique is unique]
        if names:
            yield from text(f"{_verdict(unique)}: {names_of(names)}")


def _verdict(unique: bool) -> str:
    return "unique" if unique else "non-unique"


def _nothing(decided: Sequence[Decision]) -> Iterator[str]:
    if not decided:
        yield "  nothing new"


# The part of the trace about one connection to the ground: rank, null space, and the four tools.


def connection_lines(c: GroundConnection) -> Iterator[str]:
    """Yield the lines on the ground joints of one assembly."""
    m = len(c.labels)
    yield from text(f"{c.assembly} is held by the multi-joint connection {names_of(tuple(c.columns))}.")
    yield from _rank_of_large(c) if c.supports else _rank(c)
    if c.redundancy:
        zero = c.zero_rows
        yield from text(f"Null space N is {m}×{c.redundancy}.")
        yield from text(f"Rows of N that are not zero: {_rows(c, ~zero)}", "  ")
        yield from text(f"Rows of N that are zero: {_rows(c, zero)}", "  ")
    if not c.supports:
        yield from _table(c)


def _rank(c: GroundConnection) -> Iterator[str]:
    m, height = c.T.shape[1], len(c.T)
    sigma = np.linalg.svd(c.G, compute_uv=False)
    yield from text(f"T is {height}×{m}, Φ₁₁ is {height}×{height}, G = TᵀΦ₁₁T is {m}×{m} of rank {c.rank}.")
    yield from text(f"Singular values of G over the first: {_gap(sigma / sigma[0], c.rank, 1e-12)}.")
    yield from text(
        "Rank is decided on a root of G without units, with unit inertias and rows of unit length. Its "
        f"singular values over the first: {_gap(c.relative, c.rank, 1e-12)}."
    )


def _rank_of_large(c: GroundConnection) -> Iterator[str]:
    m = len(c.labels)
    yield from text(
        f"G = TᵀΦ₁₁T is {m}×{m} of rank {c.rank}, too large for its singular values and the four tools."
    )
    yield from text(
        "Rank is decided subassembly by subassembly on a root of G without units, with unit inertias and rows "
        f"of unit length. What its rows resist there: {_gap(c.relative, c.rank, 1e-9)}."
    )


def _gap(values: Sequence[float] | AnyArray, rank: int, rounding: float) -> str:
    last = f"no. {rank} is {values[rank - 1]:.2e}" if rank else "none counts"
    if rank == len(values):
        return f"{last}, the last one"
    # smaller values are rounding and differ between machines
    return f"{last}, no. {rank + 1} is {f'{values[rank]:.2e}' if values[rank] > rounding else f'below {rounding:.0e}'}"


def _rows(c: GroundConnection, chosen: AnyArray) -> str:
    """Return the names of the chosen (m,) components, joint by joint."""
    parts = []
    for joint, columns in c.columns.items():
        components = [c.labels[k][1] for k in range(columns.start, columns.stop) if chosen[k]]
        if components:
            parts.append(f"{joint} ({' '.join(components)})")
    return names_of(parts) or "none"


def _table(c: GroundConnection) -> Iterator[str]:
    """Yield the verdicts of each tool on single joints, on all with equal verdict, and on the whole (Table 1)."""
    heads = "".join(f"{name:24}" for name in TOOLS).rstrip()
    # the effect of a group is not the ``reaction`` of --group, which is judged body by body
    yield from text(
        "Tested on G, effect on the assembly / components; ranks: G_T + G_R − G, f where G_T has full rank."
    )
    yield f"    {'':<35}{FIRST_HEAD:20}{heads}"
    for group in tested_groups(c):
        label = textwrap.shorten(" ".join(group.members), 34, placeholder=" …")
        words = ""
        for _, answer in group.answers:
            components = "unique / unique" if answer.components_unique else "unique / non-unique"
            words += f"{components if answer.assembly_effect_unique else 'non-unique':24}"
        r = group.ranks
        ranks = f"{r.tested}{'f' if r.full else ''} + {r.remaining} − {r.whole} = {r.excess}"
        yield f"    {label:35}{ranks:20}{words}".rstrip()


# The result of the divide-and-conquer test, with its steps.


@dataclass(frozen=True)
class DcaVerdict:
    """Verdict of the test on the reaction of one pair.

    Parameters
    ----------
    reaction : str
        ``unique``, ``non-unique`` or ``undecided``.
    components : tuple of (str, bool or None)
        Uniqueness of each component; None if this method does not determine it.
    indeterminate_dim : int or None
        Dimension of the family of possible reactions; None if this method does not determine it.
    decided_by : str
        ``step 2``, ``step 4``, ``step 6``, ``extension``, ``no rows``, or empty.
    """

    name: str
    reaction: Uniqueness
    components: tuple[tuple[str, bool | None], ...]
    indeterminate_dim: int | None
    decided_by: str


@dataclass(frozen=True, eq=False)
class DcaResult:
    """The result of the divide-and-conquer uniqueness test of a mechanism at a pose.

    Parameters
    ----------
    q : (nq,) array
        The closed pose.
    samples : int
        Number of sampled poses to detect a singular pose.
    extended : bool
        True if the null space was propagated through the tree.
    model : DcaModel
        Joints, handles and the binary assembly tree.
    connections : tuple of GroundConnection
        One for each assembly with several ground joints.
    propagation : Propagation
        The paper's steps, without the extension.
    verdicts : tuple of DcaVerdict
        One for each pair, in file order.
    """

    mechanism: Mechanism
    q: Array
    planar: str | None
    tolerance: float
    samples: int
    extended: bool
    model: DcaModel
    connections: tuple[GroundConnection, ...]
    propagation: Propagation
    verdicts: tuple[DcaVerdict, ...]

    @cached_property
    def G(self) -> Array:
        """G = TᵀΦ₁₁T of all multi-joint connections, SI (pekal2024 (54)), (m, m)."""
        return _block_diagonal([c.G for c in self.connections])

    @cached_property
    def N(self) -> Array:
        """Null space of G, unit columns in N and N·m (pekal2024 (46)), (m, m − rank)."""
        return _block_diagonal([c.N for c in self.connections])

    @cached_property
    def groups(self) -> dict[str, slice]:
        """Columns of G by ground joint."""
        out: dict[str, slice] = {}
        start = 0
        for c in self.connections:
            out.update({j: slice(start + s.start, start + s.stop) for j, s in c.columns.items()})
            start += len(c.labels)
        return out

    @property
    def columns(self) -> int:
        """Columns of G."""
        return sum(len(c.labels) for c in self.connections)

    @property
    def rank(self) -> int:
        """Rank of G."""
        return sum(c.rank for c in self.connections)

    @property
    def degree_of_redundancy(self) -> int:
        """Columns of G minus its rank: the degree of redundancy p of the whole mechanism."""
        return sum(c.redundancy for c in self.connections)

    @cached_property
    def reactions(self) -> dict[str, str]:
        """Verdict of each pair by name: ``unique``, ``non-unique`` or ``undecided``."""
        return {v.name: v.reaction for v in self.verdicts}

    @cached_property
    def tested(self) -> tuple[TestedGroup, ...]:
        """Groups of ground joints with their ranks and the verdict of each tool (pekal2024 Table 1)."""
        return tuple(group for c in self.connections for group in tested_groups(c))

    @property
    def order(self) -> tuple[Decision, ...]:
        """The decisions of the paper's steps, in the order of propagation."""
        return self.propagation.decisions

    @property
    def stalled(self) -> tuple[str, ...]:
        """Bodies at which the paper's steps stop."""
        return self.propagation.stalled

    @property
    def flexible_bodies(self) -> tuple[str, ...]:
        """Bodies with a non-unique reaction: to be modelled as flexible (pekal2024 §4)."""
        return self._bodies_with("non-unique")

    @property
    def undecided_bodies(self) -> tuple[str, ...]:
        """Bodies with an undecided reaction and no non-unique one."""
        flexible = self.flexible_bodies
        return tuple(name for name in self._bodies_with("undecided") if name not in flexible)

    @property
    def trace(self) -> str:
        """The whole test step by step, in words."""

        return explain(self)

    def test_group(self, members: Sequence[str], tool: str = "qr") -> GroupUniqueness:
        """Test ground joints as one group: their effect on the otherwise assembled mechanism.

        Raises
        ------
        UnknownName
            A member is not a pair.
        BadUsage
            A pair does not touch the ground, or the tool is unknown.
        """
        if tool not in TOOLS:
            raise BadUsage(f"the tool is {tool!r}", expected=f"one of {', '.join(TOOLS)}")
        for name in members:
            self._require_ground_joint(name)
        answers = [
            TOOLS[tool](c.G_scaled, c.rank, [columns], c.zero_in_G)[0]
            for c in self.connections
            if (columns := _columns_of(c, members))
        ]
        return GroupUniqueness(
            all(a.assembly_effect_unique for a in answers), all(a.components_unique for a in answers)
        )

    def _require_ground_joint(self, name: str) -> None:
        if name not in self.mechanism.pair_by_name:
            known = [pair.name for pair in self.mechanism.pairs]
            raise UnknownName(f"the group names an unknown pair {name!r}", remedy=suggestion(name, known))
        joint = self.model.joint.get(name)
        if joint is not None and (not joint.grounded or name in self.model.welded):
            raise BadUsage(
                f"pair {name!r} is not between the assembly and the ground",
                expected="ground joints, which are what G describes",
                remedy="use method qr for other groups",
            )

    def _bodies_with(self, reaction: str) -> tuple[str, ...]:
        welded = set(self.model.welded.values())
        touched = {
            body
            for joint in self.model.joint.values()
            if self.reactions[self.model.pair_of.get(joint.name, joint.name)] == reaction
            for body in joint.moving
            if body not in welded
        }
        return tuple(body.name for k, body in enumerate(self.mechanism.bodies) if k in touched)


def _columns_of(connection: GroundConnection, members: Sequence[str]) -> list[int]:
    slices = [connection.columns[name] for name in dict.fromkeys(members) if name in connection.columns]
    return [k for s in slices for k in range(s.start, s.stop)]


def _block_diagonal(blocks: Sequence[Array]) -> Array:
    """Return the block-diagonal matrix (m, n) of some blocks."""
    out = scipy.linalg.block_diag(*blocks) if blocks else np.zeros((0, 0))
    out.setflags(write=False)
    return np.asarray(out)


# Lines of the trace: names, titles and sentences, limited in number and wrapped to a width.


def names_of(names: Sequence[str]) -> str:
    """Return the first names joined by commas, and the number of the others."""
    return listed(names, FEW)


def few(sentences: Sequence[str]) -> Iterator[str]:
    """Yield the first sentences, and a line with the number of the others."""
    for sentence in sentences[:FEW]:
        yield from text(sentence)
    yield from more(len(sentences))


def more(number: int) -> Iterator[str]:
    """Yield a line with the number beyond the first few."""
    if number > FEW:
        yield f"  and {number - FEW} more"


def title(words: str) -> Iterator[str]:
    """Yield a title after an empty line."""
    yield ""
    yield words


def text(sentence: str, indent: str = "") -> list[str]:
    """Return a sentence as an indented line, not yet wrapped."""
    return [f"  {indent}{sentence}"]


def set_lines(lines: Iterable[str], width: int | None = None) -> Iterator[str]:
    """Yield lines wrapped to ``width``; a table row that does not fit becomes a sentence.

    Without a width, the table is left unchanged.
    """
    heads: list[str] = []
    for line in lines:
        cells = _BLANKS.split(line.strip())
        if cells[0] == FIRST_HEAD:
            heads = cells
        if len(cells) == 1 or (width is not None and len(line) > width and cells is not heads):
            yield from _wrapped(line if len(cells) == 1 else _row_sentence(cells, heads), width or _WIDTH)
        elif width is None or len(line) <= width:
            yield line


def _row_sentence(cells: Sequence[str], heads: Sequence[str]) -> str:
    label, *own = cells
    return f"    {label}: " + ", ".join(f"{head} {cell}" for head, cell in zip(heads, own, strict=True))


def _wrapped(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(
        line.lstrip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
    ) or [""]


# Groups of ground joints tested by the four tools, with the ranks that decide (pekal2024 Table 1).


@dataclass(frozen=True)
class TestedGroup:
    """A group of ground joints of one connection: its ranks, and the verdict of each tool.

    Parameters
    ----------
    answers : tuple of (tool, GroupUniqueness)
    """

    #: Not a test class for pytest, despite its name.
    __test__ = False

    members: tuple[str, ...]
    ranks: GroupRanks
    answers: tuple[tuple[str, GroupUniqueness], ...]


def tested_groups(c: GroundConnection) -> tuple[TestedGroup, ...]:
    """Test single joints, groups of equal verdict, and the whole connection; large connections are not tested."""
    if c.supports is not None:
        return ()
    groups = _groups(c)
    columns = [[k for j in g for k in range(c.columns[j].start, c.columns[j].stop)] for g in groups]
    ranks = group_ranks(c.G_scaled, c.rank, columns)
    answers = {name: tool(c.G_scaled, c.rank, columns, c.zero_in_G) for name, tool in TOOLS.items()}
    return tuple(
        TestedGroup(g, ranks[k], tuple((name, own[k]) for name, own in answers.items()))
        for k, g in enumerate(groups)
    )


def _groups(c: GroundConnection) -> Sequence[tuple[str, ...]]:
    zero, joints = c.zero_rows, tuple(c.columns)
    unique = tuple(j for j in joints if zero[c.columns[j]].all())
    others = tuple(j for j in joints if j not in unique)
    single = [(j,) for j in joints] if len(joints) <= MOST_JOINTS else []
    return tuple(dict.fromkeys(single + [g for g in (unique, others, joints) if len(g) > 1]))
