"""The steps of the test, in the order of pekal2024 §4."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from mbplugin.analysis.dca.connection import GroundConnection
from mbplugin.analysis.dca.preconditions import PRECONDITIONS
from mbplugin.analysis.dca.propagation import Decision
from mbplugin.analysis.dca.result import DcaResult
from mbplugin.analysis.dca.tools import TOOLS, GroupUniqueness
from mbplugin.model.spatial import AnyArray
from mbplugin.phrases import counted

_WIDTH = 100
#: With more ground joints than these the table keeps to the groups.
_FEW = 24


def explain(result: DcaResult) -> str:
    """Return the trace of a divide-and-conquer uniqueness test, for printing."""
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
    return "\n".join(lines) + "\n"


def _preconditions(result: DcaResult) -> Iterator[str]:
    joints = result.model.joints
    grounded = sum(joint.grounded for joint in joints)
    yield f"Divide-and-conquer uniqueness test of {result.mechanism.name!r}"
    yield from _text(
        f"{len(result.mechanism.bodies)} bodies, {len(joints)} joints: {grounded} to the ground and "
        f"{len(joints) - grounded} between bodies. Relative coordinates, wrenches in world axes."
    )
    for weld, body in result.model.welded.items():
        yield from _text(
            f"Body {result.mechanism.bodies[body].name} is welded by {weld} and counts as ground."
        )
    yield from _title("Preconditions")
    for name, sentence in PRECONDITIONS.items():
        # without redundancy no pose around this one can have a higher rank
        open_question = name == "nonsingular pose" and result.degree_of_redundancy and not result.samples
        yield f"  {'not checked' if open_question else 'holds'}: {sentence}"


def _assembly(result: DcaResult) -> Iterator[str]:
    yield from _title("Binary assembly")
    for node in result.model.tree.nodes:
        left = _listed(node.handles) or "none"
        yield from _text(
            f"{node.label} = {node.left} + {node.right}, joint {node.joint} eliminated; handles left: {left}"
        )
    for label, bodies, ground in result.model.tree.roots:
        held = f"ground joints {_listed(ground)}" if ground else "no joint to the ground"
        yield from _text(f"Complete assembly {label}: {counted(len(bodies), 'body', 'bodies')}, {held}")


def _step_1(result: DcaResult) -> Iterator[str]:
    yield from _title("Step 1. Empty handles: no joint, so the reaction is zero and thereby unique")
    names = [
        b.name for b, own in zip(result.mechanism.bodies, result.model.handles, strict=True) if len(own) < 2
    ]
    yield from _text(f"Bodies with an empty handle: {_listed(names) or 'none'}")


def _step_2(result: DcaResult) -> Iterator[str]:
    yield from _title("Step 2. Between the complete assembly and the ground")
    multi = {c.joints: c for c in result.connections}
    for weld in result.model.welded:
        if weld in result.model.only_ties:
            yield from _text(
                f"{weld} alone ties its bodies to the world: its reaction cannot split, it is unique"
            )
    for label, _, ground in result.model.tree.roots:
        if c := multi.get(ground):
            yield from _connection(c)
        elif ground:
            yield from _text(
                f"{label} hangs on the single joint {ground[0]}: its reaction cannot split, it is unique"
            )
        else:
            yield from _text(f"{label} floats: nothing to decide")
    yield from _decided(d for d in result.order if d.step == 2)


def _connection(c: GroundConnection) -> Iterator[str]:
    m, height = len(c.labels), len(c.T)
    sigma = np.linalg.svd(c.G, compute_uv=False)
    yield from _text(f"{c.assembly} is held by the multi-joint connection {_listed(c.joints)}.")
    yield from _text(f"T is {height}×{m}, Φ₁₁ is {height}×{height}, G = TᵀΦ₁₁T is {m}×{m} of rank {c.rank}.")
    yield from _text(f"Singular values of G over the first: {_gap(sigma / sigma[0], c.rank)}.")
    yield from _text(
        "Rank is decided on a root of G without units, with unit inertias and rows of unit length. Its "
        f"singular values over the first: {_gap(c.relative, c.rank)}."
    )
    if c.redundancy:
        zero = c.zero_rows
        yield from _text(f"Null space N is {m}×{c.redundancy}.")
        yield from _text(f"Rows of N that are not zero: {_rows(c, ~zero)}", "  ")
        yield from _text(f"Rows of N that are zero: {_rows(c, zero)}", "  ")
    yield from _table(c)


def _gap(values: Sequence[float] | AnyArray, rank: int) -> str:
    last = f"no. {rank} is {values[rank - 1]:.2e}" if rank else "none counts"
    if rank == len(values):
        return f"{last}, the last one"
    # what is smaller is the machine's rounding, and differs from one to the next
    return f"{last}, no. {rank + 1} is {f'{values[rank]:.2e}' if values[rank] > 1e-12 else 'below 1e-12'}"


def _rows(c: GroundConnection, chosen: AnyArray) -> str:
    """Name the chosen (m,) components, joint by joint."""
    parts = []
    for joint, columns in c.columns.items():
        components = [c.labels[k][1] for k in range(columns.start, columns.stop) if chosen[k]]
        if components:
            parts.append(f"{joint} ({' '.join(components)})")
    return ", ".join(parts) or "none"


def _table(c: GroundConnection) -> Iterator[str]:
    """Tell what each tool says of single joints, of all with one verdict, and of the whole (Table 1)."""
    zero = c.zero_rows
    unique = tuple(j for j in c.joints if zero[c.columns[j]].all())
    others = tuple(j for j in c.joints if j not in unique)
    single = [(j,) for j in c.joints] if len(c.joints) <= _FEW else []
    groups = single + [g for g in (unique, others, c.joints) if len(g) > 1]
    groups = list(dict.fromkeys(groups))
    columns = [[k for j in g for k in range(c.columns[j].start, c.columns[j].stop)] for g in groups]
    answers = {name: tool(c.G_scaled, c.rank, columns, c.zero_in_G) for name, tool in TOOLS.items()}
    heads = "".join(f"{name:24}" for name in TOOLS).rstrip()
    # of a group that is not what --group calls its reaction, which is told body by body
    yield "  Tested on G, effect on the assembly / components:"
    yield f"    {'':<35}{heads}"
    for k, group in enumerate(groups):
        label = textwrap.shorten(" ".join(group), 34, placeholder=" …")
        yield f"    {label:35}" + "".join(f"{_words(answers[name][k]):24}" for name in TOOLS).rstrip()


def _words(answer: GroupUniqueness) -> str:
    if not answer.unique:
        return "non-unique"
    return "unique / unique" if answer.components_unique else "unique / non-unique"


def _step_3(result: DcaResult) -> Iterator[str]:
    yield from _title("Step 3. From the root to the leaves")
    for decision in result.order:
        if decision.step == 2:
            body = result.model.joint[decision.joint].moving[0]
            yield from _text(_path(result, decision, body))


def _path(result: DcaResult, decision: Decision, body: int) -> str:
    """Return the parts of the assembly on which a ground joint acts, down to its body."""
    parts = [n.label for n in result.model.tree.nodes if decision.joint in n.handles and body in n.bodies]
    arrows = " → ".join([*reversed(parts), f"body {result.mechanism.bodies[body].name}"])
    return f"{decision.joint} ({_verdict(decision.unique)}): {arrows}"


def _step_4_and_5(result: DcaResult) -> Iterator[str]:
    yield from _title("Step 4. Bodies with one joint")
    single = [d for d in result.order if d.step == 4]
    for d in single:
        yield from _text(f"body {d.body}: nothing else can carry what {d.joint} carries; {d.joint} is unique")
    yield from _nothing(single)
    yield from _title("Step 5. From the leaves to the root")
    yield from _upwards(result, single)


def _steps_6_to_8(result: DcaResult) -> Iterator[str]:
    for execution in range(1, result.propagation.executions + 1):
        decided = [d for d in result.order if d.execution == execution]
        yield from _title(f"Step 6, execution {execution}. Bodies with one unknown reaction")
        for d in decided:
            yield from _text(_balance(result, d))
        yield from _title(f"Step 7, execution {execution}. From the leaves to the root")
        yield from _upwards(result, decided)
    yield from _title("Step 8. Repeat until nothing new is found")
    yield from _text(f"Step 6 gave something {counted(result.propagation.executions, 'time', 'times')}.")


def _balance(result: DcaResult, decision: Decision) -> str:
    body = next(k for k, b in enumerate(result.mechanism.bodies) if b.name == decision.body)
    others = [h for h in result.model.handles[body] if h != decision.joint]
    arbitrary = [h for h in others if not result.propagation.unique[h]]
    if arbitrary:
        return (
            f"body {decision.body}: {arbitrary[0]} is non-unique and accelerations are unique, so "
            f"{decision.joint} is non-unique"
        )
    sentence = f"{_listed(others)} {'is' if len(others) == 1 else 'are'} unique and so are accelerations"
    return f"body {decision.body}: {sentence}; so {decision.joint} is unique"


def _upwards(result: DcaResult, decided: Sequence[Decision]) -> Iterator[str]:
    for d in decided:
        joint = result.model.joint[d.joint]
        others = [result.mechanism.bodies[b].name for b in joint.touched]
        others = [f"body {name}" for name in others if name != d.body]
        parts = [n.label for n in result.model.tree.nodes if d.joint in n.handles]
        acts = " and with the opposite sign on " + _listed(others) if others else ""
        through = f", also as a handle of {_listed(parts)}" if parts else ""
        yield from _text(f"{d.joint} ({_verdict(d.unique)}) acts on body {d.body}{acts}{through}")
    yield from _nothing(decided)


def _end(result: DcaResult) -> Iterator[str]:
    yield from _title("Result")
    undecided = [
        v.name for v in result.verdicts if v.name in result.model.joint and v.decided_by in ("", "extension")
    ]
    for body in result.stalled:
        index = next(k for k, b in enumerate(result.mechanism.bodies) if b.name == body)
        loaded = [h for h in result.model.handles[index] if not result.propagation.unique.get(h, False)]
        yield from _text(f"Stalled at body {body}: its loaded handles are {_listed(loaded)}.")
    if result.extended and undecided:
        yield from _text(
            "Extension, not in the paper: the null space N is carried through the tree by statics. "
            f"It decides {_listed(undecided)}."
        )
    for reaction in ("non-unique", "unique", "undecided"):
        names = [v.name for v in result.verdicts if v.reaction == reaction]
        if names or reaction != "undecided":
            by = " by this method" if reaction == "undecided" else ""
            yield from _text(f"{reaction}{by}: {_listed(names) or 'none'}")
    yield from _text(f"bodies to be modelled as flexible: {_listed(result.flexible_bodies) or 'none'}")
    if result.undecided_bodies:
        yield from _text(f"undecided bodies: {_listed(result.undecided_bodies)}")


def _decided(decisions: Iterable[Decision]) -> Iterator[str]:
    found = list(decisions)
    for unique in (True, False):
        names = [d.joint for d in found if d.unique is unique]
        if names:
            yield from _text(f"{_verdict(unique)}: {_listed(names)}")


def _verdict(unique: bool) -> str:
    return "unique" if unique else "non-unique"


def _nothing(decided: Sequence[Decision]) -> Iterator[str]:
    if not decided:
        yield "  nothing new"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _title(text: str) -> Iterator[str]:
    yield ""
    yield text


def _text(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent="  " + indent, subsequent_indent="    " + indent, break_long_words=False
    )
