"""The steps of the test, in the order of pekal2024 §4."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mbplugin.analysis.dca.preconditions import PRECONDITIONS
from mbplugin.analysis.dca.propagation import Decision
from mbplugin.analysis.dca.result import DcaResult
from mbplugin.analysis.dca.trace.connection import connection_lines
from mbplugin.analysis.dca.trace.sentences import FEW, few, more, names_of, set_lines, text, title
from mbplugin.phrases import counted


def explain(result: DcaResult, width: int | None = None) -> str:
    """Return the trace of a divide-and-conquer uniqueness test, for printing, where given for a width."""
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
    joints = result.model.joints
    grounded = sum(joint.grounded for joint in joints)
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
    for name, sentence in PRECONDITIONS.items():
        # without redundancy no pose around this one can have a higher rank
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
    """Return the parts of the assembly on which a ground joint acts, down to its body."""
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
    yield from text(f"Step 6 gave something {counted(result.propagation.executions, 'time', 'times')}.")


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
