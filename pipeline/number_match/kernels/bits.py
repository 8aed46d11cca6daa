"""Single instructions and small steps on 64-bit words, and the generator of random numbers, for the other kernels.

Every constant that meets a word is a `uint64`: numba makes `uint64 + 1` signed, and negative indices cost a branch.
"""
# mypy: disable-error-code="no-untyped-call,no-untyped-def,misc,untyped-decorator"

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.extending import intrinsic

U = np.uint64
ZERO, ONE, ALL = U(0), U(1), U(0xFFFFFFFFFFFFFFFF)
LAST = U(63)
GOLDEN = U(0x9E3779B97F4A7C15)

kernel = njit(nogil=True, error_model="numpy", boundscheck=False)
"""A function for other kernels; it is compiled into the doors that call it."""

door = njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)
"""A function that Python calls: the compiled code of these alone is kept on disk, each whole in itself."""


def _unary(name: str, flag: bool) -> Any:
    """An LLVM intrinsic from one 64-bit word to another; `flag` adds the operand "zero is poison", set to false."""

    @intrinsic
    def word_instruction(typing_context, x):
        def generate(context, builder, signature, args):
            i64, i1 = ir.IntType(64), ir.IntType(1)
            parameters = [i64, i1] if flag else [i64]
            function = builder.module.declare_intrinsic(f"llvm.{name}", [i64], ir.FunctionType(i64, parameters))
            return builder.call(function, [args[0], ir.Constant(i1, 0)] if flag else [args[0]])

        return types.uint64(types.uint64), generate

    return word_instruction


popcount = _unary("ctpop", False)
ctz = _unary("cttz", True)  # 64 for zero
clz = _unary("ctlz", True)  # 64 for zero


def _host_has_pdep() -> bool:
    """Whether the code will be compiled for this processor itself, and it can deposit bits (x86 BMI2)."""
    return not config.CPU_NAME and not config.CPU_FEATURES and bool(llvm.get_host_cpu_features().get("bmi2"))


if _host_has_pdep():

    @intrinsic
    def _deposit(typing_context, x, mask):
        def generate(context, builder, signature, args):
            i64 = ir.IntType(64)
            name = "llvm.x86.bmi.pdep.64"
            function = builder.module.globals.get(name)
            if function is None:
                function = ir.Function(builder.module, ir.FunctionType(i64, [i64, i64]), name)
            return builder.call(function, args)

        return types.uint64(types.uint64, types.uint64), generate

    @kernel
    def select(word, k):
        """The position of the k-th set bit of a word, k from 0; the bit must be there."""
        return ctz(_deposit(ONE << k, word))

else:

    @kernel
    def select(word, k):
        """The position of the k-th set bit of a word, k from 0; the bit must be there."""
        at, width = ZERO, U(32)
        while width != ZERO:
            below = popcount((word >> at) & ((ONE << width) - ONE))
            if k >= below:
                k -= below
                at += width
            width >>= ONE
        return at


@kernel
def highest(word):
    """The position of the highest set bit; 63 for zero, so that the result always indexes."""
    return (LAST - clz(word)) & LAST


@kernel
def mix(z):
    """SplitMix64's output function (Steele, Lea and Flood 2014, https://doi.org/10.1145/2660193.2660195)."""
    z = (z ^ (z >> U(30))) * U(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
    return z ^ (z >> U(31))


@kernel
def below(random, n):
    """A 64-bit random word scaled to 0 … n - 1, for n up to 2**32: its upper half times n, upper half of that."""
    return ((random >> U(32)) * n) >> U(32)
