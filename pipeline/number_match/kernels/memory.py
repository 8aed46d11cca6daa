"""Memory by its bare address, for hot loops.

An array that is passed from function to function is counted in and out each time, with the processor's lock taken: in
a search that costs more than the search. So what the searches work on lies in one block, the *arena*, that the caller
of a door brings along and keeps; they pass on pointers, and each function takes what it needs from the front of the
rest. Pointers are indexed like arrays: `p[i]`, unchecked.
"""
# mypy: disable-error-code="no-untyped-call,no-untyped-def,misc,untyped-decorator"

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WORDS_AT = types.CPointer(types.uint64)
INTS_AT = types.CPointer(types.int64)
BYTES_AT = types.CPointer(types.uint8)


@intrinsic
def pointer(typing_context, array):
    """Where the items of an array begin. `keep` the array, or have the caller keep it, for as long as that is used."""

    def generate(context, builder, signature, args):
        return context.make_array(signature.args[0])(context, builder, args[0]).data

    return (types.CPointer(array.dtype)(array), generate) if isinstance(array, types.Array) else None


@intrinsic
def keep(typing_context, array):
    """Have the array live at least until here."""

    def generate(context, builder, signature, args):
        return cgutils.get_null_value(context.get_value_type(types.none))

    return (types.none(array), generate) if isinstance(array, types.Array) else None


@intrinsic
def ahead(typing_context, at, count):
    """The pointer that lies `count` items further on."""

    def generate(context, builder, signature, args):
        return builder.gep(args[0], [args[1]])

    return (at(at, types.int64), generate) if isinstance(at, types.CPointer) else None


def _cast(to: Any) -> Any:
    @intrinsic
    def cast(typing_context, at):
        def generate(context, builder, signature, args):
            return builder.bitcast(args[0], context.get_value_type(to))

        return (to(at), generate) if isinstance(at, types.CPointer) else None

    return cast


as_ints = _cast(INTS_AT)
as_bytes = _cast(BYTES_AT)
