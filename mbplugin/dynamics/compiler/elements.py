"""Elements of arrays, and arrays within records, in few instructions.

For an element numba writes the whole array out, with its shape and strides, and counts who looks at it: some sixty
instructions for one number, which LLVM then takes away again. Here an element is a place and a load.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir as ll
from numba.core import cgutils, ir
from numba.core import types as numba_types

from mbplugin.dynamics.compiler.arithmetic import ArithmeticLowering

types: Any = numba_types  # the stubs leave much out
_INTP = ll.IntType(types.intp.bitwidth)
_BYTES = ll.IntType(8).as_pointer()
#: A number that is known now, or one of the program.
_Number = Any


class ElementLowering(ArithmeticLowering):
    """How numba translates a function, but for elements."""

    context: Any
    builder: Any

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Translate an expression."""
        if expr.op == "getattr" and isinstance(resty, types.NestedArray):
            return self._nested(expr.value, expr.attr, resty)
        place = self._place(expr.value, expr.index) if expr.op in ("getitem", "static_getitem") else None
        if place is None:
            return super().lower_expr(resty, expr)
        array = self.typeof(expr.value.name)
        value = self.context.unpack_value(self.builder, array.dtype, place, _alignment(array))
        return self.context.cast(self.builder, value, array.dtype, resty)

    def lower_inst(self, inst: Any) -> Any:
        """Translate a statement."""
        if isinstance(inst, (ir.SetItem, ir.StaticSetItem)):
            kind = self.typeof(inst.value.name)
            number = isinstance(kind, (types.Number, types.Boolean))
            place = self._place(inst.target, inst.index) if number else None
            if place is not None:
                array = self.typeof(inst.target.name)
                value = self.context.cast(self.builder, self.loadvar(inst.value.name), kind, array.dtype)
                return self.context.pack_value(self.builder, array.dtype, value, place, _alignment(array))
        return super().lower_inst(inst)

    def _nested(self, record: Any, field: str, array: Any) -> Any:
        """Return the array in a field of a record: constants, and where it lies."""
        model = self.context.data_model_manager[array]
        kind, number = model.get_value_type(), self.context.get_data_type(array.dtype)
        offset = self.typeof(record.name).offset(field)
        data = cgutils.get_record_member(self.builder, self.loadvar(record.name), offset, number)
        constants: list[Any] = [ll.Constant(member, None) for member in kind.elements]
        for name, numbers in (("shape", array.shape), ("strides", array.strides)):
            at = model.get_field_position(name)
            constants[at] = ll.Constant(kind.elements[at], [ll.Constant(_INTP, n) for n in numbers])
        constants[model.get_field_position("nitems")] = ll.Constant(_INTP, array.nitems)
        constants[model.get_field_position("itemsize")] = ll.Constant(_INTP, array.size)
        whole = ll.Constant(kind, constants)
        return self.builder.insert_value(whole, data, model.get_field_position("data"))

    def _place(self, variable: Any, index: Any) -> Any:
        """Return the address of an element, or None where it is no element, or its index is to be checked."""
        array = self.typeof(variable.name)
        if type(array) not in (types.Array, types.NestedArray) or self.context.enable_boundscheck:
            return None
        indices = self._indices(index)
        if indices is None or len(indices) != array.ndim:
            return None
        within = [self._from_the_end(variable, axis, n) for axis, n in enumerate(indices)]
        data = self._member(variable, "data")
        if array.layout == "C":
            return self.builder.gep(data, [_value(self._flat(variable, within))], inbounds=True)
        offset: _Number = 0
        for axis, n in enumerate(within):
            offset = self._sum(offset, self._product(n, self._member(variable, "strides", axis)))
        bytes_ = self.builder.bitcast(data, _BYTES)
        return self.builder.bitcast(self.builder.gep(bytes_, [_value(offset)], inbounds=True), data.type)

    def _indices(self, index: Any) -> list[tuple[_Number, bool]] | None:
        """Return the numbers of an index, each with whether it can be negative; None where it has others."""
        if not isinstance(index, ir.Var):
            numbers = index if isinstance(index, tuple) else (index,)
            return [(n, n < 0) for n in numbers] if all(type(n) is int for n in numbers) else None
        kind, value = self.typeof(index.name), self.loadvar(index.name)
        if isinstance(kind, types.Integer):
            kinds, values = (kind,), (value,)
        elif isinstance(kind, types.BaseTuple) and all(isinstance(one, types.Integer) for one in kind):
            kinds = tuple(kind)
            values = self._members(index, len(kinds))
        else:
            return None
        return [self._index(kind, value) for kind, value in zip(kinds, values, strict=True)]

    def _index(self, kind: Any, value: Any) -> tuple[_Number, bool]:
        number = self.context.cast(self.builder, value, kind, types.intp)
        if isinstance(number, ll.Constant) and isinstance(number.constant, int):
            return number.constant, number.constant < 0
        return number, types.unliteral(kind).signed

    def _from_the_end(self, variable: Any, axis: int, index: tuple[_Number, bool]) -> _Number:
        """Return an index from the start, where a negative one counts from the end."""
        number, negative = index
        if not negative:
            return number
        moved = self._sum(number, self._extent(variable, axis))
        if isinstance(number, int):
            return moved
        before = self.builder.icmp_signed("<", number, ll.Constant(_INTP, 0))
        return self.builder.select(before, _value(moved), number)

    def _flat(self, variable: Any, indices: list[_Number]) -> _Number:
        """Return the place of an element among all, the last index running first."""
        place = indices[0]
        for axis, n in enumerate(indices[1:], 1):
            place = self._sum(self._product(place, self._extent(variable, axis)), n)
        return place

    def _extent(self, variable: Any, axis: int) -> _Number:
        array = self.typeof(variable.name)
        if isinstance(array, types.NestedArray):
            return array.shape[axis]
        return self._member(variable, "shape", axis)

    def _member(self, variable: Any, name: str, *axis: int) -> Any:
        """Return a member of an array: of one in memory nothing else is read."""
        model = self.context.data_model_manager[self.typeof(variable.name)]
        at = (model.get_field_position(name), *axis)
        if variable.name not in self._blk_local_varmap:
            zero, *steps = (ll.Constant(ll.IntType(32), n) for n in (0, *at))
            where = self.builder.gep(self.getvar(variable.name), [zero, *steps], inbounds=True)
            return self.builder.load(where)
        return self.builder.extract_value(self.loadvar(variable.name), at)

    def _sum(self, a: _Number, b: _Number) -> _Number:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if 0 in (n for n in (a, b) if isinstance(n, int)):
            return b if isinstance(a, int) else a
        return self.builder.add(_value(a), _value(b), flags=("nsw",))

    def _product(self, a: _Number, b: _Number) -> _Number:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        return self.builder.mul(_value(a), _value(b), flags=("nsw",))


def _value(number: _Number) -> Any:
    return ll.Constant(_INTP, number) if isinstance(number, int) else number


def _alignment(array: Any) -> int | None:
    return None if array.aligned else 1
