"""The rules on arrays, one by one as in DESIGN.md section 2: pairs, play, Add, undo, perft.

A position is `cells` (uint8, 0 is a hole, digits 1-9) of which the first `n` exist, no row of them empty. Nothing is
checked. The searches and playouts keep sets of squares instead; this is the plain form that perft counts on.
"""
# mypy: disable-error-code="no-untyped-call,no-untyped-def,misc,untyped-decorator"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from number_match.kernels.bits import U, door, kernel, mix

ROW, COLUMN, DIAGONAL, WRAP = 1, 2, 4, 8
UNDO = 7
"""Ints of an undo record: i, j, their digits, n before, the lower and the upper row that vanished (-1 for none)."""

FNV_OFFSET, FNV_PRIME = U(0xCBF29CE484222325), U(0x100000001B3)
DOT, SLASH, SPACE, PLUS, ZERO_DIGIT, DASH = U(46), U(47), U(32), U(43), U(48), U(45)


@kernel
def matches(a, b):
    return a == b or a + b == 10


@door
def pairs(cells, n, width, links, out):
    """Write every pair as `i << 16 | j`, in order, each once; returns their number. `out` has room for 4 n."""
    count = 0
    for i in range(n):
        digit = cells[i]
        if digit == 0:
            continue
        column, begin = i % width, count
        j = i + 1
        while j < n and cells[j] == 0:
            j += 1
        same_row = j < n and j // width == i // width
        if j < n and matches(digit, cells[j]) and links & (ROW if same_row else WRAP):
            out[count] = i << 16 | j
            count += 1
        for step in range(-1, 2):
            if not links & (DIAGONAL if step else COLUMN):
                continue
            j, at = i + width + step, column + step
            while 0 <= at < width and j < n and cells[j] == 0:
                j += width + step
                at += step
            if not (0 <= at < width and j < n and matches(digit, cells[j])):
                continue
            key = i << 16 | j
            k = count
            while k > begin and out[k - 1] > key:
                k -= 1
            if k > begin and out[k - 1] == key:
                continue  # joined by two links, still one pair
            for later in range(count, k, -1):
                out[later] = out[later - 1]
            out[k] = key
            count += 1
    return count


@kernel
def row_is_empty(cells, n, width, row):
    for k in range(row * width, min((row + 1) * width, n)):
        if cells[k]:
            return False
    return True


@kernel
def drop_row(cells, n, width, row):
    """Rule 4: the rows below move up. Returns the new n."""
    end = min((row + 1) * width, n)
    for k in range(end, n):
        cells[k - width] = cells[k]
    return n - (end - row * width)


@door
def play(cells, n, width, i, j, undo):
    """Remove the pair i < j, let empty rows vanish, note in `undo` how to go back. Returns the new n."""
    undo[0], undo[1], undo[2], undo[3], undo[4], undo[5], undo[6] = i, j, cells[i], cells[j], n, -1, -1
    cells[i] = cells[j] = 0
    upper, lower = i // width, j // width
    if row_is_empty(cells, n, width, lower):
        n = drop_row(cells, n, width, lower)
        undo[5] = lower
    if upper != lower and row_is_empty(cells, n, width, upper):
        n = drop_row(cells, n, width, upper)
        undo[6] = upper
    return n


@kernel
def insert_row(cells, n, width, row, n_before):
    """Put an empty row back; `n_before` says how long it was if it was the last. Returns the new n."""
    length = min(width, n_before - row * width)
    for k in range(n - 1, row * width - 1, -1):
        cells[k + width] = cells[k]
    for k in range(row * width, row * width + length):
        cells[k] = 0
    return n + length


@door
def unplay(cells, n, width, undo):
    """Take the pair of an undo record back. Returns the n before it."""
    if undo[6] >= 0:
        n = insert_row(cells, n, width, undo[6], undo[4])
    if undo[5] >= 0:
        n = insert_row(cells, n, width, undo[5], undo[4])
    cells[undo[0]], cells[undo[1]] = undo[2], undo[3]
    return n


@door
def add(cells, n):
    """Rule 5. Returns the new n; `cells` has room for 2 n. To go back, take the old n."""
    end = n
    for k in range(n):
        if cells[k]:
            cells[end] = cells[k]
            end += 1
    return end


# ------------------------------------------------------------------------------------------------------------- perft


@kernel
def hashed(value, byte):
    return (value ^ byte) * FNV_PRIME


@kernel
def hash_cells(cells, start, n, width, value):
    """FNV-1a over the text of the cells from `start`, each row but the first behind its slash."""
    column = start % width
    for k in range(start, n):
        if column == 0 and k:
            value = hashed(value, SLASH)
        value = hashed(value, ZERO_DIGIT + U(cells[k]) if cells[k] else DOT)
        column += 1
        if column == width:
            column = 0
    return value


