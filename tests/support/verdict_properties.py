"""Analyses of random mechanisms whose rank is clear."""

from mbplugin.analysis import analyze_mechanism


def analyzed(mech, q=None):
    return analyze_mechanism(mech, q, samples=0)


def verdicts(analysis, strip=""):
    """p, mobility and, per pair, how many dimensions of its reaction and of each kind are free."""
    return (
        analysis.degree_of_redundancy,
        analysis.dof,
        {v.name.removeprefix(strip): (v.reaction, v.indeterminate_dim) for v in analysis.constraints},
    )


def clear(analysis):
    """Whether the rank decision has a gap of three orders of magnitude."""
    return all(b.sigma_r / max(b.sigma_next, 1e-16) >= 1e3 and b.sigma_r > 1e-3 for b in analysis.blocks)
