"""Playouts: a start position, a player's tables and keys come in; counts of how far the playouts got come out.

A position is five sets of squares. Three hold the classes 1 … 5 in binary, so that a square is active when any of them has
it; the fourth marks the digits above 5; the fifth, `near`, the surroundings of the last action. A hole and a square that
does not exist are alike but for the count `n` of existing squares. Rows that empty are taken out at once by shifting the
squares behind them down.

Which neighbours on a line match is reckoned for all squares together: the class of the next active square is carried
backwards over holes in doubling steps (Kogge and Stone 1973, doi:10.1109/TC.1973.5009159; as on chess boards,
https://www.chessprogramming.org/Kogge-Stone_Algorithm), and for reading order the active squares are moved together first.

The plain twin that these playouts are held to, action by action, is tests/plain_player.py, on `rules.py`. What a player's
parameters mean is told in `players.py`, which makes the tables. Nothing here checks what it is given.
"""
# mypy: disable-error-code="no-untyped-call,no-untyped-def,misc,untyped-decorator,call-arg,var-annotated"

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload
from numpy.typing import NDArray

from number_match.kernels.bits import GOLDEN, ONE, ZERO, U, below, kernel, mix, popcount
from number_match.kernels.wide import HAS_EXTRACT, capacity, deposit, extract, fetch, lowest, nth, set512
from number_match.kernels.words import empty, first, set128, size, square, store

MAX_SQUARES = 512
"""A playout whose board would grow past this many squares ends there, not cleared."""
SIZES = (64, 128, MAX_SQUARES)
WORDS = MAX_SQUARES // 64
FARTHEST = 32
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

inlined = njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
"""For the steps of the hot loops: a call would pass the sets through memory."""


class Tables(NamedTuple):
    """A noticing player, in integers; made by `players.py`."""

    notice: NDArray[np.uint64]
    """(512,): chance of being seen in a look, of 2**32, at ((link * 2 + sums to ten) * 2 + near) * 32 + holes between"""
    salience: NDArray[np.int64]
    """(512,): what that adds to the value of the pair, in 1/64"""
    exponential: NDArray[np.uint64]
    """2**32 exp(-d / 64) at d, at most 2**32 - 1; 0 past the end"""
    settings: NDArray[np.int64]
    """(9,): opens, rows, word (values in 1/64), look ahead, looks, deliberate, slip (chances of 2**32), deliberate_below, patience"""


OPENS, ROWS, WORD, LOOK_AHEAD, LOOKS, DELIBERATE, SLIP, DELIBERATE_BELOW, PATIENCE = range(9)
ROW_LINK, COLUMN_LINK, DIAGONAL_LINK, WRAP_LINK = range(4)


# --------------------------------------------------------------------------------------------------------------- lines
#
# The lines of a ruleset on S squares are one table of sets, uint64 of shape (RECORDS * S + 4, N), in these sections of S
# rows each but for the last, of four.

READING, COLUMN, RIGHT, LEFT = (U(line) for line in range(4))
"""The lines: reading order, and downwards in a column and on the diagonals to the right and left. Row line * S + s: the squares after s."""
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
        inside = [on and 0 <= s % width + sideways < width for s in range(room)]
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
    return fetch(lines, section * capacity(like) + square, like)


@inlined
def _row_number(lines, square, like):
    return fetch(lines, (ROW_NUMBER * capacity(like) + square) * (capacity(like) >> SIX), ZERO)


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
    """Those of `m` whose next active square in reading order is joined by a link that is on, when only one of row and wrap is."""
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
    """The classes after the pair of squares x < q went, and which rows that emptied: 1 for the row of q, plus 2 for that of x."""
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

    Each link that joins a pair is an entry: those of reading order first, then column, right and left, each by its first
    square. An entry is drawn evenly; one whose pair stands in reading order already is drawn again.
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
# A position in memory is uint64 of shape (6, WORDS): the three sets of classes, `high`, `near`, and a row that holds n, the
# state of the generator, the actions made and the Adds made. Words past the size of set that n squares need hold anything.


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


@inlined
def _uniform_from(source, position, max_adds, lines, width, reading, log, left, like):
    """`_play_uniform` from a position in memory to another; the number of cells left."""
    begin = U(source.ctypes.data)
    k0, k1, k2, n, random, done, adds, cells = _play_uniform(
        fetch(begin, _row_in(U(0), like), like),
        fetch(begin, _row_in(U(1), like), like),
        fetch(begin, _row_in(U(2), like), like),
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
    store(position, _row_in(U(0), like), k0)
    store(position, _row_in(U(1), like), k1)
    store(position, _row_in(U(2), like), k2)
    position[HEAD, N] = n
    position[HEAD, RANDOM] = random
    position[HEAD, DONE] = done
    position[HEAD, ADDS] = adds
    return cells


@kernel
def play_uniform(start, keys, max_adds, ruleset, tables, buffers, tallies):
    """Playouts of the uniform player, who Adds only when no pair is left, so that one playout serves every allowance.

    start: a position in memory; keys: uint64, one a playout; ruleset: (width, links of reading order); tables: those of
    `lines_of` for each of SIZES; buffers: a position and a log of actions, uint32.
    tallies, int64, are counted up: left[a, c], playouts that end with c active squares (0 is cleared) within allowance a;
    used[k] and actions[m], playouts cleared within max_adds, by their Adds and their actions.
    """
    position, log = buffers
    left, used, actions = tallies
    width, reading = ruleset
    lines64, lines128, lines512 = U(tables[0].ctypes.data), U(tables[1].ctypes.data), U(tables[2].ctypes.data)
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
                cells = _uniform_from(source, position, most, lines512, width, reading, log, left, set512())
            source = position
            adds = position[HEAD, ADDS]
            if cells == ZERO:
                used[adds] += 1
                actions[position[HEAD, DONE]] += 1
            if cells == ZERO or adds == most or not _append(position, log):
                for more in range(np.int64(adds) + 1, max_adds + 1):
                    left[U(more), cells] += 1
                break


def warm_up() -> None:
    """Compile everything here, by one playout that is over at once."""
    position, log = np.zeros((6, WORDS), np.uint64), np.zeros(1, np.uint32)
    tallies = (np.zeros((1, MAX_SQUARES + 1), np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
    tables = tuple(lines_of(9, True, True, room) for room in SIZES)
    play_uniform(position, np.zeros(1, np.uint64), 0, (U(9), U(3)), tables, (position.copy(), log), tallies)
