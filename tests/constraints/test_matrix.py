"""The public constraint matrix: labels, order, planes, files."""

import csv

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.model.mechanism import Driver, KnifeEdge, Mechanism, Rolling
from models import chain, four_bar


def test_rows_and_columns_are_labelled_in_file_order():
    mech, q = four_bar()
    cm = mb.constraint_matrix(mech, q)
    assert cm.C.shape == (20, 18)
    assert cm.rows[:5] == tuple(("j0", c) for c in ("tx", "ty", "tz", "rx", "ry"))
    assert cm.columns[6:9] == (("coupler", "vx"), ("coupler", "vy"), ("coupler", "vz"))
    # j0 ties the crank's point at the origin, half a metre below its centre of mass, to the ground
    np.testing.assert_allclose(cm.C.toarray()[0, :6], [1, 0, 0, 0, 0, 0.5])


def test_holonomic_rows_stand_over_pfaffian_rows():
    mech, q = chain(2, "revolute", np.random.default_rng(0))
    wheel = Rolling("wheel", "b1", np.zeros(3), np.array([0, 1.0, 0]), 0.3)
    edge = KnifeEdge("edge", "b0", np.zeros(3), np.array([0, 1.0, 0]))
    both = Mechanism(
        "m", mech.bodies, mech.pairs, drivers=(Driver("drive", "j0", rate=2.0),), pfaffians=(edge, wheel)
    )
    cm = mb.constraint_matrix(both, q)
    assert cm.rows[10:] == (
        ("drive", "rz_drive"),
        ("wheel", "normal"),
        ("edge", "side"),
        ("wheel", "roll"),
        ("wheel", "side"),
    )
    assert cm.holonomic_rows == 12
    assert cm.b[10] == -2.0


def test_a_plane_keeps_three_columns_per_body_and_drops_what_vanishes():
    mech, q = four_bar()
    cm = mb.constraint_matrix(mech, q, planar="xy")
    assert cm.C.shape == (8, 9)
    assert {component for _, component in cm.rows} == {"tx", "ty"}
    assert {component for _, component in cm.columns} == {"vx", "vy", "wz"}


def test_gamma_uses_the_given_rates():
    mech, q = four_bar()
    spinning = mb.constraint_matrix(mech, q, {"j0": 2.0})
    # the crank's centre of mass, 0.5 m above its pivot, is pulled down at ω² r
    acceleration = np.zeros(18)
    acceleration[:3] = [0, -0.5 * 4.0, 0]
    np.testing.assert_allclose((spinning.C @ acceleration)[:5], spinning.Gamma[:5], atol=1e-12)


@pytest.mark.parametrize("ending", [".npz", ".csv"])
def test_saved_matrices_are_the_matrix(tmp_path, ending):
    mech, q = four_bar()
    cm = mb.constraint_matrix(mech, q)
    cm.save(tmp_path / f"matrix{ending}")
    if ending == ".npz":
        with np.load(tmp_path / "matrix.npz") as saved:
            np.testing.assert_array_equal(saved["C"], cm.C.toarray())
            assert saved["rows"].tolist() == [list(r) for r in cm.rows]
    else:
        rows = list(csv.reader((tmp_path / "matrix.csv").open()))
        assert rows[0][2] == "crank vx"
        np.testing.assert_array_equal(np.array([r[2:20] for r in rows[1:]], dtype=float), cm.C.toarray())


def test_other_endings_are_refused(tmp_path):
    mech, q = four_bar()
    with pytest.raises(mb.MbPluginError, match=r"\.doc is none .* ends in \.npz or \.csv or \.txt"):
        mb.constraint_matrix(mech, q).save(tmp_path / "x.doc")
