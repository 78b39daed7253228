"""JSON schemas (draft 2020-12) of what the commands write, and of the scene file.

Objects are open: keys may be added to a document of the same ``schema_version``.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"

_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_INTEGER: Schema = {"type": "integer"}
_NUMBER: Schema = {"type": "number"}
_SIZE: Schema = {"type": "number", "minimum": 0}
_REACTION = {"enum": ["unique", "non-unique", "undecided"]}
_SEVERITY = {"enum": ["error", "warning", "note"]}
_CODE = {"type": "string", "pattern": "^[A-Z]+[0-9]{3,}$"}
_VERSION = {"const": 1}
_PLANAR = {"enum": [False, "xy", "yz", "zx", "yx", "zy", "xz"]}


def schema_of(document: str) -> Schema:
    """Return the schema of the output of a command, of a ``scene`` file or of the ``settings`` of a lint."""
    if document == "scene":
        from mbplugin.readers.scene_file.schema import SceneFile

        return {"$schema": _DRAFT, **SceneFile.model_json_schema()}
    if document == "settings":
        from mbplugin.linter.config.schema import ConfigFile

        return {"$schema": _DRAFT, **ConfigFile.model_json_schema()}
    if document == "reactions":
        from mbplugin.report.documents.reactions_schema import reactions_schema

        return {"$schema": _DRAFT, "title": "mbplugin reactions", **reactions_schema()}
    if document == "simulate":
        from mbplugin.report.documents.simulate_schema import simulate_schema

        return {"$schema": _DRAFT, "title": "mbplugin simulate", **simulate_schema()}
    if document in ("estop", "stop-table"):
        from mbplugin.report.documents import estop_schema

        made = estop_schema.estop_schema() if document == "estop" else estop_schema.stop_table_schema()
        return {"$schema": _DRAFT, "title": f"mbplugin {document}", **made}
    if document == "sweep":
        from mbplugin.report.documents.sweep_schema import sweep_schema

        return {"$schema": _DRAFT, "title": "mbplugin sweep", **sweep_schema()}
    if document == "crosscheck":
        from mbplugin.report.documents.crosscheck_schema import crosscheck_schema

        return {"$schema": _DRAFT, "title": "mbplugin crosscheck", **crosscheck_schema()}
    if document == "view":
        from mbplugin.report.documents.view_json import view_schema

        return {"$schema": _DRAFT, "title": "mbplugin view", **view_schema()}
    built = {"lint": _lint, "rule": _rules, "matrix": _matrix, "config": _config}[document]()
    return {"$schema": _DRAFT, "title": f"mbplugin {document}", **built}


def _object(**properties: Schema) -> Schema:
    """Return an object with these required keys; a trailing underscore spells a reserved word."""
    named = {key.rstrip("_"): value for key, value in properties.items()}
    return {"type": "object", "required": list(named), "properties": named}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _described(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def _lint() -> Schema:
    runs = _object(schema_version=_VERSION, runs=_list({"$ref": "#/$defs/run"}))
    return {"anyOf": [{"$ref": "#/$defs/run"}, runs], "$defs": {"run": _run(), "finding": _finding()}}


def _run() -> Schema:
    run = _object(
        schema_version=_VERSION,
        source=_described(
            _TEXT, "the FILE as it was given, or the scene that the configuration names for it"
        ),
        exit_code={"enum": [0, 1, 2]},
        model=_or_null(_model()),
        mobility=_or_null(_mobility()),
        constraints=_list(_constraint()),
        groups=_list(_group()),
        bodies=_list(_object(name=_TEXT, may_stay_rigid=_FLAG)),
        self_stresses=_list(_self_stress()),
        remedies=_list(_remedy()),
        obstacles=_described(
            _list(_object(constraint=_TEXT, duties=_list(_TEXT))),
            "joints that could be made weaker, but for what they do, where no remedy leaves them alone",
        ),
        findings=_list({"$ref": "#/$defs/finding"}),
        suppressed=_described(
            _list(_object(finding={"$ref": "#/$defs/finding"}, reason=_TEXT)),
            "findings that the configuration ignores",
        ),
    )
    run["properties"]["dca"] = _described(_dca(), "the divide-and-conquer test, where it was the method")
    return run


def _dca() -> Schema:
    return _object(
        columns=_described(_COUNT, "columns of G"),
        rank=_described(_COUNT, "rank of G"),
        order=_list(_object(joint=_TEXT, unique=_FLAG)),
        stalled=_described(_list(_TEXT), "bodies at which the propagation stops"),
        trace=_described(_TEXT, "every step in words"),
    )


def _model() -> Schema:
    return _object(
        name=_TEXT,
        files=_list(_TEXT),
        bodies=_COUNT,
        pairs=_described(_COUNT, "all pairs, closures included"),
        closures=_described(_COUNT, "pairs that a file states as closing a loop"),
        rows=_COUNT,
        holonomic_rows=_COUNT,
        pfaffian_rows=_COUNT,
        columns=_described(_COUNT, "6 per body, 3 per body in a plane"),
        planar=_PLANAR,
    )


def _mobility() -> Schema:
    plateau = _object(from_=_SIZE, to=_SIZE, degree_of_redundancy=_COUNT)
    return _object(
        rank=_COUNT,
        rank_holonomic=_COUNT,
        rank_pfaffian=_COUNT,
        dof=_described(_INTEGER, "columns - rank"),
        gruebler=_described(_INTEGER, "columns - rows"),
        degree_of_redundancy=_described(_COUNT, "rows - rank at this pose"),
        structural_redundancy=_described(_COUNT, "rows - rank at the generic pose"),
        singular_pose=_FLAG,
        sigma_r=_described(_or_null(_SIZE), "smallest singular value that counts, relative to the largest"),
        sigma_r_plus_1=_described(_or_null(_SIZE), "largest singular value that does not count, relative"),
        tolerance=_described(_SIZE, "relative rank tolerance"),
        plateaus=_described(_list(plateau), "degree of redundancy over the tolerance"),
        characteristic_length=_described(_or_null(_SIZE), "m"),
        closure_residual_file=_described(_SIZE, "largest loop gap at the pose as given, m"),
        closure_residual=_described(_SIZE, "largest loop gap at the pose analyzed, m"),
    )


def _constraint() -> Schema:
    return _object(
        name=_TEXT,
        kind={"enum": ["pair", "closure", "coupling", "driver", "pfaffian", "lock"]},
        type=_TEXT,
        body_a=_TEXT,
        body_b=_TEXT,
        reaction=_REACTION,
        indeterminate_dim=_described(_or_null(_COUNT), "null where the method does not tell"),
        components=_list(
            _object(name=_TEXT, unique=_described(_or_null(_FLAG), "null where the method does not tell"))
        ),
        open_force=directions("force"),
        open_moment=directions("moment at the point"),
        point=_described(_or_null(_three(_NUMBER)), "origin of S in the world, m; null for no pair"),
        R_WJ=_described(
            _or_null(_three(_three(_NUMBER))),
            "rows of the rotation whose columns are the axes of P in the world; null for no pair",
        ),
    )


def _three(items: Schema) -> Schema:
    return {"type": "array", "items": items, "minItems": 3, "maxItems": 3}


def directions(what: str) -> Schema:
    """Return the schema of the directions in which a force or moment is open."""
    return _described(
        _or_null({"type": "array", "items": _three(_NUMBER), "maxItems": 3}),
        f"orthonormal directions, world axes, in which the rigid model leaves the {what} open;"
        " null for no pair, or where the method does not tell",
    )


def _group() -> Schema:
    return _object(
        members=_list(_TEXT),
        reaction=_REACTION,
        components_unique=_FLAG,
        assembly_effect_unique=_described(_or_null(_FLAG), "null where a member is not on the ground"),
        resultant_unique=_FLAG,
    )


def _self_stress() -> Schema:
    component = _object(constraint=_TEXT, component=_TEXT, weight=_NUMBER)
    return _object(
        constraints=_list(_TEXT),
        components=_list(component),
        text=_TEXT,
        loop=_TEXT,
        restrains=_TEXT,
        closed_by=_TEXT,
    )


def _remedy() -> Schema:
    change = _object(constraint=_TEXT, from_=_TEXT, to=_TEXT)
    return _object(changes=_list(change), degree_of_redundancy=_COUNT, dof=_INTEGER, toml=_TEXT)


def _finding() -> Schema:
    return _object(
        code=_CODE,
        name=_TEXT,
        severity=_SEVERITY,
        message=_TEXT,
        element=_TEXT,
        file=_TEXT,
        line=_described(_COUNT, "from 1; 0 where there is none"),
        evidence=_described({"type": "object"}, "numbers, with their units in the keys"),
        help=_TEXT,
    )


def _rules() -> Schema:
    rule = _object(code=_CODE, name=_TEXT, severity=_SEVERITY, documentation=_TEXT)
    return _object(schema_version=_VERSION, rules=_list(rule))


def _config() -> Schema:
    setting = _object(name=_TEXT, value={}, origin=_described(_TEXT, "file:line, or default"))
    ignore = _object(rule=_CODE, element=_TEXT, files=_TEXT, reason=_TEXT, file=_TEXT, line=_COUNT)
    return _object(
        schema_version=_VERSION,
        configuration=_described(_or_null(_TEXT), "the file; null where there is none"),
        settings=_list(setting),
        ignores=_list(ignore),
    )


def _matrix() -> Schema:
    row = _object(
        constraint=_TEXT,
        component=_TEXT,
        holonomic=_FLAG,
        b=_described(_NUMBER, "C v + b = 0"),
        Gamma=_described(_NUMBER, "C dv/dt = Gamma"),
        Phi=_described(_NUMBER, "position residual, m or rad"),
    )
    entry = {"type": "array", "prefixItems": [_COUNT, _COUNT, _NUMBER], "minItems": 3, "maxItems": 3}
    return _object(
        schema_version=_VERSION,
        model=_object(name=_TEXT, files=_list(_TEXT), planar=_PLANAR),
        shape={"type": "array", "prefixItems": [_COUNT, _COUNT], "minItems": 2, "maxItems": 2},
        rows=_list(row),
        columns=_list(_object(body=_TEXT, component=_TEXT)),
        entries=_described(_list(entry), "nonzeros: [row, column, value]"),
    )