@kernel
def hash_adds(value, adds):
    """FNV-1a over ` +N`."""
    value = hashed(hashed(value, SPACE), PLUS)
    ten = 1
    while ten * 10 <= adds:
        ten *= 10
    while ten:
        value = hashed(value, ZERO_DIGIT + U(adds // ten % 10))
        ten //= 10
    return value


@kernel
def hash_board(cells, n, width, adds):
    value = hash_cells(cells, 0, n, width, FNV_OFFSET) if n else hashed(FNV_OFFSET, DASH)
    return hash_adds(value, adds)


class Space(NamedTuple):
    """Work space of perft: one row for every depth, and a memo of positions for every depth."""

    found: Any  # int64, the pairs
    undo: Any  # int64, the undo record
    prefix: Any  # uint64, one a cell
    key: Any  # uint8 (depth, slot, cell): the cells of the position in that slot
    key_n: Any  # int64 (depth, slot): how many they are, 0 for none
    key_adds: Any  # int64 (depth, slot)
    count: Any  # int64 (depth, slot): what perft is there
    checksum: Any  # uint64 (depth, slot)


@kernel
def memo_slot(cells, n, adds, slots):
    """The one slot where a position may lie."""
    value = FNV_OFFSET ^ U(adds)
    words = cells.view(np.uint64)
    for k in range(n // 8):
        value = mix(value ^ words[k])
    for k in range(n // 8 * 8, n):
        value = hashed(value, U(cells[k]))
    return np.int64(mix(value) & U(slots - 1))


@kernel
def same_cells(cells, key, n):
    for k in range(n):
        if cells[k] != key[k]:
            return False
    return True


@kernel
def perft(cells, n, width, links, adds, depth, space):
    """Sequences of exactly `depth` actions and the sum of their leaves' checksums modulo 2**64.

    Pairs far apart can be taken in any order, so most positions come up many times: the memo, exact to the cell, gives
    back what is known of them.
    """
    if depth == 0:
        return 1, hash_board(cells, n, width, adds)
    slot = memo_slot(cells, n, adds, space.key.shape[1])
    known = n and space.key_n[depth, slot] == n and space.key_adds[depth, slot] == adds
    if known and same_cells(cells, space.key[depth, slot], n):
        return space.count[depth, slot], space.checksum[depth, slot]
    total, checksum = 0, U(0)
    found, undo, prefix = space.found[depth], space.undo[depth], space.prefix
    number = pairs(cells, n, width, links, found)
    if depth == 1:
        # a leaf's text begins like its parent's, up to the first cell of the pair
        value = FNV_OFFSET
        for k in range(n):
            prefix[k] = value
            value = hash_cells(cells, k, k + 1, width, value)
    for p in range(number):
        i, j = found[p] >> 16, found[p] & 0xFFFF
        m = play(cells, n, width, i, j, undo)
        if depth > 1:
            below, below_checksum = perft(cells, m, width, links, adds, depth - 1, space)
            total += below
            checksum += below_checksum
        elif m == n:
            total += 1
            checksum += hash_adds(hash_cells(cells, i, n, width, prefix[i]), adds)
        else:
            total += 1
            checksum += hash_board(cells, m, width, adds)
        unplay(cells, m, width, undo)
    if adds and n:
        m = add(cells, n)
        below, below_checksum = perft(cells, m, width, links, adds - 1, depth - 1, space)
        total += below
        checksum += below_checksum
    space.key[depth, slot, :n] = cells[:n]
    space.key_n[depth, slot], space.key_adds[depth, slot] = n, adds
    space.count[depth, slot], space.checksum[depth, slot] = total, checksum
    return total, checksum


@door
def perft_board(digits, width, links, adds, depth):
    """`perft` of a board, with work space made for it: the memo takes at most 64 MiB beside the smallest there is."""
    room = ((digits.size << min(adds, depth)) + 7) // 8 * 8
    slots = 1 << 16
    while slots > 64 and slots * (depth + 1) * (room + 32) > 1 << 26:
        slots //= 2
    cells = np.zeros(room, np.uint8)
    cells[: digits.size] = digits
    space = Space(
        np.empty((depth + 1, 4 * room), np.int64),
        np.empty((depth + 1, UNDO), np.int64),
        np.empty(room, np.uint64),
        np.empty((depth + 1, slots, room), np.uint8),
        np.zeros((depth + 1, slots), np.int64),
        np.empty((depth + 1, slots), np.int64),
        np.empty((depth + 1, slots), np.int64),
        np.empty((depth + 1, slots), np.uint64),
    )
    return perft(cells, digits.size, width, links, adds, depth, space)


def warm_up() -> None:
    """Compile every entry point."""
    cells = np.zeros(8, np.uint8)
    cells[:4] = 1
    undo = np.zeros(UNDO, np.int64)
    pairs(cells, 4, 2, 15, np.zeros(32, np.int64))
    unplay(cells, play(cells, 4, 2, 0, 1, undo), 2, undo)
    add(cells, 4)
    perft_board(cells[:4].copy(), 2, 15, 1, 2)
