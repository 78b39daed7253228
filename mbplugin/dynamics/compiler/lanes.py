"""Numbers of several lanes: a type with which the compiler translates a kernel for eight states at once.

A kernel is a plain function of numbers, arrays and records. Where fields of its records are numbers of lanes, numba
translates the same function once more, and every sum and product becomes one instruction on a vector. So scalar and
vector code have one source. A number of one lane takes part as equal numbers in all lanes; a comparison is true if it
holds in all lanes.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection
from typing import Any

import numba
import numpy as np
from llvmlite import ir as ll
from numba import types as numba_types
from numba.core import cgutils as numba_cgutils
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_builtin, lower_cast as numba_lower_cast
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic as numba_intrinsic

from mbplugin.dynamics.compiler import INTERPRETED
from mbplugin.model import AnyArray

#: Number of lanes: eight doubles fill a register of AVX-512, or two of AVX2. Plain Python has one lane.
LANES = 1 if INTERPRETED else 8
types: Any = numba_types  # the stubs leave much out
cgutils: Any = numba_cgutils
intrinsic: Any = numba_intrinsic
_infer: Any = infer_global
_lower_cast: Any = numba_lower_cast
_NUMBER = ll.DoubleType()
_VECTOR_BYTES = 8 * LANES
_VECTOR = ll.VectorType(_NUMBER, LANES)
_MASK = ll.VectorType(ll.IntType(1), LANES)


class LanesType(types.Type):  # type: ignore[misc]
    """Compiler's type of a number of each lane."""

    #: Size in bits, for arrays within records.
    bitwidth = 64 * LANES
    #: As plain Python takes it.
    of_one_lane = np.dtype(np.float64)

    def __init__(self) -> None:
        super().__init__(name=f"lanes{LANES}")

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Return the kind of conversion of another type to this one; None if there is none."""
        return Conversion.promote if other == types.float64 else None

    def unify(self, typingctx: Any, other: Any) -> Any:
        """Return the common type of this one and another; None if there is none."""
        return self if other == types.float64 else None


NUMBERS = LanesType()


class LanesRecord(types.Record):  # type: ignore[misc]
    """Compiler's type of a record, some of whose fields are numbers of each lane.

    Parameters
    ----------
    dtype : numpy dtype
        Of the same record for one state; it is aligned.
    names : collection of str
        Fields that are numbers of each lane; their last axis in ``laned`` are the lanes.
    """

    def __init__(self, dtype: Any, names: Collection[str]) -> None:
        members, offsets, fields, offset = [], [], [], 0
        for name in dtype.names:
            one, lanes = dtype[name], name in names
            member = np.dtype((one.base, (*one.shape, LANES))) if lanes else one
            kind = NUMBERS if lanes else numba.from_dtype(one.base)
            alignment = _VECTOR_BYTES if lanes else one.base.alignment
            offset = -(-offset // alignment) * alignment
            kind = types.NestedArray(kind, one.shape) if one.shape else kind
            fields.append((name, {"type": kind, "offset": offset, "alignment": alignment, "title": None}))
            members.append(member)
            offsets.append(offset)
            offset += member.itemsize
        size = -(-offset // _VECTOR_BYTES) * _VECTOR_BYTES
        self.laned = np.dtype(
            {"names": dtype.names, "formats": members, "offsets": offsets, "itemsize": size}
        )
        #: The records in the same memory as plain Python takes them.
        self.of_one_lane = np.dtype(
            {
                "names": dtype.names,
                "formats": [dtype[n] for n in dtype.names],
                "offsets": offsets,
                "itemsize": size,
            }
        )
        super().__init__(fields, size, True)

    @property
    def dtype(self) -> Any:
        """The records as NumPy has them, with the lanes as last axis."""
        return self.laned


register_default(LanesRecord)(models.RecordModel)
#: Compiler's type of an array of numbers of each lane.
VECTOR_OF_LANES = types.Array(NUMBERS, 1, "C")


def aligned(shape: tuple[int, ...], dtype: Any) -> AnyArray:
    """Return zeros of a shape, an array (n, ...), at an address from which vectors of all lanes can be loaded."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros(size + _VECTOR_BYTES, dtype=np.uint8)
    start = -room.ctypes.data % _VECTOR_BYTES
    return np.asarray(room[start : start + size].view(dtype).reshape(shape))


