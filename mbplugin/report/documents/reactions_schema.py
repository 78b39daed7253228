"""The JSON schema of ``mbplugin reactions``."""

from __future__ import annotations

from mbplugin.report.documents import schema as s


def reactions_schema() -> s.Schema:
    """Return the schema without its header."""
    values = {"type": "object", "additionalProperties": s._NUMBER}
    where = s._object(constraint=s._TEXT, component=s._TEXT)
    return s._object(
        schema_version=s._VERSION,
        source=s._described(s._TEXT, "the FILE as it was given"),
        model=s._object(name=s._TEXT, files=s._list(s._TEXT), planar=s._PLANAR),
        mode={"enum": ["statics", "inverse dynamics"]},
        gravity=s._described(_vector(3), "m/s², world axes"),
        q=s._described(values, "the closed pose, rad and m"),
        qd=s._described(values, "rates that agree with the constraints, rad/s and m/s"),
        qdd=s._described(values, "accelerations that agree with the constraints, rad/s² and m/s²"),
        held=s._described(s._list(s._TEXT), "joints held besides drivers and locks"),
        tolerance=s._described(s._SIZE, "relative rank tolerance"),
        degree_of_redundancy=s._described(s._COUNT, "with the held joints"),
        constraints=s._list(_constraint()),
        families=s._list(_family()),
        stated=s._described(s._list(s._TEXT), "pairs and bodies whose stated stiffness was used"),
        estimated=s._list(_estimate()),
        unresolved=s._described(s._list(where), "components that nothing determines"),
        stiffness_missing=s._described(
            s._object(bodies=s._list(s._TEXT), pairs=s._list(s._TEXT)),
            "what needs a stiffness before the unresolved components have values; never the ground",
        ),
        notes=s._list(s._TEXT),
    )


def _vector(length: int, items: s.Schema | None = None) -> s.Schema:
    return {"type": "array", "items": items or s._NUMBER, "minItems": length, "maxItems": length}


def _unit() -> s.Schema:
    return {"enum": ["N", "N·m"]}


def _weight() -> s.Schema:
    return s._object(constraint=s._TEXT, component=s._TEXT, weight=s._NUMBER)


def _constraint() -> s.Schema:
    component = s._object(
        name=s._TEXT,
        unit=_unit(),
        unique=s._described(s._FLAG, "whether the rigid model determines it"),
        value=s._described(s._or_null(s._NUMBER), "on the successor; null where nothing determines it"),
        source=s._described(
            {"enum": ["rigid", "stated", "estimated", None]}, "what determines the value: model or stiffness"
        ),
    )
    return s._object(
        name=s._TEXT,
        kind={"enum": ["pair", "closure", "coupling", "driver", "pfaffian", "lock", "hold"]},
        type=s._TEXT,
        body_a=s._TEXT,
        body_b=s._TEXT,
        reaction=s._REACTION,
        indeterminate_dim=s._COUNT,
        point=s._described(s._or_null(_vector(3)), "where the wrench acts, world, m; null for no pair"),
        wrench=s._described(
            s._or_null(_vector(6, s._or_null(s._NUMBER))),
            "force (N) and moment (N·m) on the successor at the origin of S, axes of P",
        ),
        components=s._list(component),
        null_directions=s._described(
            s._list(s._list(_weight())), "changes, N and N·m, that the rigid model does not notice"
        ),
        shared_with=s._described(s._list(s._TEXT), "constraints that change with it"),
        R_WJ=s._described(
            s._or_null(_vector(3, _vector(3))),
            "rows of the rotation whose columns are the axes of P in the world; a drive's or lock's joint",
        ),
        world=s._described(s._or_null(_world()), "in world axes; null for a coupling"),
        open_force=s.directions("force"),
        open_moment=s.directions("moment at the point"),
    )


def _world() -> s.Schema:
    sources = {"enum": ["rigid", "stated", "estimated", None]}
    return s._object(
        body=s._described(s._TEXT, "on which it acts"),
        point=s._described(_vector(3), "where it acts, world, m"),
        wrench=s._described(
            _vector(6, s._or_null(s._NUMBER)), "force (N) and moment (N·m) there; null where not determined"
        ),
        sources=s._described(_vector(6, sources), "what determines each of the six"),
    )


def _family() -> s.Schema:
    relation = s._object(
        constraint=s._TEXT,
        component=s._TEXT,
        unit=_unit(),
        constant=s._described(s._NUMBER, "value where all parameters are zero"),
        terms=s._list(_weight()),
    )
    parameter = s._object(constraint=s._TEXT, component=s._TEXT, unit=_unit())
    return s._object(
        parameters=s._described(s._list(parameter), "components that may take any value"),
        relations=s._described(s._list(relation), "component = constant + Σ weight · parameter"),
    )


def _estimate() -> s.Schema:
    section = s._object(
        E=s._described(s._SIZE, "Pa"),
        A=s._described(s._SIZE, "m²"),
        Iy=s._described(s._SIZE, "m⁴"),
        Iz=s._described(s._SIZE, "m⁴"),
        J=s._described(s._SIZE, "m⁴"),
        nu=s._NUMBER,
    )
    return s._object(
        body=s._TEXT,
        beam=s._described(s._COUNT, "which beam of the body's frame"),
        section=section,
        material=s._TEXT,
        shapes=s._list(s._TEXT),
        length=s._described(s._SIZE, "m"),
        stations=s._described(s._COUNT, "slices that met the shapes; 0: their bounding box"),
    )
