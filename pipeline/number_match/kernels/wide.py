"""More on sets of squares (see words.py), for the playouts: shifts, the k-th square, moving bits together."""
# mypy: disable-error-code="no-untyped-call,no-untyped-def,misc,untyped-decorator,call-arg,var-annotated"

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from number_match.kernels.bits import ONE, ZERO, U, _host_has_pdep, kernel, popcount, select
from number_match.kernels.words import I64, WORD128, WORD256, WordType, _bits, _is_set, _narrow, _widen

HAS_EXTRACT = _host_has_pdep()


@intrinsic
def set128(typing_context):
    """The empty set of up to 128 squares."""
    return WORD128(), lambda context, builder, signature, args: ir.Constant(ir.IntType(128), 0)


@intrinsic
def set256(typing_context):
    """The empty set of up to 256 squares."""
    return WORD256(), lambda context, builder, signature, args: ir.Constant(ir.IntType(256), 0)


@intrinsic
def _shift_down(typing_context, a, count):
    def generate(context, builder, signature, args):
        return builder.lshr(args[0], _widen(builder, args[1], _bits(a)))

    return (a(a, types.uint64), generate) if isinstance(a, WordType) else None


@overload(operator.rshift, inline="always")
@overload(operator.irshift, inline="always")
def _operator_rshift(a, count):
    return (lambda a, count: _shift_down(a, count)) if isinstance(a, WordType) else None


@intrinsic
def capacity(typing_context, like):
    """How many squares a set of the type of `like` has room for: a constant."""

    def generate(context, builder, signature, args):
        return ir.Constant(I64, _bits(like))

    return (types.uint64(like), generate) if _is_set(like) else None


@intrinsic
def lowest(typing_context, a):
    """The set of the lowest square alone; empty for the empty set."""

    def generate(context, builder, signature, args):
        return builder.and_(args[0], builder.neg(args[0]))

    return (a(a), generate) if _is_set(a) else None


@intrinsic
def part(typing_context, a, word):
    """One `uint64` of a set, lowest squares first."""

    def generate(context, builder, signature, args):
        shift = builder.mul(args[1], ir.Constant(I64, 64))
        return _narrow(builder, builder.lshr(args[0], _widen(builder, shift, _bits(a))), _bits(a))

    return (types.uint64(a, types.uint64), generate) if _is_set(a) else None


@intrinsic
def unowned(typing_context, array):
    """The same array as one that is not counted in and out wherever it is passed on. Whoever calls the loop keeps the
    array.
    """

    def generate(context, builder, signature, args):
        view = context.make_array(array)(context, builder, value=args[0])
        view.meminfo = ir.Constant(view.meminfo.type, None)
        view.parent = ir.Constant(view.parent.type, None)
        return view._getvalue()

    return array(array), generate


def nth(a: Any, k: Any) -> Any:
    """The k-th square of a set, k from 0; it must be there."""
    raise NotImplementedError("for compiled code")


@overload(nth, jit_options={"forceinline": True})
def _nth(a, k):
    if a == types.uint64:
        return lambda a, k: select(a, k)

    def by_words(a, k):
        word = ZERO
        inside = popcount(part(a, word))
        while k >= inside:
            k -= inside
            word += ONE
            inside = popcount(part(a, word))
        return (word << U(6)) + select(part(a, word), k)

    return by_words


def _bmi(name: str) -> Any:
    @intrinsic
    def instruction(typing_context, x, mask):
        def generate(context, builder, signature, args):
            symbol = f"llvm.x86.bmi.{name}.64"
            function = builder.module.globals.get(symbol)
            if function is None:
                function = ir.Function(builder.module, ir.FunctionType(I64, [I64, I64]), symbol)
            return builder.call(function, args)

        return types.uint64(types.uint64, types.uint64), generate

    return instruction


if HAS_EXTRACT:
    extract = _bmi("pext")  # the bits of a word at the set bits of a mask, moved together at the low end
    deposit = _bmi("pdep")  # the low bits of a word, moved apart to the set bits of a mask

else:

    @kernel
    def extract(x, mask):
        """The bits of a word at the set bits of a mask, moved together at the low end."""
        result, place = ZERO, ONE
        while mask != ZERO:
            if x & mask & (~mask + ONE) != ZERO:
                result |= place
            place += place
            mask &= mask - ONE
        return result

    @kernel
    def deposit(x, mask):
        """The low bits of a word, moved apart to the set bits of a mask."""
        result = ZERO
        while mask != ZERO:
            if x & ONE != ZERO:
                result |= mask & (~mask + ONE)
            x >>= ONE
            mask &= mask - ONE
        return result
