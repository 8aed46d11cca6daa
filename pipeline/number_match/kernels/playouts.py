"""Playouts: a start position, a player's tables and keys come in; counts of how far the playouts got come out.

A position is five sets of squares. Three hold the classes 1 … 5 in binary, so that a square is active when any of
them has it; the fourth marks the digits above 5; the fifth, `near`, the surroundings of the last action. A hole and a
square that does not exist are alike but for the count `n` of existing squares. Rows that empty are taken out at once
by shifting the squares behind them down.

Which neighbours on a line match is reckoned for all squares together: the class of the next active square is carried
backwards over holes in doubling steps (Kogge and Stone 1973, doi:10.1109/TC.1973.5009159; as on chess boards,
https://www.chessprogramming.org/Kogge-Stone_Algorithm), and for reading order the active squares are moved together
first.

The plain twin that these playouts are held to, action by action, is tests/plain_player.py, on `rules.py`. What a
player's parameters mean is told in `players.py`, which makes the tables. Nothing here checks what it is given.
"""
# mypy: disable-error-code="no-untyped-call,no-untyped-def,misc,untyped-decorator,call-arg,var-annotated"

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload
from numpy.typing import NDArray

from number_match.kernels.bits import GOLDEN, ONE, ZERO, U, below, door, kernel, mix, popcount
from number_match.kernels.memory import pointer
from number_match.kernels.wide import (
    HAS_EXTRACT,
    capacity,
    deposit,
    extract,
    lowest,
    nth,
    part,
    set128,
    set256,
    unowned,
)
from number_match.kernels.words import empty, first, load, size, square, store

MAX_SQUARES = 256
"""A playout whose board would grow past this many squares ends there, not cleared."""
SIZES = (64, 128, MAX_SQUARES)
WORDS = MAX_SQUARES // 64
FARTHEST = U(32)
"""Pairs with this many holes between them, or more, are noticed like pairs with one fewer."""

HIGH, NEAR, HEAD = U(3), U(4), U(5)
"""The rows of a position in memory after the three of the classes."""
N, RANDOM, DONE, ADDS = U(0), U(1), U(2), U(3)
"""What the row HEAD holds."""
NO_READING, ROW_ONLY, WRAP_ONLY, ROW_AND_WRAP = U(0), U(1), U(2), U(3)
"""Which links of reading order are on."""
TWO, SIX, SIXTEEN, THIRTY_TWO = U(2), U(6), U(16), U(32)
IN_WORD = U(63)
ADD_LOGGED = 0xFFFFFFFF
ROW_LINK, COLUMN_LINK, DIAGONAL_LINK, WRAP_LINK = U(0), U(1), U(2), U(3)
AGAIN, SQUARE, NOTICED, SQUARES_OF_PAIR = U(1 << 63), U(0xFFFF), U(511), U(0xFFFFFFFF)
EVEN = U(0x5555555555555555)
LEAST = np.int64(-(2**62))

inlined = njit(nogil=True, error_model="numpy", forceinline=True)
"""For the steps of the hot loops: a call would pass the sets through memory."""
pasted = njit(nogil=True, error_model="numpy", inline="always")
"""For what only passes on: every level of calls would be optimised, with all below it, once more."""


OPENS, ROWS, WORD, LOOK_AHEAD, LOOKS, DELIBERATE, SLIP, DELIBERATE_BELOW, PATIENCE = range(9)
"""What the settings of a noticing player hold, as `players.Integers` tells."""
CLEARED, LOST, WANTS_ADD = U(0), U(1), U(2)


# --------------------------------------------------------------------------------------------------------------- lines
#
# The lines of a ruleset on S squares are one table of sets, uint64 of shape (RECORDS * S + 4, N), in these sections
# of S rows each but for the last, of four.

READING, COLUMN, RIGHT, LEFT = (U(line) for line in range(4))
"""The lines: reading order, and downwards in a column and on the diagonals to the right and left. Row line * S + s:
the squares after s.
"""
ROW_SQUARES = U(4)
"""The squares of the row of s."""
ROWS_BEFORE = U(5)
"""The squares of all rows before that of s."""
AROUND = U(6)
"""The squares at most two rows and two columns from s."""
ROW_NUMBER = U(7)
"""The number of the row of s, in the first word."""
RECORDS = U(8)
"""Row RECORDS * S + line: the squares that the line goes on from."""


