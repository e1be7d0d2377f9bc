"""Sixteen words as one value of compiled code, held in vector registers.

numba knows numbers and arrays; what LLVM knows beyond that, vectors, is taught to it here.
"""

# mypy: ignore-errors
# ruff: noqa: ARG001
# (Compiled code has no types that mypy knows; a signature needs all its arguments.)

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic, models, register_model

from tellapart.simulation.tape import STRIP

_vector = ir.VectorType(ir.IntType(64), STRIP)
_ones = ir.Constant(_vector, [-1] * STRIP)
_index = ir.IntType(32)


class _Strip(types.Type):
    """Sixteen words as one value."""

    def __init__(self) -> None:
        super().__init__(name="Strip")


strip = _Strip()


@register_model(_Strip)
class _StripModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _vector)


def _unary(signature: Any, emit: Any) -> Any:
    @intrinsic
    def operation(typing, a):
        return signature, lambda context, builder, _, args: emit(builder, args[0])

    return operation


def _binary(emit: Any) -> Any:
    @intrinsic
    def operation(typing, a, b):
        return strip(strip, strip), lambda context, builder, _, args: emit(builder, *args)

    return operation


def _spread(builder: Any, word: Any) -> Any:
    blank = ir.Constant(_vector, ir.Undefined)
    order = ir.Constant(ir.VectorType(_index, STRIP), [0] * STRIP)
    return builder.shuffle_vector(builder.insert_element(blank, word, _index(0)), blank, order)


def _fold(builder: Any, value: Any, join: Any) -> Any:
    size = STRIP
    while size > 1:
        size //= 2
        blank, order = ir.Constant(value.type, ir.Undefined), ir.VectorType(_index, size)
        low = builder.shuffle_vector(value, blank, ir.Constant(order, list(range(size))))
        high = builder.shuffle_vector(value, blank, ir.Constant(order, list(range(size, 2 * size))))
        value = join(low, high)
    return builder.extract_element(value, _index(0))


def _ones_of_each(builder: Any, value: Any) -> Any:
    kind = ir.FunctionType(_vector, [_vector])
    count = get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{STRIP}i64")
    return builder.call(count, [value])


def _pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


read_strip = _unary(strip(types.int64), lambda b, a: b.load(_pointer(b, a, _vector), align=8))
read_word = _unary(
    types.int64(types.int64), lambda b, a: b.load(_pointer(b, a, ir.IntType(64)), align=8)
)
read_float = _unary(
    types.float64(types.int64), lambda b, a: b.load(_pointer(b, a, ir.DoubleType()), align=8)
)
filled = _unary(strip(types.int64), _spread)
any_set = _unary(types.int64(strip), lambda b, x: _fold(b, x, b.or_))
count_strip = _unary(types.int64(strip), lambda b, x: _fold(b, _ones_of_each(b, x), b.add))
count_ones = _unary(types.int64(types.int64), lambda b, a: b.ctpop(a))
lowest = _unary(types.int64(types.int64), lambda b, a: b.cttz(a, ir.IntType(1)(0)))
or_ = _binary(lambda b, x, y: b.or_(x, y))
and_ = _binary(lambda b, x, y: b.and_(x, y))
xor = _binary(lambda b, x, y: b.xor(x, y))
but_not = _binary(lambda b, x, y: b.and_(x, b.xor(y, _ones)))
not_ = _unary(strip(strip), lambda b, x: b.xor(x, _ones))


def _writer(signature: Any) -> Any:
    @intrinsic
    def operation(typing, address, value):
        def emit(context, builder, _, args):
            builder.store(args[1], _pointer(builder, args[0], args[1].type), align=8)
            return context.get_dummy_value()

        return signature, emit

    return operation


write_strip = _writer(types.void(types.int64, strip))
write_word = _writer(types.void(types.int64, types.int64))
