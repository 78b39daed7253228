"""Sums, products and comparisons of two numbers, each one instruction.

Numba tries for each sum whether its operands are constants, in three ways that fail, and searches its tables each time.
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import types

from mbplugin.dynamics.compiler.short_code import ShortLowering

_COMPARISONS: dict[Any, str] = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
_REAL = {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv"}
_WHOLE = {operator.add: "add", operator.sub: "sub", operator.mul: "mul"}


class ArithmeticLowering(ShortLowering):
    """How numba translates a function, but for two numbers of one kind."""

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Translate an operation with two operands."""
        signature = self.fndesc.calltypes[expr]
        left, right = (types.unliteral(kind) for kind in signature.args)
        if left != right or not self._is_short(left, op):
            return super().lower_binop(resty, expr, op)
        a, b = (self._cast_var(one, left) for one in (expr.lhs, expr.rhs))
        return self.context.cast(self.builder, self._write(left, op, a, b), signature.return_type, resty)

    def _is_short(self, kind: Any, op: Any) -> bool:
        if kind == types.float64:
            # numba can be asked to raise an error instead of returning infinity
            raises = op is operator.truediv and self.context.error_model.raise_on_fp_zero_division
            return op in _COMPARISONS or (op in _REAL and not raises)
        return bool(kind == types.int64) and (op in _COMPARISONS or op in _WHOLE)

    def _write(self, kind: Any, op: Any, a: Any, b: Any) -> Any:
        real, comparison = kind == types.float64, _COMPARISONS.get(op)
        if comparison is None:
            if real:
                return getattr(self.builder, _REAL[op])(a, b)
            return getattr(self.builder, _WHOLE[op])(a, b, flags=("nsw",))
        if not real:
            return self.builder.icmp_signed(comparison, a, b)
        # not a number is different from all numbers, itself included
        ordered = op is not operator.ne
        return (self.builder.fcmp_ordered if ordered else self.builder.fcmp_unordered)(comparison, a, b)