def lines_of(width: int, column: bool, diagonal: bool, room: int) -> NDArray[np.uint64]:
    """The table for a board of up to `room` squares, in rows of `width`; a line that is off goes on from no square."""
    whole = (1 << room) - 1
    along = [[whole >> (s + 1) << (s + 1) for s in range(room)]]
    goes_on = [whole]
    for step, sideways, on in ((width, 0, column), (width + 1, 1, diagonal), (width - 1, -1, diagonal)):
        inside = [on and 0 <= s % width + sideways < width and s + step < room for s in range(room)]
        line = [0] * (room + width + 1)
        for s in reversed(range(room)):
            line[s] = (1 << (s + step) | line[s + step]) if inside[s] else 0
        along.append(line[:room])
        goes_on.append(sum(1 << s for s in range(room) if inside[s]))
    starts = [s - s % width for s in range(room)]
    rows = [((1 << width) - 1) << start for start in starts]
    before = [(1 << start) - 1 for start in starts]
    around = []
    for s in range(room):
        columns = range(max(0, s % width - 2), min(width, s % width + 3))
        close = range(max(0, starts[s] - 2 * width), starts[s] + 3 * width, width)
        around.append(sum(1 << (start + column) for start in close for column in columns))
    numbers = [start // width for start in starts]
    sets = [*chain(*along), *rows, *before, *around, *numbers, *goes_on]
    packed = b"".join((squares & whole).to_bytes(room // 8, "little") for squares in sets)
    return np.frombuffer(packed, dtype="<u8").astype(np.uint64).reshape(-1, room // 64)


@inlined
def _record(lines, section, square, like):
    return load(lines, section * capacity(like) + square, like)


@inlined
def _row_number(lines, square, like):
    return load(lines, (ROW_NUMBER * capacity(like) + square) * (capacity(like) >> SIX), ZERO)


@inlined
def _next_on(lines, line, square, a):
    """The next active square after `square` on a line; the number of squares when there is none."""
    return first(a & _record(lines, line, square, a))


# -------------------------------------------------------------------------------------------------- pairs of a position


def _matches_ahead(k0: Any, k1: Any, k2: Any, a: Any, lines: Any, width: Any) -> Any:
    """The squares whose next active square in reading order is of their class."""
    raise NotImplementedError("for compiled code")


@overload(_matches_ahead)
def _typed_matches_ahead(k0, k1, k2, a, lines, width):
    if a == types.uint64 and HAS_EXTRACT:

        def together(k0, k1, k2, a, lines, width):
            c0, c1, c2 = extract(k0, a), extract(k1, a), extract(k2, a)
            return deposit(~((c0 ^ (c0 >> ONE)) | (c1 ^ (c1 >> ONE)) | (c2 ^ (c2 >> ONE))), a)

        return together

    def carried(k0, k1, k2, a, lines, width):
        # no row is empty, so that the next active square is less than two rows away
        return _matches_on_line(k0, k1, k2, a, _record(lines, RECORDS, READING, a), ONE, ONE, width + width)

    return carried


@inlined
def _matches_on_line(k0, k1, k2, a, goes_on, step, unit, n):
    """The squares whose next active square, going by `step` from squares in `goes_on`, is of their class.

    The farthest is n / unit steps away.
    """
    step &= capacity(a) - ONE  # a step past the end, from which nothing goes on, is still a shift that exists
    empty = ~a & goes_on
    v0, v1, v2 = k0, k1, k2
    shift, reach = step, unit
    while reach + unit < n:
        v0 |= empty & (v0 >> shift)
        v1 |= empty & (v1 >> shift)
        v2 |= empty & (v2 >> shift)
        empty &= empty >> shift
        shift = (shift + shift) & (capacity(a) - ONE)
        reach += reach
    return a & goes_on & ~(((v0 >> step) ^ k0) | ((v1 >> step) ^ k1) | ((v2 >> step) ^ k2))


@kernel
def _of_links(m, a, lines, reading):
    """Those of `m` whose next active square in reading order is joined by a link that is on, when only one of row and
    wrap is.
    """
    kept = empty(m)
    while m != empty(m):
        b = lowest(m)
        m &= ~b
        x = first(b)
        same_row = _row_number(lines, x, a) == _row_number(lines, _next_on(lines, READING, x, a), a)
        if (reading == ROW_ONLY and same_row) or (reading == WRAP_ONLY and not same_row):
            kept |= b
    return kept


@inlined
def _links(k0, k1, k2, a, n, lines, width, reading):
    """Four sets, one a line: the squares that the line joins to a later one."""
    m0 = _matches_ahead(k0, k1, k2, a, lines, width)
    if reading != ROW_AND_WRAP:
        m0 = _of_links(m0, a, lines, reading)
    m1 = _matches_on_line(k0, k1, k2, a, _record(lines, RECORDS, COLUMN, a), width, width, n)
    m2 = _matches_on_line(k0, k1, k2, a, _record(lines, RECORDS, RIGHT, a), width + ONE, width, n)
    m3 = _matches_on_line(k0, k1, k2, a, _record(lines, RECORDS, LEFT, a), width - ONE, width, n)
    return m0, m1, m2, m3


@inlined
def _without(k, before, width):
    """The set `k` after the row behind `before` was taken out."""
    return (k & before) | ((k >> width) & ~before)


@inlined
def _remove(k0, k1, k2, a, n, x, q, lines, width):
    """The classes after the pair of squares x < q went, and which rows that emptied: 1 for the row of q, plus 2 for
    that of x.
    """
    kept = ~(square(a, x) | square(a, q))
    k0 &= kept
    k1 &= kept
    k2 &= kept
    a &= kept
    emptied = ZERO
    row = _record(lines, ROW_SQUARES, q, a)
    if a & row == empty(a):
        emptied = ONE
        k0, k1, k2, n = _collapse(k0, k1, k2, n, q, lines, width)
        a = k0 | k1 | k2
    other = _record(lines, ROW_SQUARES, x, a)
    if row != other and a & other == empty(a):
        emptied += TWO
        k0, k1, k2, n = _collapse(k0, k1, k2, n, x, lines, width)
        a = k0 | k1 | k2
    return k0, k1, k2, a, n, emptied


@inlined
def _collapse(k0, k1, k2, n, x, lines, width):
    before = _record(lines, ROWS_BEFORE, x, k0)
    start = size(before)
    n = start if start + width >= n else n - width
    return _without(k0, before, width), _without(k1, before, width), _without(k2, before, width), n


# ------------------------------------------------------------------------------------------------------ uniform playing


def _with_copies(k: Any, a: Any, n: Any) -> Any:
    """The set `k` of n squares with copies of its squares in `a` after them, when they fit; one word only."""
    raise NotImplementedError("for compiled code")


@overload(_with_copies)
def _typed_with_copies(k, a, n):
    if a == types.uint64:
        return lambda k, a, n: k | (extract(k, a) << n)
    return lambda k, a, n: k


@inlined
def _in_one_word(a):
    return capacity(a) == U(64)


@kernel
def _play_uniform(k0, k1, k2, n, random, done, adds, max_adds, lines, width, reading, log, left):
    """Remove random pairs until none is left, Add on a board of one word while the copies fit, and go on.

    Each link that joins a pair is an entry: those of reading order first, then column, right and left, each by its
    first square. An entry is drawn evenly; one whose pair stands in reading order already is drawn again.
    """
    a = k0 | k1 | k2
    while True:
        m0, m1, m2, m3 = _links(k0, k1, k2, a, n, lines, width, reading)
        c0 = size(m0)
        c1 = c0 + size(m1)
        c2 = c1 + size(m2)
        total = c2 + size(m3)
        if total == ZERO:
            cells = size(a)
            left[adds, cells] += 1
            if cells == ZERO or adds == max_adds or not _in_one_word(a) or n + cells > U(64):
                return k0, k1, k2, n, random, done, adds, cells
            k0, k1, k2 = _with_copies(k0, a, n), _with_copies(k1, a, n), _with_copies(k2, a, n)
            a = k0 | k1 | k2
            n += cells
            adds += ONE
            log[done] = ADD_LOGGED
            done += ONE
            continue
        while True:
            random += GOLDEN
            r = below(mix(random), total)
            m, line, skipped = m0, READING, ZERO
            if r >= c0:
                m, line, skipped = m1, COLUMN, c0
            if r >= c1:
                m, line, skipped = m2, RIGHT, c1
            if r >= c2:
                m, line, skipped = m3, LEFT, c2
            x = nth(m, r - skipped)
            q = _next_on(lines, line, x, a)
            if line == READING or reading < WRAP_ONLY or _next_on(lines, READING, x, a) != q:
                break
        k0, k1, k2, a, n, _ = _remove(k0, k1, k2, a, n, x, q, lines, width)
        log[done] = (q << SIXTEEN) | x
        done += ONE


# ----------------------------------------------------------------------------------------------- positions in memory
#
# A position in memory is uint64 of shape (6, WORDS): the three sets of classes, `high`, `near`, and a row that holds
# n, the state of the generator, the actions made and the Adds made. Words past the size of set that n squares need
# hold anything.


@inlined
def _row_in(row, like):
    """The number of a row of a position, counted in sets of the type of `like`."""
    return row * (U(MAX_SQUARES) // capacity(like))


@kernel
def _append(position, log):
    """Add: copies of all active squares after the last one, which become what is near; False when they do not fit."""
    n = position[HEAD, N]
    used = (n + IN_WORD) >> SIX
    for row in range(5):
        for i in range(np.int64(used), WORDS):
            position[U(row), U(i)] = ZERO
    active = ZERO
    for i in range(used):
        active += popcount(position[U(0), U(i)] | position[U(1), U(i)] | position[U(2), U(i)])
    if n + active > U(MAX_SQUARES):
        return False
    at = n
    for i in range(used):
        w = U(i)
        inside = ~ZERO if n >= (w + ONE) << SIX else (ONE << (n & IN_WORD)) - ONE
        a = (position[U(0), w] | position[U(1), w] | position[U(2), w]) & inside
        added = popcount(a)
        for row in range(4):
            _place(position, U(row), at, extract(position[U(row), w], a))
        at += added
    for i in range(WORDS):
        position[NEAR, U(i)] = ZERO
    while n < at:
        _place(position, NEAR, n, ~ZERO if at - n >= U(64) else (ONE << (at - n)) - ONE)
        n += U(64)
    log[position[HEAD, DONE]] = ADD_LOGGED
    position[HEAD, N] = at
    position[HEAD, DONE] += ONE
    position[HEAD, ADDS] += ONE
    return True


@kernel
def _place(position, row, at, bits):
    """Put a word's bits at the squares from `at` on, which are free."""
    word, shift = at >> SIX, at & IN_WORD
    if bits == ZERO:
        return
    position[row, word] |= bits << shift
    if shift != ZERO and bits >> (U(64) - shift) != ZERO:
        position[row, word + ONE] |= bits >> (U(64) - shift)


@pasted
def _uniform_from(source, position, max_adds, lines, width, reading, log, left, like):
    """`_play_uniform` from a position in memory to another; the number of cells left."""
    begin, end = pointer(source), pointer(position)
    k0, k1, k2, n, random, done, adds, cells = _play_uniform(
        load(begin, _row_in(U(0), like), like),
        load(begin, _row_in(U(1), like), like),
        load(begin, _row_in(U(2), like), like),
        source[HEAD, N],
        source[HEAD, RANDOM],
        source[HEAD, DONE],
        source[HEAD, ADDS],
        max_adds,
        lines,
        width,
        reading,
        log,
        left,
    )
    store(end, _row_in(U(0), like), k0)
    store(end, _row_in(U(1), like), k1)
    store(end, _row_in(U(2), like), k2)
    position[HEAD, N] = n
    position[HEAD, RANDOM] = random
    position[HEAD, DONE] = done
    position[HEAD, ADDS] = adds
    return cells


@door
def play_uniform(start, keys, max_adds, ruleset, tables, buffers, tallies):
    """Playouts of the uniform player, who Adds only when no pair is left, so that one playout serves every allowance.

    start: a position in memory; keys: uint64, one a playout; ruleset: (width, links of reading order); tables: those of
    `lines_of` for each of SIZES; buffers: a position and a log of actions, uint32.
    tallies, int64, are counted up: left[a, c], playouts that end with c active squares (0 is cleared) within
    allowance a; used[k] and actions[m], playouts cleared within max_adds, by their Adds and their actions.
    """
    start, position, log = unowned(start), unowned(buffers[0]), unowned(buffers[1])
    left, used, actions = unowned(tallies[0]), unowned(tallies[1]), unowned(tallies[2])
    width, reading = ruleset
    lines64, lines128, lines256 = pointer(tables[0]), pointer(tables[1]), pointer(tables[2])
    most = U(max_adds)
    for key in keys:
        start[HEAD, RANDOM] = key
        source = start
        while True:
            n = source[HEAD, N]
            if n <= U(64) and width < U(63):
                cells = _uniform_from(source, position, most, lines64, width, reading, log, left, ZERO)
            elif n <= U(128) and width < U(127):
                cells = _uniform_from(source, position, most, lines128, width, reading, log, left, set128())
            else:
                cells = _uniform_from(source, position, most, lines256, width, reading, log, left, set256())
            source = position
            adds = position[HEAD, ADDS]
            if cells == ZERO:
                used[adds] += 1
                actions[position[HEAD, DONE]] += 1
            if cells == ZERO or adds == most or not _append(position, log):
                for more in range(np.int64(adds) + 1, max_adds + 1):
                    left[U(more), cells] += 1
                break


# ---------------------------------------------------------------------------------------------------- noticing players


@inlined
def _follow(k, x, q, emptied, lines, width):
    """The set `k` after the rows went that `_remove` emptied."""
    if emptied & ONE != ZERO:
        k = _without(k, _record(lines, ROWS_BEFORE, q, k), width)
    if emptied & TWO != ZERO:
        k = _without(k, _record(lines, ROWS_BEFORE, x, k), width)
    return k


@kernel
def _entries(k0, k1, k2, high, near, n, lines, width, reading, notice, pairs, chances):
    """List every link of every pair, in the order of `_play_uniform`; how many there are, and whether any stands
    there twice.

    A pair is its squares x + q * 2**16, and by 2**32 its index in `notice`, which chances are read from. A pair that
    already stands in reading order has the highest bit as well.
    """
    a = k0 | k1 | k2
    m0, m1, m2, m3 = _links(k0, k1, k2, a, n, lines, width, reading)
    found, again = _list(m0, a, high, near, READING, lines, reading, notice, pairs, chances, ZERO, ZERO)
    found, again = _list(m1, a, high, near, COLUMN, lines, reading, notice, pairs, chances, found, again)
    found, again = _list(m2, a, high, near, RIGHT, lines, reading, notice, pairs, chances, found, again)
    return _list(m3, a, high, near, LEFT, lines, reading, notice, pairs, chances, found, again)


@inlined
def _list(m, a, high, near, line, lines, reading, notice, pairs, chances, found, again):
    """Append the links that a line makes from the squares of `m`; the entries so far, and a bit when pairs stand
    there twice.
    """
    while m != empty(m):
        b = lowest(m)
        m ^= b
        x = first(b)
        q = _next_on(lines, line, x, a)
        both = b | square(a, q)
        rows_down = _row_number(lines, q, a) - _row_number(lines, x, a)
        pair = (q << SIXTEEN) | x
        if line == READING:
            link = ROW_LINK if rows_down == ZERO else WRAP_LINK
            holes = q - x - ONE
        else:
            link = COLUMN_LINK if line == COLUMN else DIAGONAL_LINK
            holes = rows_down - ONE
            if reading >= WRAP_ONLY and _next_on(lines, READING, x, a) == q:
                pair |= AGAIN
                again = ONE
        sums = size(high & both) & ONE
        is_near = ZERO if near & both == empty(a) else ONE
        holes = holes if holes < FARTHEST else FARTHEST - ONE
        index = ((link * TWO + sums) * TWO + is_near) * FARTHEST + holes
        pairs[found] = pair | (index << THIRTY_TWO)
        chances[found] = notice[index]
        found += ONE
    return found, again


def _word_length(k0: Any, k1: Any, k2: Any, a: Any, stack: Any) -> Any:
    """The length of the reduced word."""
    raise NotImplementedError("for compiled code")


@overload(_word_length)
def _typed_word_length(k0, k1, k2, a, stack):
    if not HAS_EXTRACT:

        def with_stack(k0, k1, k2, a, stack):
            length = ZERO
            while a != empty(a):
                b = lowest(a)
                a ^= b
                letter = size(k0 & b) | (size(k1 & b) << ONE) | (size(k2 & b) << TWO)
                length = _push(stack, length, letter)
            return length

        return with_stack
    if a == types.uint64:

        def of_word(k0, k1, k2, a, stack):
            return _cancel(extract(k0, a), extract(k1, a), extract(k2, a), popcount(a))[3]

        return of_word

    def by_words(k0, k1, k2, a, stack):
        length = ZERO
        for number in range(capacity(a) >> SIX):
            active = part(a, U(number))
            if active != ZERO:
                c0, c1, c2 = part(k0, U(number)), part(k1, U(number)), part(k2, U(number))
                c0, c1, c2 = extract(c0, active), extract(c1, active), extract(c2, active)
                c0, c1, c2, letters = _cancel(c0, c1, c2, popcount(active))
                for i in range(letters):
                    at = U(i)
                    letter = ((c0 >> at) & ONE) | (((c1 >> at) & ONE) << ONE) | (((c2 >> at) & ONE) << TWO)
                    length = _push(stack, length, letter)
        return length

    return by_words


@inlined
def _push(stack, length, letter):
    """Put a letter on a stack, or cancel it with the one on top; the new length."""
    if length != ZERO and stack[length - ONE] == letter:
        return length - ONE
    stack[length] = letter
    return length + ONE


@inlined
def _cancel(c0, c1, c2, length):
    """A word of up to 64 letters, reduced: all pairs of neighbours that do not overlap at once, until there are none.

    The end does not depend on the order. In a run of letters that match their next one, every other letter begins a
    pair; the runs that start at even places are told apart by the carry of an addition.
    """
    while length > ONE:
        inside = (ONE << (length - ONE)) - ONE
        alike = ~((c0 ^ (c0 >> ONE)) | (c1 ^ (c1 >> ONE)) | (c2 ^ (c2 >> ONE))) & inside
        if alike == ZERO:
            break
        from_even = alike & ~(alike + (alike & ~(alike << ONE) & EVEN))
        begins = (from_even & EVEN) | (alike & ~from_even & ~EVEN)
        rest = ((inside << ONE) | ONE) & ~(begins | (begins << ONE))
        c0, c1, c2 = extract(c0, rest), extract(c1, rest), extract(c2, rest)
        length = popcount(rest)
    return c0, c1, c2, length


@kernel
def _worth(k0, k1, k2, a, n, x, q, lines, width, reading, settings, stack):
    """The value of removing a pair, but for its salience, when looking one action ahead, in 1/64."""
    k0, k1, k2, a, n, emptied = _remove(k0, k1, k2, a, n, x, q, lines, width)
    return np.int64(popcount(emptied)) * settings[ROWS] + _stand(
        k0, k1, k2, a, n, lines, width, reading, settings, stack
    )


@inlined
def _stand(k0, k1, k2, a, n, lines, width, reading, settings, stack):
    """The value of a position: what is open, and how long the reduced word is."""
    m0, m1, m2, m3 = _links(k0, k1, k2, a, n, lines, width, reading)
    value = settings[OPENS] * np.int64(size(m0) + size(m1) + size(m2) + size(m3))
    if reading == ROW_AND_WRAP and settings[WORD] != 0:
        value -= settings[WORD] * np.int64(_word_length(k0, k1, k2, a, stack))
    return value


@kernel
def _worth_with_reply(k0, k1, k2, high, a, n, x, q, lines, width, reading, settings, notice, pairs, chances, stack):
    """The value of removing a pair and then the best of the three most salient, or of what is left when there is
    none.
    """
    high &= ~(square(a, x) | square(a, q))
    k0, k1, k2, a, n, emptied = _remove(k0, k1, k2, a, n, x, q, lines, width)
    high = _follow(high, x, q, emptied, lines, width)
    found, _ = _entries(k0, k1, k2, high, empty(a), n, lines, width, reading, notice, pairs, chances)
    own = np.int64(popcount(emptied)) * settings[ROWS]
    if found == ZERO:
        return own + _stand(k0, k1, k2, a, n, lines, width, reading, settings, stack)
    _keep_three(pairs, chances, found)
    best = LEAST
    for i in range(min(found, U(3))):
        x, q = pairs[i] & SQUARE, (pairs[i] >> SIXTEEN) & SQUARE
        best = max(best, _worth(k0, k1, k2, a, n, x, q, lines, width, reading, settings, stack))
    return own + best


@inlined
def _empties(a, x, q, lines):
    """How many rows removing a pair empties."""
    rest = a & ~(square(a, x) | square(a, q))
    row, other = _record(lines, ROW_SQUARES, x, a), _record(lines, ROW_SQUARES, q, a)
    emptied = 1 if rest & row == empty(a) else 0
    return emptied + (1 if row != other and rest & other == empty(a) else 0)


@kernel
def _keep_three(pairs, chances, found):
    """Move the three entries of the highest chances to the front, the first of equals first; the others in any
    order.
    """
    for place in range(min(found, U(3))):
        at = U(place)
        best = at
        for i in range(place + 1, found):
            if chances[U(i)] > chances[best]:
                best = U(i)
        pair, chance = pairs[best], chances[best]
        for i in range(best, at, -1):  # the entries between keep their order
            pairs[U(i)], chances[U(i)] = pairs[U(i) - ONE], chances[U(i) - ONE]
        pairs[at], chances[at] = pair, chance


@kernel
def _play_noticing(k0, k1, k2, high, near, n, random, done, off, lines, width, reading, player, lists, log):
    """Look, choose and play until the board is cleared, the player wants an Add, or, when Adds are `off`, gives up."""
    notice, salience, exponential, weights, settings = player
    pairs, chances, seen, seen_chances, values, reply_pairs, reply_chances, stack = lists
    while True:
        a = k0 | k1 | k2
        found, again = _entries(k0, k1, k2, high, near, n, lines, width, reading, notice, pairs, chances)
        if found == ZERO:
            outcome = CLEARED if a == empty(a) else (LOST if off != ZERO else WANTS_ADD)
            return k0, k1, k2, high, near, n, random, done, outcome
        looks = 0
        while True:  # look
            sees = ZERO
            for i in range(found):
                random += GOLDEN
                seen[sees], seen_chances[sees] = pairs[i], chances[i]
                sees += U(mix(random) >> THIRTY_TWO < chances[i])
                if again != ZERO and sees != ZERO and seen[sees - ONE] >= AGAIN:
                    sees = _unless_among(seen, sees)
            if sees != ZERO:
                break
            looks += 1
            if looks == settings[PATIENCE if off != ZERO else LOOKS]:
                return k0, k1, k2, high, near, n, random, done, (LOST if off != ZERO else WANTS_ADD)
        if off == ZERO and settings[DELIBERATE] > 0 and sees <= U(settings[DELIBERATE_BELOW]):
            random += GOLDEN
            if mix(random) >> THIRTY_TWO < U(settings[DELIBERATE]):
                return k0, k1, k2, high, near, n, random, done, WANTS_ADD
        chosen = ZERO
        slipped = False
        if sees > ONE:
            if settings[SLIP] > 0:
                random += GOLDEN
                if mix(random) >> THIRTY_TWO < U(settings[SLIP]):
                    slipped = True
                    random += GOLDEN
                    chosen = below(mix(random), sees)
            if not slipped:
                if settings[LOOK_AHEAD] == 2:
                    _keep_three(seen, seen_chances, sees)
                    sees = min(sees, U(3))
                highest = LEAST
                for i in range(sees):
                    x, q = seen[i] & SQUARE, (seen[i] >> SIXTEEN) & SQUARE
                    value = salience[(seen[i] >> THIRTY_TWO) & NOTICED]
                    if settings[LOOK_AHEAD] == 0:
                        value += settings[ROWS] * _empties(a, x, q, lines)
                    elif settings[LOOK_AHEAD] == 1:
                        value += _worth(k0, k1, k2, a, n, x, q, lines, width, reading, settings, stack)
                    else:
                        value += _worth_with_reply(
                            k0, k1, k2, high, a, n, x, q, lines, width, reading, settings, notice,
                            reply_pairs, reply_chances, stack,
                        )  # fmt: skip
                    values[i] = value
                    highest = max(highest, value)
                random += GOLDEN
                chosen = _draw(values, sees, highest, exponential, weights, mix(random))
        x, q = seen[chosen] & SQUARE, (seen[chosen] >> SIXTEEN) & SQUARE
        k0, k1, k2, a, n, emptied = _remove(k0, k1, k2, a, n, x, q, lines, width)
        high = _follow(high & ~(square(a, x) | square(a, q)), x, q, emptied, lines, width)
        near = _follow(_record(lines, AROUND, x, a) | _record(lines, AROUND, q, a), x, q, emptied, lines, width)
        log[done] = (q << SIXTEEN) | x
        done += ONE


@inlined
def _unless_among(seen, sees):
    """How many were seen, when the last is a pair that counts only if it was not seen in reading order; its mark
    goes.
    """
    last = seen[sees - ONE] & ~AGAIN
    seen[sees - ONE] = last
    for i in range(sees - ONE):
        if seen[i] & SQUARES_OF_PAIR == last & SQUARES_OF_PAIR:
            return sees - ONE
    return sees


@inlined
def _draw(values, how_many, highest, exponential, weights, random):
    """One of the values, by weights exponential[highest - value]."""
    total = ZERO
    for i in range(how_many):
        behind = highest - values[i]
        total += exponential[behind] if behind < weights else ZERO
    rest = random % total
    for i in range(how_many):
        behind = highest - values[i]
        weight = exponential[behind] if behind < weights else ZERO
        if rest < weight:
            return U(i)
        rest -= weight
    return how_many - ONE  # never: the weights sum to more than the rest


@pasted
def _noticing_from(source, position, off, lines, width, reading, player, lists, log, like):
    """`_play_noticing` from a position in memory to another; how it ended."""
    begin, end = pointer(source), pointer(position)
    k0, k1, k2, high, near, n, random, done, outcome = _play_noticing(
        load(begin, _row_in(U(0), like), like),
        load(begin, _row_in(U(1), like), like),
        load(begin, _row_in(U(2), like), like),
        load(begin, _row_in(HIGH, like), like),
        load(begin, _row_in(NEAR, like), like),
        source[HEAD, N],
        source[HEAD, RANDOM],
        source[HEAD, DONE],
        off,
        lines,
        width,
        reading,
        player,
        lists,
        log,
    )
    store(end, _row_in(U(0), like), k0)
    store(end, _row_in(U(1), like), k1)
    store(end, _row_in(U(2), like), k2)
    store(end, _row_in(HIGH, like), high)
    store(end, _row_in(NEAR, like), near)
    position[HEAD, N] = n
    position[HEAD, RANDOM] = random
    position[HEAD, DONE] = done
    position[HEAD, ADDS] = source[HEAD, ADDS]
    return outcome


@pasted
def _play_on(source, position, off, ruleset, lines, player, lists, log):
    width, reading = ruleset
    n = source[HEAD, N]
    if n <= U(64) and width < U(63):
        return _noticing_from(source, position, off, lines[0], width, reading, player, lists, log, ZERO)
    if n <= U(128) and width < U(127):
        return _noticing_from(source, position, off, lines[1], width, reading, player, lists, log, set128())
    return _noticing_from(source, position, off, lines[2], width, reading, player, lists, log, set256())


@kernel
def _cells(position):
    """The active squares of a position in memory."""
    cells = ZERO
    for i in range((position[HEAD, N] + IN_WORD) >> SIX):
        cells += popcount(position[U(0), U(i)] | position[U(1), U(i)] | position[U(2), U(i)])
    return cells


@door
def play_noticing(start, keys, max_adds, ruleset, tables, player, buffers, lists, tallies):
    """Playouts of a noticing player. Where it Adds, a branch plays on from there without, and decides that allowance.

    player: its notice, salience, exponential and settings (`players.Integers`); buffers: two positions and a log of
    actions, uint32; lists: as `new_lists` makes them; the others are as for `play_uniform`.
    """
    start, position, branch, log = unowned(start), unowned(buffers[0]), unowned(buffers[1]), unowned(buffers[2])
    left, used, actions = tallies
    weights = len(player[2])
    player = (pointer(player[0]), pointer(player[1]), pointer(player[2]), weights, pointer(player[3]))
    pairs, chances, seen, seen_chances, values, reply_pairs, reply_chances, stack = lists
    lists = (
        pointer(pairs),
        pointer(chances),
        pointer(seen),
        pointer(seen_chances),
        pointer(values),
        pointer(reply_pairs),
        pointer(reply_chances),
        pointer(stack),
    )
    lines = (pointer(tables[0]), pointer(tables[1]), pointer(tables[2]))
    for key in keys:
        start[HEAD, RANDOM] = key
        source = start
        for adds in range(max_adds + 1):
            outcome = _play_on(source, position, ZERO, ruleset, lines, player, lists, log)
            source = end = position
            wants = outcome == WANTS_ADD
            if wants:
                end = position if adds == max_adds else branch
                outcome = _play_on(position, end, ONE, ruleset, lines, player, lists, log)
            left[adds, _cells(end)] += 1
            if wants and adds < max_adds and _append(position, log):
                continue
            if outcome == CLEARED and (not wants or adds == max_adds):
                used[adds] += 1
                actions[position[HEAD, DONE]] += 1
            cells = _cells(position)
            for more in range(adds + 1, max_adds + 1):
                left[more, cells] += 1
            break


def new_lists() -> tuple[NDArray[Any], ...]:
    """Buffers of a noticing player: pairs and chances of all entries, of the seen ones, values, those of replies, a
    stack.
    """
    entries = 4 * MAX_SQUARES
    unsigned = [np.zeros(entries, np.uint64) for _ in range(6)]
    return (*unsigned[:4], np.zeros(entries, np.int64), *unsigned[4:], np.zeros(MAX_SQUARES, np.uint64))


def warm_up() -> None:
    """Compile everything here, by playouts that are over at once."""
    start, keys, tables = (
        np.zeros((6, WORDS), np.uint64),
        np.zeros(1, np.uint64),
        tuple(lines_of(9, True, True, room) for room in SIZES),
    )
    log = np.zeros(1, np.uint32)
    tallies = (np.zeros((1, MAX_SQUARES + 1), np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
    player = (np.zeros(512, np.uint64), np.zeros(512, np.int64), np.zeros(1, np.uint64), np.zeros(9, np.int64))
    play_uniform(start, keys, 0, (U(9), U(3)), tables, (start.copy(), log), tallies)
    buffers = (start.copy(), start.copy(), log)
    play_noticing(start, keys, 0, (U(9), U(3)), tables, player, buffers, new_lists(), tallies)
