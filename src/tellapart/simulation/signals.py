"""Words of memory that two threads use, and how one wakes the other, for compiled code."""

# mypy: ignore-errors
# ruff: noqa: ARG001
# (Compiled code has no types that mypy knows; a signature needs all its arguments.)

from __future__ import annotations

import os
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

_word, _int = ir.IntType(64), ir.IntType(32)
_bytes = ir.IntType(8).as_pointer()
_ORDER = "seq_cst"


def _cell(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _word.as_pointer())


@intrinsic
def load(typing, address):
    """The word at an address, as it is now."""

    def emit(context, builder, _, args):
        return builder.load_atomic(_cell(builder, args[0]), _ORDER, 8)

    return types.int64(types.int64), emit


@intrinsic
def store(typing, address, value):
    """Write a word, after all that was written before."""

    def emit(context, builder, _, args):
        builder.store_atomic(args[1], _cell(builder, args[0]), _ORDER, 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), emit


def _exchange(operation: str) -> Any:
    @intrinsic
    def change(typing, address, value):
        def emit(context, builder, _, args):
            return builder.atomic_rmw(operation, _cell(builder, args[0]), args[1], _ORDER)

        return types.int64(types.int64, types.int64), emit

    return change


add_to = _exchange("add")  # both give the word as it was before
lower_to = _exchange("min")


@intrinsic
def swap_if(typing, address, before, after):
    """Write `after` if `before` is there; whether it was."""

    def emit(context, builder, _, args):
        pair = builder.cmpxchg(_cell(builder, args[0]), args[1], args[2], _ORDER)
        return builder.extract_value(pair, 1)

    return types.boolean(types.int64, types.int64, types.int64), emit


def _call(builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    return builder.call(get_or_insert_function(builder.module, kind, name), arguments)


def _transfer(name: str) -> Any:
    """A byte through an end of a pipe: how many came through, -1 if there was an error."""

    @intrinsic
    def one_byte(typing, end):
        def emit(context, builder, _, args):
            if os.name != "posix":  # nobody asks
                return _word(-1)
            byte = builder.alloca(ir.IntType(8))
            end = builder.trunc(args[0], _int)
            return _call(builder, name, _word, [end, byte, _word(1)])

        return types.int64(types.int64), emit

    return one_byte


ring, await_ring = _transfer("write"), _transfer("read")


@intrinsic
def give_way(typing):
    """Let another thread run."""

    def emit(context, builder, _, args):
        if os.name == "posix":
            _call(builder, "sched_yield", _int, [])
        return context.get_dummy_value()

    return types.void(), emit
