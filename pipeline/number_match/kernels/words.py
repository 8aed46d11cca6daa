"""Sets of squares as single machine values: one kernel source serves boards of 64, 128 and 256 squares.

A set of up to 64 squares is numba's own `uint64`. `Word128` and `Word256` are two more integer types, which LLVM
splits into registers by itself; `&`, `|`, `^`, `~`, `==` and `!=` work on all three alike, and so do the functions
below. Arrays hold a set as 1, 2 or 4 `uint64` in a row, lowest squares first.
"""
# mypy: disable-error-code="no-untyped-call,no-untyped-def,misc,untyped-decorator"

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

from number_match.kernels.memory import WORDS_AT

I64 = ir.IntType(64)
I1 = ir.IntType(1)


class WordType(types.Type):
    """An unsigned integer of 128 or 256 bits."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        super().__init__(name=f"Word{bits}")


@register_model(WordType)
class WordModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: WordType) -> None:
        super().__init__(manager, kind, ir.IntType(kind.bits))


WORD128, WORD256 = WordType(128), WordType(256)


def _is_set(kind: Any) -> bool:
    return kind == types.uint64 or isinstance(kind, WordType)


def _bits(kind: Any) -> int:
    return kind.bits if isinstance(kind, WordType) else 64


def _widen(builder: Any, value: Any, bits: int) -> Any:
    return value if bits == 64 else builder.zext(value, ir.IntType(bits))


def _narrow(builder: Any, value: Any, bits: int) -> Any:
    return value if bits == 64 else builder.trunc(value, I64)


def _binary(instruction: str) -> Any:
    @intrinsic
    def combine(typing_context, a, b):
        def generate(context, builder, signature, args):
            return getattr(builder, instruction)(*args)

        return (a(a, b), generate) if isinstance(a, WordType) and a == b else None

    return combine


def _comparison(sign: str) -> Any:
    @intrinsic
    def compare(typing_context, a, b):
        def generate(context, builder, signature, args):
            return builder.icmp_unsigned(sign, *args)

        return (types.boolean(a, b), generate) if isinstance(a, WordType) and a == b else None

    return compare


@intrinsic
def _invert(typing_context, a):
    def generate(context, builder, signature, args):
        return builder.not_(args[0])

    return (a(a), generate) if isinstance(a, WordType) else None


def _install(symbol: Any, function: Any) -> None:
    """Give an operator to the word types."""

    @overload(symbol, inline="always")
    def operation(a, b):
        if isinstance(a, WordType) and a == b:
            return lambda a, b: function(a, b)
        return None


for _symbols, _name in (
    ((operator.and_, operator.iand), "and_"),
    ((operator.or_, operator.ior), "or_"),
    ((operator.xor, operator.ixor), "xor"),
):
    for _symbol in _symbols:
        _install(_symbol, _binary(_name))
for _symbol, _name in ((operator.eq, "=="), (operator.ne, "!=")):
    _install(_symbol, _comparison(_name))


@overload(operator.invert, inline="always")
def _operator_invert(a):
    return (lambda a: _invert(a)) if isinstance(a, WordType) else None


def _counter(name: str, flag: bool) -> Any:
    """An LLVM count of bits from a set to a `uint64`; `flag` adds the operand "zero is poison", set to false."""

    @intrinsic
    def count(typing_context, a):
        bits = _bits(a)

        def generate(context, builder, signature, args):
            kind = ir.IntType(bits)
            function = builder.module.declare_intrinsic(
                f"llvm.{name}", [kind], ir.FunctionType(kind, [kind, I1] if flag else [kind])
            )
            value = builder.call(function, [args[0], ir.Constant(I1, 0)] if flag else [args[0]])
            return _narrow(builder, value, bits)

        return (types.uint64(a), generate) if _is_set(a) else None

    return count


size = _counter("ctpop", False)  # how many squares
first = _counter("cttz", True)  # the lowest square; the capacity (64, 128, 256) for the empty set
_leading = _counter("ctlz", True)


@intrinsic
def last(typing_context, a):
    """The highest square; the capacity minus one for the empty set, so that the answer always indexes."""
    bits = _bits(a)

    def generate(context, builder, signature, args):
        kind = ir.IntType(bits)
        function = builder.module.declare_intrinsic("llvm.ctlz", [kind], ir.FunctionType(kind, [kind, I1]))
        leading = builder.call(function, [args[0], ir.Constant(I1, 0)])
        top = ir.Constant(kind, bits - 1)
        return _narrow(builder, builder.and_(builder.sub(top, leading), top), bits)

    return (types.uint64(a), generate) if _is_set(a) else None


@intrinsic
def square(typing_context, like, x):
    """The set of one square, of the type of `like`."""
    bits = _bits(like)

    def generate(context, builder, signature, args):
        return builder.shl(ir.Constant(ir.IntType(bits), 1), _widen(builder, args[1], bits))

    return (like(like, types.uint64), generate) if _is_set(like) else None


@intrinsic
def lower(typing_context, like, x):
    """The set of all squares before x, of the type of `like`."""
    bits = _bits(like)

    def generate(context, builder, signature, args):
        one = ir.Constant(ir.IntType(bits), 1)
        return builder.sub(builder.shl(one, _widen(builder, args[1], bits)), one)

    return (like(like, types.uint64), generate) if _is_set(like) else None


@intrinsic
def without_first(typing_context, a):
    """The set less its lowest square."""
    bits = _bits(a)

    def generate(context, builder, signature, args):
        return builder.and_(args[0], builder.sub(args[0], ir.Constant(ir.IntType(bits), 1)))

    return (a(a), generate) if _is_set(a) else None


@intrinsic
def empty(typing_context, like):
    """The empty set, of the type of `like`."""
    bits = _bits(like)

    def generate(context, builder, signature, args):
        return ir.Constant(ir.IntType(bits), 0)

    return (like(like), generate) if _is_set(like) else None


@intrinsic
def digest(typing_context, a):
    """The parts of a set folded into one `uint64`, each rotated by 21 more bits: for hashing, never for proof."""
    bits = _bits(a)

    def generate(context, builder, signature, args):
        folded = _narrow(builder, args[0], bits)
        for part in range(1, bits // 64):
            word = builder.trunc(builder.lshr(args[0], ir.Constant(ir.IntType(bits), 64 * part)), I64)
            turn = 21 * part % 64
            turned = builder.or_(
                builder.shl(word, ir.Constant(I64, turn)), builder.lshr(word, ir.Constant(I64, 64 - turn))
            )
            folded = builder.xor(folded, turned)
        return folded

    return (types.uint64(a), generate) if _is_set(a) else None


@intrinsic
def load(typing_context, memory, index, like):
    """Set number `index` in memory (a pointer of memory.py), of the type of `like`."""
    bits = _bits(like)

    def generate(context, builder, signature, args):
        return builder.load(_place(builder, args[0], args[1], bits), align=8)

    return (like(memory, types.uint64, like), generate) if _is_set(like) and memory == WORDS_AT else None


@intrinsic
def store(typing_context, memory, index, value):
    """Write set number `index` in memory."""
    bits = _bits(value)

    def generate(context, builder, signature, args):
        builder.store(args[2], _place(builder, args[0], args[1], bits), align=8)
        return cgutils.get_null_value(context.get_value_type(types.none))

    kinds = types.none(memory, types.uint64, value)
    return (kinds, generate) if _is_set(value) and memory == WORDS_AT else None


def _place(builder: Any, words: Any, index: Any, bits: int) -> Any:
    """Where set number `index` lies."""
    offset = builder.mul(index, ir.Constant(I64, bits // 64))
    return builder.bitcast(builder.gep(words, [offset]), ir.IntType(bits).as_pointer())


@intrinsic
def empty_of(typing_context, words):
    """The empty set of up to 64, 128 or 256 squares, chosen by the *type* of a tuple of 1, 2 or 4 ints.

    So one function that Python calls serves all sizes: each type of tuple compiles it anew.
    """
    kind = {1: types.uint64, 2: WORD128, 4: WORD256}.get(getattr(words, "count", 0))

    def generate(context, builder, signature, args):
        return ir.Constant(ir.IntType(_bits(kind)), 0)

    return (kind(words), generate) if kind is not None else None


WORDS = {64: (0,), 128: (0, 0), 256: (0, 0, 0, 0)}
"""What to give `empty_of` for how many squares."""
