"""Length of the path of a tool point over the steps of a motion."""

from __future__ import annotations

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS
from mbplugin.constraints.many_poses import WholeTree
from mbplugin.dynamics.compiler import words_of
from mbplugin.dynamics.tree_model import tree_model
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.spatial import Array, Pose
from mbplugin.stopping.tool_path import path_length, path_workspace
from rod_arms import arm

LENGTHS = (0.5, 0.4, 0.3)


def length_of(pieces: Array, payload: float = 0.0) -> float:
    """The path of the end of the last rod; ``payload`` is added to its mass after the workspace was made, kg."""
    model = tree_model(arm(LENGTHS), AppliedForces())
    workspace = path_workspace(model.composites, model.rates)
    words = np.array(words_of(workspace), dtype=np.int64)
    model.composites["com"][-1] += payload * np.array([0.1, 0.2, 0.3])
    return float(path_length(words.ctypes.data, 3, np.array([LENGTHS[-1], 0.0, 0.0]), pieces))


def cubic_pieces(lengths: tuple[float, ...], c: Array) -> Array:
    """Pieces (k + 1, 7, nv) of the motion Σ c[n] tⁿ, c (4, nv)."""
    pieces, times = np.zeros((len(lengths) + 1, 7, c.shape[1])), np.cumsum([0.0, *lengths])
    pieces[:-1, 0, 0] = lengths
    for first, ends in ((1, times[:-1]), (4, times[1:])):
        for k, t in enumerate(ends):
            pieces[k, first] = c[0] + t * (c[1] + t * (c[2] + t * c[3]))
            pieces[k, first + 1] = c[1] + t * (2.0 * c[2] + t * 3.0 * c[3])
            pieces[k, first + 2] = 2.0 * c[2] + 6.0 * t * c[3]
    return pieces


def polyline(c: Array, end: float, samples: int) -> float:
    """The length of chords of the same motion, from closed-form positions."""
    t = np.linspace(0.0, end, samples)[:, None]
    angles = np.cumsum(c[0] + t * (c[1] + t * (c[2] + t * c[3])), axis=1)
    way = np.stack(((LENGTHS * np.cos(angles)).sum(axis=1), (LENGTHS * np.sin(angles)).sum(axis=1)), axis=1)
    return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())


@pytest.mark.parametrize("lengths", [(0.3,), (0.004, 0.1, 0.196), (1e-9, 0.05, 0.009, 0.241)])
def test_a_path_is_as_long_as_its_chords(lengths: tuple[float, ...]) -> None:
    c = np.random.default_rng(len(lengths)).normal(size=(4, 3)) + np.array([0.0, 2.0, 0.0, 0.0])[:, None]
    end = sum(lengths)
    few, many = (polyline(c, end, n) for n in (2001, 4001))
    expected = many + (many - few) / 3.0
    assert length_of(cubic_pieces(lengths, c)) == pytest.approx(expected, rel=1e-9)


def test_one_joint_draws_an_arc() -> None:
    c = np.zeros((4, 3))
    c[:, 0] = 0.2, 3.0, -1.0, 0.5
    turned = 3.0 * 0.4 - 0.4**2 + 0.5 * 0.4**3
    assert length_of(cubic_pieces((0.1, 0.3), c)) == pytest.approx(sum(LENGTHS) * turned, rel=1e-13)


def test_a_path_does_not_depend_on_payloads_and_ends_with_the_motion() -> None:
    c = np.random.default_rng(8).normal(size=(4, 3))
    pieces = cubic_pieces((0.1, 0.2), c)
    assert length_of(pieces, payload=5.0) == length_of(pieces)
    ended = np.concatenate((pieces, pieces))
    assert length_of(ended) == length_of(pieces)
    assert length_of(pieces[2:]) == 0.0


@pytest.mark.parametrize(("body", "point"), [("flange", (0.1, -0.05, 0.2)), ("forearm", (0.05, 0.3, 0.4))])
def test_a_path_in_space_is_as_long_as_its_chords(body: str, point: tuple[float, float, float]) -> None:
    """An arm that turns about all axes, and points beside the axes of its last and of a middle body."""
    mech = mb.load(ASSETS / "arm_6r.urdf", base="fixed").mechanism
    model = tree_model(mech, AppliedForces())
    carrier, X = model.composites_of.frame(mech, body, Pose(np.eye(3), np.array(point)))
    workspace = path_workspace(model.composites, model.rates)
    words = np.array(words_of(workspace), dtype=np.int64)
    c = np.random.default_rng(3).normal(size=(4, 6))
    found = path_length(words.ctypes.data, carrier, X.p, cubic_pieces((0.1, 0.2), c))

    def chords(samples: int) -> float:
        t = np.linspace(0.0, 0.3, samples)[:, None]
        X_WL = WholeTree(mech, c[0] + t * (c[1] + t * (c[2] + t * c[3]))).X_WL[:, mech.body_index[body]]
        way = X_WL[:, :3, :3] @ np.array(point) + X_WL[:, :3, 3]
        return float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum())

    few, many = chords(501), chords(1001)
    assert found == pytest.approx(many + (many - few) / 3.0, rel=1e-9)
