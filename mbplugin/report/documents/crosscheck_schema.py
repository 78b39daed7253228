"""The JSON schema of ``mbplugin crosscheck``."""

from __future__ import annotations

from mbplugin.report.documents import schema as s

_VERDICTS = ("agrees", "disagrees", "not asymptotic", "not comparable")


def crosscheck_schema() -> s.Schema:
    """Return the schema without its header."""
    series = s._list(s._NUMBER)
    by_name = {"type": "object", "additionalProperties": series}
    curves = s._object(
        time=s._described(series, "s"),
        ours=s._described(by_name, "rad and m, by coordinate"),
        pybullet=s._described(by_name, "rad and m, by coordinate, at PyBullet's smallest step"),
    )
    return s._object(
        schema_version=s._VERSION,
        source=s._described(s._TEXT, "the FILE as it was given"),
        files=s._list(s._TEXT),
        verdict={"enum": list(_VERDICTS)},
        reason=s._described(s._TEXT, "one sentence"),
        duration=s._described(s._SIZE, "s"),
        steps=s._described(s._list(s._SIZE), "PyBullet's steps, s, each half of the one before"),
        orders=s._described(
            s._list(s._or_null(s._NUMBER)),
            "observed orders of all coordinates together, one for each halving; null where PyBullet's"
            " motion leaves all bounds",
        ),
        solver=s._object(
            iterations=s._described(s._SIZE, "of PyBullet's solver"),
            residual_threshold=s._SIZE,
            erp=s._described(s._SIZE, "error reduction parameter"),
        ),
        rows=s._described(s._list(_row()), "the model first, then what needs no step, then the motion"),
        checks=s._described(
            s._list(_check()),
            "of each motion alone, where the motions do not agree: what there is for and against each",
        ),
        curves=s._or_null(curves),
        notes=s._list(s._TEXT),
    )


def _check() -> s.Schema:
    return s._object(
        program={"enum": ["mbplugin", "PyBullet"]},
        name=s._TEXT,
        value=s._described(s._SIZE, "by how much it is off"),
        bound=s._described(s._SIZE, "by how much it may be off"),
        unit=s._TEXT,
        passes=s._FLAG,
    )


def _row() -> s.Schema:
    return s._object(
        quantity=s._TEXT,
        element=s._described(s._TEXT, "a body, joint or coordinate"),
        unit=s._TEXT,
        deviation=s._described(
            s._SIZE,
            "between PyBullet and us; of what depends on the step, PyBullet extrapolated to step zero",
        ),
        bound=s._described(s._SIZE, "what the deviation may be"),
        agrees=s._FLAG,
        errors=s._described(s._list(s._SIZE), "largest deviation at each of the steps"),
        orders=s._list(s._NUMBER),
        time=s._described(s._or_null(s._SIZE), "when the deviation first leaves its bound, or is largest, s"),
    )
