"""How numba translates a function, in fewer instructions: variables and loops that count nothing and raise nothing."""

from __future__ import annotations

from typing import Any

from llvmlite import ir as ll
from numba.core import cgutils, types
from numba.core.lowering import Lower


class FoldingBuilder(ll.IRBuilder):  # type: ignore[misc]
    """A writer of instructions that takes a member of what was put together just before from where it came."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """Return a member of an aggregate."""
        at = tuple(idx) if isinstance(idx, (tuple, list)) else (idx,)
        inner = agg
        while isinstance(inner, ll.InsertValue):
            placed = tuple(inner.indices)
            if placed == at:
                return inner.operands[1]
            if placed == at[: len(placed)] or at == placed[: len(at)]:
                break
            inner = inner.operands[0]
        if isinstance(inner, ll.Constant) and isinstance(inner.constant, (list, tuple)) and len(at) == 1:
            return inner.constant[at[0]]
        return super().extract_value(inner, at, name)


class ShortLowering(Lower):
    """How numba translates a function, in fewer instructions."""

    context: Any
    builder: Any

    def setup_function(self, fndesc: Any) -> None:
        """Begin a function."""
        super().setup_function(fndesc)
        self.builder = FoldingBuilder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Translate an expression."""
        if expr.op in ("pair_first", "pair_second") and not self._counted(resty):
            return self.builder.extract_value(self.loadvar(expr.value.name), int(expr.op == "pair_second"))
        if expr.op == "call" and isinstance(resty, types.RangeType) and len(expr.args) < 3:
            return self._range(resty, expr.args)
        if expr.op == "getiter" and isinstance(resty, types.RangeIteratorType):
            start, stop, step = self._members(expr.value, 3)
            if _is_one(step):
                return self._iterator(resty, start, stop, step)
        if expr.op == "iternext" and isinstance(self.typeof(expr.value.name), types.RangeIteratorType):
            return self._next(resty, self.loadvar(expr.value.name))
        return super().lower_expr(resty, expr)

    def incref(self, typ: Any, val: Any) -> None:
        """Count a reference; nobody counts those to what lies within a record."""
        if self._counted(typ):
            super().incref(typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        """Give a reference up."""
        if self._counted(typ):
            super().decref(typ, val)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Give a variable its value; what it had is looked at only where it is counted."""
        kind = self.typeof(name)
        if self._counted(kind) or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self._alloca_var(name, kind)
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """End a variable; one that is not counted is left."""
        if self._counted(self.typeof(name)):
            super().delvar(name)

    def _members(self, variable: Any, number: int) -> tuple[Any, ...]:
        whole = self.loadvar(variable.name)
        return tuple(self.builder.extract_value(whole, n) for n in range(number))

    def _counted(self, kind: Any) -> bool:
        """Return whether a value is, or has, something that is counted."""
        if not self.context.enable_nrt or isinstance(kind, types.NestedArray):
            return False
        return bool(self.context.data_model_manager[kind].contains_nrt_meminfo())

    def _range(self, kind: Any, args: list[Any]) -> Any:
        """Return a range in steps of one."""
        number = self.context.get_value_type(kind.dtype)
        bounds = [self._cast_var(one, kind.dtype) for one in args]
        zero, one = ll.Constant(number, 0), ll.Constant(number, 1)
        start, stop = bounds if len(bounds) == 2 else (zero, *bounds)
        made = ll.Constant(self.context.get_value_type(kind), [zero, zero, one])
        return self.builder.insert_value(self.builder.insert_value(made, start, 0), stop, 1)

    def _iterator(self, kind: Any, start: Any, stop: Any, step: Any) -> Any:
        """Return what runs through a range in steps of one: where it is, the end, the step, how many are left."""
        place, left = (cgutils.alloca_once(self.builder, start.type) for _ in range(2))
        self.builder.store(start, place)
        self.builder.store(self.builder.sub(stop, start, flags=("nsw",)), left)
        made = ll.Constant(self.context.get_value_type(kind), ll.Undefined)
        for n, member in enumerate((place, stop, step, left)):
            made = self.builder.insert_value(made, member, n)
        return made

    def _next(self, kind: Any, iterator: Any) -> Any:
        """Return the next number of a range, and whether there was one; past the end it only counts on."""
        place, step, left = (self.builder.extract_value(iterator, n) for n in (0, 2, 3))
        value, count = self.builder.load(place), self.builder.load(left)
        there = self.builder.icmp_signed(">", count, ll.Constant(count.type, 0))
        self.builder.store(self.builder.sub(count, ll.Constant(count.type, 1)), left)
        self.builder.store(self.builder.add(value, step), place)
        pair = ll.Constant(self.context.get_value_type(kind), ll.Undefined)
        return self.builder.insert_value(self.builder.insert_value(pair, value, 0), there, 1)


def _is_one(number: Any) -> bool:
    return isinstance(number, ll.Constant) and number.constant == 1