def as_lanes(values: AnyArray) -> AnyArray:
    """Return values (n, LANES) as an array (n,) whose elements are all lanes, without a copy."""
    return np.asarray(values.view(f"V{_VECTOR_BYTES}")[:, 0])


def lane_writer(kind: LanesRecord) -> Callable[[Any, int, Any], None]:
    """Return an intrinsic with which kernels write the numbers of a record into one lane of a record of lanes.

    The kernel calls it with the record of lanes in the memory ``kind.laned``, the index of the lane, and a record with
    the same fields; only fields that are numbers of each lane are written.

    Parameters
    ----------
    kind : LanesRecord
        Its numbers of each lane are single numbers, not arrays.
    """
    names = [name for name, field in kind.fields.items() if field.type is NUMBERS]
    if INTERPRETED:

        def write(out: Any, lane: int, one: Any) -> None:
            for name in names:
                out[name][lane] = one[name]

        return write

    def typed(_: Any, out: Any, lane: Any, one: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            target, index, source = args
            shift = builder.mul(index, ll.Constant(index.type, _VECTOR_BYTES // LANES))
            for name in names:
                value = cgutils.get_record_member(builder, source, one.offset(name), _NUMBER)
                place = cgutils.get_record_member(builder, target, out.offset(name), _NUMBER)
                builder.store(builder.load(value), cgutils.pointer_add(builder, place, shift))
            return context.get_dummy_value()

        return types.none(out, lane, one), code

    made: Callable[[Any, int, Any], None] = intrinsic(typed)
    return made


@register_default(LanesType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _spread(context: Any, builder: Any, source: Any, target: Any, value: Any) -> Any:
    return _in_all(builder, value)


_lower_cast(types.float64, NUMBERS)(_spread)


def _in_all(builder: Any, value: Any) -> Any:
    """Return a vector with one number in all lanes."""
    one = builder.insert_element(ll.Constant(_VECTOR, ll.Undefined), value, ll.Constant(ll.IntType(32), 0))
    places = ll.Constant(ll.VectorType(ll.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(one, ll.Constant(_VECTOR, ll.Undefined), places)


def _constant(value: float) -> Any:
    return ll.Constant(_VECTOR, [value] * LANES)


def _vectors(builder: Any, sig: Any, args: Any) -> list[Any]:
    """Return the arguments of an operation as vectors."""
    return [
        value if kind == NUMBERS else _in_all(builder, value)
        for kind, value in zip(sig.args, args, strict=True)
    ]


_PAIRS = ((NUMBERS, NUMBERS), (NUMBERS, types.float64), (types.float64, NUMBERS))


def _register(functions: tuple[Any, ...], result: Any, code: Callable[[Any, Any, list[Any]], Any]) -> None:
    """Register an operation of two numbers with its type and its code."""
    for function in functions:

        class Typed(ConcreteTemplate):
            cases = [signature(result, *pair) for pair in _PAIRS]  # noqa: RUF012

        _infer(function)(Typed)
        for pair in _PAIRS:

            def lowered(context: Any, builder: Any, sig: Any, args: Any, code: Any = code) -> Any:
                return code(context, builder, _vectors(builder, sig, args))

            lower_builtin(function, *pair)(lowered)


def _operation(name: str) -> Callable[[Any, Any, list[Any]], Any]:
    return lambda context, builder, values: getattr(builder, name)(*values)


def _comparison(sign: str) -> Callable[[Any, Any, list[Any]], Any]:
    def code(context: Any, builder: Any, values: list[Any]) -> Any:
        compare = builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered
        return _all(builder, compare(sign, *values))

    return code


def _all(builder: Any, mask: Any) -> Any:
    """Return one bit: whether a mask is true in all lanes."""
    bits = builder.bitcast(mask, ll.IntType(LANES))
    return builder.icmp_unsigned("==", bits, ll.Constant(ll.IntType(LANES), (1 << LANES) - 1))


for _function, _inplace, _name in (
    (operator.add, operator.iadd, "fadd"),
    (operator.sub, operator.isub, "fsub"),
    (operator.mul, operator.imul, "fmul"),
    (operator.truediv, operator.itruediv, "fdiv"),
):
    _register((_function, _inplace), NUMBERS, _operation(_name))
_register(
    (operator.pow, operator.ipow),
    NUMBERS,
    lambda context, builder, values: _call(builder, "llvm.pow", *values),
)
for _function, _sign in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
    (operator.ne, "!="),
):
    _register((_function,), types.boolean, _comparison(_sign))


def _register_one(function: Any, code: Callable[[Any, Any], Any]) -> None:
    """Register a function of one number with its code."""

    class Typed(ConcreteTemplate):
        cases = [signature(NUMBERS, NUMBERS)]  # noqa: RUF012

    _infer(function)(Typed)
    lower_builtin(function, NUMBERS)(lambda context, builder, sig, args: code(builder, args[0]))


def _intrinsic(name: str) -> Callable[[Any, Any], Any]:
    return lambda builder, value: _call(builder, name, value)


def _call(builder: Any, name: str, *values: Any) -> Any:
    """Call a function of LLVM in all lanes."""
    kind = ll.FunctionType(_VECTOR, [_VECTOR] * len(values))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{LANES}f64"), values)


_register_one(operator.neg, lambda builder, value: builder.fsub(_constant(-0.0), value))
_register_one(math.sqrt, _intrinsic("llvm.sqrt"))
_register_one(abs, _intrinsic("llvm.fabs"))


# Sine and cosine of all lanes: LLVM would call the functions of one number for each lane.
#
# The angle is reduced to r within ±π/4 and a number of quarter turns, by π/2 in three parts of which the first two
# have 33 bits (Cody and Waite 1980); the polynomials are those of fdlibm (Sun 1993), with errors below one unit in the
# last place. Beyond a million radians the reduction errs as much as the rounding of the angle itself.

_QUARTERS = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
_SINE = (
    *(1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06),
    *(-1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01),
)
_COSINE = (
    *(-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07),
    *(2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02),
)
#: Added to a number below 2⁵¹, this leaves its integer in the lowest bits.
_TO_INTEGER = 1.5 * 2.0**52
_WHOLE = ll.VectorType(ll.IntType(64), LANES)


def _sine(ahead: int) -> Callable[[Any, Any], Any]:
    """Return the code of the sine of an angle that is a number of quarter turns ahead."""

    def code(builder: Any, x: Any) -> Any:
        turned = builder.fadd(builder.fmul(x, _constant(2.0 / math.pi)), _constant(_TO_INTEGER))
        number, r = builder.fsub(turned, _constant(_TO_INTEGER)), x
        for part in _QUARTERS:
            r = builder.fsub(r, builder.fmul(number, _constant(part)))
        z = builder.fmul(r, r)
        sine = builder.fadd(r, builder.fmul(builder.fmul(r, z), _polynomial(builder, z, _SINE)))
        half = builder.fmul(_constant(0.5), z)
        near = builder.fsub(_constant(1.0), half)
        rest = builder.fsub(builder.fsub(_constant(1.0), near), half)
        high = builder.fmul(builder.fmul(z, z), _polynomial(builder, z, _COSINE))
        cosine = builder.fadd(near, builder.fadd(rest, high))
        quarter = builder.add(builder.bitcast(turned, _WHOLE), _whole(ahead))
        odd = builder.icmp_unsigned("!=", builder.and_(quarter, _whole(1)), _whole(0))
        size = builder.bitcast(builder.select(odd, cosine, sine), _WHOLE)
        sign = builder.shl(builder.and_(quarter, _whole(2)), _whole(62))
        return builder.bitcast(builder.xor(size, sign), _VECTOR)

    return code


def _polynomial(builder: Any, z: Any, coefficients: tuple[float, ...]) -> Any:
    """Return a polynomial, highest power first."""
    total = _constant(coefficients[0])
    for coefficient in coefficients[1:]:
        total = builder.fadd(builder.fmul(total, z), _constant(coefficient))
    return total


def _whole(value: int) -> Any:
    return ll.Constant(_WHOLE, [value] * LANES)


_register_one(math.sin, _sine(0))
_register_one(math.cos, _sine(1))
