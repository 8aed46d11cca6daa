"""Wide words: sets of up to 64, 128 or 512 squares that one source can reckon with.

A set is a `uint64`, or a tuple of N of them, lowest squares first, for 64 N squares. `&`, `|`, `^`, `~` and `>>` work on
tuples as they do on one word, and the functions below take either, so that a kernel written once is compiled for every size
of board; a tuple of two words stays in registers. Nothing here checks its arguments: a position or a shift is below 64 N.
"""
# mypy: disable-error-code="no-untyped-call,no-untyped-def,misc,untyped-decorator"

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from number_match.kernels.bits import ONE, ZERO, U, _host_has_pdep, kernel, select

HAS_EXTRACT = _host_has_pdep()
SIX = U(6)
I64 = ir.IntType(64)


def words(kind: types.Type) -> int:
    """How many words a set of this numba type has; 0 when it is no set."""
    if kind == types.uint64:
        return 1
    return kind.count if isinstance(kind, types.UniTuple) and kind.dtype == types.uint64 else 0


def _join(builder: Any, kind: types.Type, value: Any) -> Any:
    """A set as one LLVM integer of 64 N bits. Joining and splitting vanish when LLVM cuts wide integers into words."""
    n = words(kind)
    if n == 1:
        return value
    whole = ir.IntType(64 * n)
    joined = ir.Constant(whole, 0)
    for i in range(n):
        part = builder.zext(builder.extract_value(value, i), whole)
        joined = builder.or_(joined, builder.shl(part, ir.Constant(whole, 64 * i)))
    return joined


def _split(context: Any, builder: Any, kind: types.Type, value: Any) -> Any:
    n = words(kind)
    if n == 1:
        return value
    parts = [builder.trunc(builder.lshr(value, ir.Constant(value.type, 64 * i)), I64) for i in range(n)]
    return context.make_tuple(builder, kind, parts)


def _tuple_operator(symbol: Any, name: str) -> None:
    """Give tuples of words the operator `symbol`, made by the method `name` of LLVM's builder, on whole sets."""

    @intrinsic
    def apply(typing_context, x, y):
        def generate(context, builder, signature, args):
            a, b = (_join(builder, x, arg) for arg in args)
            return _split(context, builder, x, getattr(builder, name)(a, b))

        return x(x, x), generate

    @overload(symbol)
    def typed(x, y):
        if words(x) > 1 and x == y:
            return lambda x, y: apply(x, y)
        return None


for _symbol, _name in (
    (operator.and_, "and_"),
    (operator.iand, "and_"),
    (operator.or_, "or_"),
    (operator.ior, "or_"),
    (operator.xor, "xor"),
):
    _tuple_operator(_symbol, _name)


@intrinsic
def _not(typing_context, x):
    def generate(context, builder, signature, args):
        return _split(context, builder, x, builder.not_(_join(builder, x, args[0])))

    return x(x), generate


@overload(operator.invert)
def _invert(x):
    return (lambda x: _not(x)) if words(x) > 1 else None


@intrinsic
def _shift_down(typing_context, x, count):
    def generate(context, builder, signature, args):
        whole = _join(builder, x, args[0])
        return _split(context, builder, x, builder.lshr(whole, builder.zext(args[1], whole.type)))

    return x(x, types.uint64), generate


@overload(operator.rshift)
@overload(operator.irshift)
def _rshift(x, count):
    return (lambda x, count: _shift_down(x, count)) if words(x) > 1 else None


def _measure(name: str, flag: bool) -> Any:
    """A function from a set to a number by one of LLVM's intrinsics."""

    @intrinsic
    def measure(typing_context, x):
        def generate(context, builder, signature, args):
            whole = _join(builder, x, args[0])
            i1 = ir.IntType(1)
            parameters = [whole.type, i1] if flag else [whole.type]
            function = builder.module.declare_intrinsic(f"llvm.{name}", [whole.type], ir.FunctionType(whole.type, parameters))
            result = builder.call(function, [whole, ir.Constant(i1, 0)] if flag else [whole])
            return result if result.type == I64 else builder.trunc(result, I64)

        return types.uint64(x), generate

    return measure


count = _measure("ctpop", False)  # how many squares are in the set
first = _measure("cttz", True)  # the lowest square of the set; the number of bits when it is empty


@intrinsic
def lowest(typing_context, x):
    """The set of the lowest square alone; empty for the empty set."""

    def generate(context, builder, signature, args):
        whole = _join(builder, x, args[0])
        return _split(context, builder, x, builder.and_(whole, builder.neg(whole)))

    return x(x), generate


@intrinsic
def single(typing_context, position, like):
    """The set of one square, of the type of `like`."""

    def generate(context, builder, signature, args):
        whole = ir.IntType(64 * words(like))
        place = args[0] if whole == I64 else builder.zext(args[0], whole)
        return _split(context, builder, like, builder.shl(ir.Constant(whole, 1), place))

    return like(types.uint64, like), generate


@intrinsic
def is_empty(typing_context, x):
    """Whether the set has no square."""

    def generate(context, builder, signature, args):
        whole = _join(builder, x, args[0])
        return builder.icmp_unsigned("==", whole, ir.Constant(whole.type, 0))

    return types.boolean(x), generate


@intrinsic
def squares(typing_context, like):
    """How many squares a set of the type of `like` has room for: a constant."""

    def generate(context, builder, signature, args):
        return ir.Constant(I64, 64 * words(like))

    return types.uint64(like), generate


@intrinsic
def fetch(typing_context, table, index, like):
    """Row `index` of a table of uint64, of shape (rows, N) and C order, as a set of the type of `like`."""

    def generate(context, builder, signature, args):
        data = context.make_array(table)(context, builder, args[0]).data
        n = words(like)
        start = builder.mul(args[1], ir.Constant(I64, n))
        parts = [builder.load(builder.gep(data, [builder.add(start, ir.Constant(I64, i))])) for i in range(n)]
        return parts[0] if n == 1 else context.make_tuple(builder, like, parts)

    return like(table, types.uint64, like), generate


def nth(x: Any, k: Any) -> Any:
    """The k-th square of a set, k from 0; it must be there."""
    raise NotImplementedError("for compiled code")


@overload(nth)
def _nth(x, k):
    if words(x) == 1:
        return lambda x, k: select(x, k)

    def of_tuple(x, k):
        word = 0
        inside = count(x[0])
        while k >= inside:
            k -= inside
            word += 1
            inside = count(x[word])
        return (U(word) << SIX) + select(x[word], k)

    return of_tuple


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
