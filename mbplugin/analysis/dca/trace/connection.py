"""What the explanation tells of one connection to the ground: rank, null space, and the four tools."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import numpy as np

from mbplugin.analysis.dca.connection import GroundConnection
from mbplugin.analysis.dca.tested import tested_groups
from mbplugin.analysis.dca.tools import TOOLS, GroupRanks, GroupUniqueness
from mbplugin.analysis.dca.trace.sentences import FIRST_HEAD, names_of, text
from mbplugin.model.spatial import AnyArray


def connection_lines(c: GroundConnection) -> Iterator[str]:
    """Yield what is found at the ground joints of one assembly."""
    m = len(c.labels)
    yield from text(f"{c.assembly} is held by the multi-joint connection {names_of(c.joints)}.")
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
    # what is smaller is the machine's rounding, and differs from one to the next
    return f"{last}, no. {rank + 1} is {f'{values[rank]:.2e}' if values[rank] > rounding else f'below {rounding:.0e}'}"


def _rows(c: GroundConnection, chosen: AnyArray) -> str:
    """Name the chosen (m,) components, joint by joint."""
    parts = []
    for joint, columns in c.columns.items():
        components = [c.labels[k][1] for k in range(columns.start, columns.stop) if chosen[k]]
        if components:
            parts.append(f"{joint} ({' '.join(components)})")
    return names_of(parts) or "none"


def _table(c: GroundConnection) -> Iterator[str]:
    """Tell what each tool says of single joints, of all with one verdict, and of the whole (Table 1)."""
    heads = "".join(f"{name:24}" for name in TOOLS).rstrip()
    # of a group that is not what --group calls its reaction, which is told body by body
    yield from text(
        "Tested on G, effect on the assembly / components; ranks: G_T + G_R − G, f where G_T has full rank."
    )
    yield f"    {'':<35}{FIRST_HEAD:20}{heads}"
    for group in tested_groups(c):
        label = textwrap.shorten(" ".join(group.members), 34, placeholder=" …")
        words = "".join(f"{_words(answer):24}" for _, answer in group.answers).rstrip()
        yield f"    {label:35}{_ranks(group.ranks):20}{words}"


def _ranks(r: GroupRanks) -> str:
    return f"{r.tested}{'f' if r.full else ''} + {r.remaining} − {r.whole} = {r.excess}"


def _words(answer: GroupUniqueness) -> str:
    if not answer.assembly_effect_unique:
        return "non-unique"
    return "unique / unique" if answer.components_unique else "unique / non-unique"
