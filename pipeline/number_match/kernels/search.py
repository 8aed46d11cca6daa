"""Clearing a layout without an Add: exact depth-first search with restarts, dead states and class projection.

A *layout* is what lies on the board when play begins or after an Add: squares in reading order, their classes, the
width. Until the next Add the set of active squares alone tells the position, because which rows have collapsed follows
from it. That set is the exact key of the table of dead states, so `dead` is always a proof.

What comes in: classes (1-5, 0 for a hole, 8 and more for *walls*: cells that match nothing and stay), the links, a
budget in nodes. What goes out: FOUND with the pairs of squares in order, DEAD, or UNDECIDED.
"""
# mypy: disable-error-code="no-untyped-call,no-untyped-def,misc,untyped-decorator"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from number_match.kernels.bits import GOLDEN, ONE, ZERO, U, kernel, mix
from number_match.kernels.words import (
    digest,
    empty,
    first,
    last,
    load,
    lower,
    size,
    square,
    store,
    without_first,
)

FOUND, DEAD, UNDECIDED = 1, 0, -1
RESTARTS = ((100, 0), (300, 16), (1000, 16), (2000, 20), (4000, 20), (8000, 24))
"""Nodes of each restart, and up to how many cells a projection on three classes may have in it; later ones are half as
long again.

Most boards are cleared before a projection on three classes pays; those that are not are refuted by little else.
"""
PAIR_CELLS = 24  # of a projection on two classes
ROOT_PROBES, PROBES = 2000, 1000  # probes a check at the root, and after a pair
WALL = 8
ROW, COLUMN, DIAGONAL, WRAP = 1, 2, 4, 8


class Layout(NamedTuple):
    """Squares in reading order and what is fixed about them; sets are 1, 2 or 4 words each."""

    n: Any  # squares
    width: Any
    links: Any  # ROW | COLUMN | DIAGONAL | WRAP
    classes: Any  # uint8 per square
    row: Any  # int64 per square
    column: Any  # int64 per square
    row_sets: Any
    column_sets: Any  # all empty when columns are off
    class_sets: Any  # of the classes 1-5, number 0 holds the walls
    diagonal_sets: Any  # for every square the later ones of its class that a diagonal could ever reach


@kernel
def make_layout(classes, n, width, links, like):
    words = size(~empty(like)) >> U(6)
    rows = (n + width - 1) // width
    row, column = np.empty(n, np.int64), np.empty(n, np.int64)
    row_sets = np.zeros(rows * words, np.uint64)
    column_sets = np.zeros(width * words, np.uint64)
    class_sets = np.zeros(6 * words, np.uint64)
    for s in range(n):
        row[s], column[s] = s // width, s % width
        x = square(like, U(s))
        store(row_sets, U(row[s]), load(row_sets, U(row[s]), like) | x)
        if links & COLUMN:
            store(column_sets, U(column[s]), load(column_sets, U(column[s]), like) | x)
        if classes[s]:
            c = U(classes[s]) if classes[s] < WALL else ZERO
            store(class_sets, c, load(class_sets, c, like) | x)
    diagonal_sets = np.zeros(n * words, np.uint64)
    if links & DIAGONAL:
        for s in range(n):
            if not classes[s]:
                continue
            reach = empty(like)
            rest = load(class_sets, U(classes[s]) if classes[s] < WALL else ZERO, like) & ~lower(like, U(s))
            while rest != empty(like):
                t = np.int64(first(rest))
                rest = without_first(rest)
                distance = abs(column[t] - column[s])
                if distance and row[t] - row[s] >= distance:
                    reach |= square(like, U(t))
            store(diagonal_sets, U(s), reach)
    return Layout(n, width, links, classes, row, column, row_sets, column_sets, class_sets, diagonal_sets)


# ------------------------------------------------------------------------------------------ pairs, kept up to date
# One set a line direction marks the active squares whose next active square on that line matches: M0 in reading order
# (rows and wraps), M1 in the column, M2 and M3 on the two diagonals. The number of marks is the number of links
# between matching cells.


@kernel
def reading_link(p, q, layout):
    """Whether neighbours p < q in reading order match, and by a link that is on."""
    kind = ROW if layout.row[p] == layout.row[q] else WRAP
    return layout.classes[p] == layout.classes[q] and (layout.links & kind) != 0


@kernel
def relink(marks, before, after, x, layout):
    """The marks of one line after x went: its neighbours on the line meet."""
    marks &= ~x
    none = empty(x)
    if before != none:
        p = last(before)
        marks &= ~square(x, p)
        if after != none and layout.classes[p] == layout.classes[first(after)]:
            marks |= square(x, p)
    return marks


@kernel
def relink_reading(marks, before, after, x, layout):
    """`relink` in reading order, where it depends on the rows whether the link is a row or a wrap."""
    marks &= ~x
    none = empty(x)
    if before != none:
        p = last(before)
        marks &= ~square(x, p)
        if after != none and reading_link(p, first(after), layout):
            marks |= square(x, p)
    return marks


@kernel
def mark_diagonals(active, layout, lines, ranks):
    """Lines and marks of both diagonals afresh: a row's rank is the number of rows above it that still stand.

    `lines` gets one set of active squares for every line, the right-going ones first; `ranks` the rank of every row.
    """
    none = empty(active)
    m2, m3 = none, none
    if not layout.links & DIAGONAL:
        return m2, m3
    rows = (layout.n + layout.width - 1) // layout.width
    count = rows + layout.width - 1
    for k in range(2 * count):
        store(lines, U(k), none)
    rank, at = -1, -1
    rest = active
    while rest != none:
        s = first(rest)
        rest = without_first(rest)
        x = square(active, s)
        if layout.row[s] != at:
            at = layout.row[s]
            rank += 1
            ranks[at] = rank
        k = U(rank - layout.column[s] + layout.width - 1)
        line = load(lines, k, active)
        if line != none:
            p = last(line)
            if layout.classes[p] == layout.classes[s]:
                m2 |= square(active, p)
        store(lines, k, line | x)
        k = U(count + rank + layout.column[s])
        line = load(lines, k, active)
        if line != none:
            p = last(line)
            if layout.classes[p] == layout.classes[s]:
                m3 |= square(active, p)
        store(lines, k, line | x)
    return m2, m3


@kernel
def mark_all(active, layout, lines, ranks):
    """Marks of all four directions, from nothing."""
    none = empty(active)
    m0, m1 = none, none
    rest = active
    while rest != none:
        s = first(rest)
        rest = without_first(rest)
        if rest != none and reading_link(s, first(rest), layout):
            m0 |= square(active, s)
        down = rest & load(layout.column_sets, U(layout.column[s]), active)
        if down != none and layout.classes[first(down)] == layout.classes[s]:
            m1 |= square(active, s)
    m2, m3 = mark_diagonals(active, layout, lines, ranks)
    return m0, m1, m2, m3


@kernel
def remove(s, active, m0, m1, m2, m3, layout, lines, ranks):
    """The four marks after square s, no longer in `active`, was removed; rows as they are in `lines` and `ranks`."""
    x = square(active, s)
    low = lower(active, s)
    before, after = active & low, active & ~low
    m0 = relink_reading(m0, before, after, x, layout)
    line = load(layout.column_sets, U(layout.column[s]), active)
    m1 = relink(m1, before & line, after & line, x, layout)
    if layout.links & DIAGONAL:
        rank = ranks[layout.row[s]]
        count = (layout.n + layout.width - 1) // layout.width + layout.width - 1
        line = load(lines, U(rank - layout.column[s] + layout.width - 1), active)
        m2 = relink(m2, before & line, after & line, x, layout)
        line = load(lines, U(count + rank + layout.column[s]), active)
        m3 = relink(m3, before & line, after & line, x, layout)
    return m0, m1, m2, m3


@kernel
def collapses(active, row, layout):
    """Whether that row has just emptied with rows left both above and below it: nothing but diagonals notices."""
    none = empty(active)
    squares = load(layout.row_sets, U(row), active)
    if active & squares != none:
        return False
    above = lower(active, U(row * layout.width))
    return active & above != none and active & ~above != none


# ------------------------------------------------------------------------------------------------- tables of sets


@kernel
def slot_of(key, table, mask):
    """Where that set is in an open-addressed table, or the empty slot where it belongs."""
    i = mix(digest(key)) & mask
    none = empty(key)
    while True:
        held = load(table, i, key)
        if held == none or held == key:
            return i
        i = (i + ONE) & mask


@kernel
def holds(key, table, mask):
    return key != empty(key) and load(table, slot_of(key, table, mask), key) == key


@kernel
def insert(key, table, stored, most):
    """Put a set into a table that may grow to `most` slots; a full table forgets it, and the search meets it again."""
    words = np.int64(size(~empty(key)) >> U(6))
    slots = table.size // words
    if 2 * (stored + 1) > slots:
        if 4 * slots <= most:
            table = grown(table, key, 4)
            slots *= 4
        elif 8 * (stored + 1) > 7 * slots:
            return table, stored
    at = slot_of(key, table, U(slots) - ONE)
    if load(table, at, key) == empty(key):
        store(table, at, key)
        stored += 1
    return table, stored


@kernel
def grown(table, like, factor):
    """The same sets in a table of `factor` times the room."""
    words = size(~empty(like)) >> U(6)
    bigger = np.zeros(table.size * factor, np.uint64)
    mask = U(bigger.size) // words - ONE
    none = empty(like)
    for i in range(table.size // np.int64(words)):
        key = load(table, U(i), like)
        if key != none:
            store(bigger, slot_of(key, bigger, mask), key)
    return bigger


# ----------------------------------------------------------------------------------------------- class projection
# Keep the cells of two or three classes (and the walls) and take the rest for holes. Every clear of the board clears
# the projection, by the same pairs in the same order, if the projection allows every link that the board could offer:
# - neighbours in reading order: a row link needs one row, a wrap two; the rows between two kept cells may have
#   vanished;
# - the column: exact, since collapse moves no cell out of its column;
# - diagonals: rows between two cells may vanish, rows with a kept cell between them may not, so the distance in rows
#   lies between those bounds; `could_be_diagonal` allows every pair that some distance allows.
# So a projection that cannot be cleared proves the board dead.


class Memo(NamedTuple):
    """What is known of projections: sets, and for each whether it can be cleared."""

    table: Any
    alive: Any  # uint8 per slot
    counters: Any  # int64: 0 entries, 1 probes made, 2 probes that this call may still make


@kernel
def could_be_diagonal(x, y, kept, layout):
    """Whether squares x < y could ever be diagonal neighbours while all of `kept` is still there."""
    right = layout.column[y] - layout.column[x]
    step = 1 if right > 0 else -1
    distance = right * step  # in columns, and so in rows when they are on one diagonal
    farthest = layout.row[y] - layout.row[x]
    if distance == 0 or farthest < distance:
        return False
    between = 0  # rows between that cannot vanish
    exact = True  # nothing blocks when no row vanishes
    tight = True  # nothing blocks when every row that can vanish has
    none = empty(kept)
    for row in range(layout.row[x] + 1, layout.row[y]):
        squares = kept & load(layout.row_sets, U(row), kept)
        if squares == none:
            continue
        between += 1
        if between >= distance:
            return False
        start = row * layout.width + layout.column[x]
        if squares & square(kept, U(start + step * between)) != none:
            tight = False
        deep = row - layout.row[x]
        if deep < distance and squares & square(kept, U(start + step * deep)) != none:
            exact = False
    if farthest == distance:
        return exact
    if between == distance - 1:
        return tight
    return True


@kernel
def word_cancels(kept, walls, layout):
    """Whether the kept cells between walls cancel as a reduced word (DESIGN.md section 7)."""
    none = empty(kept)
    stack = none
    # the stack is a set as well: a kept square is on it until its partner comes
    rest = kept
    while rest != none:
        s = first(rest)
        rest = without_first(rest)
        x = square(kept, s)
        if stack != none:
            top = last(stack)
            if layout.classes[top] == layout.classes[s]:
                stack &= ~square(kept, top)
                continue
        stack |= x
    return stack == walls


@kernel
def clears_projection(kept, walls, layout, memo):
    """Whether the relaxed game on the kept cells can be cleared; true as well when its share of probes runs out."""
    if kept == walls:
        return True
    mask = U(memo.alive.size) - ONE
    at = slot_of(kept, memo.table, mask)
    none = empty(kept)
    if load(memo.table, at, kept) != none:
        return memo.alive[at] != 0
    result = False
    if (layout.links & (ROW | WRAP)) == (ROW | WRAP) and word_cancels(kept, walls, layout):
        result = True
    else:
        if memo.counters[2] <= 0:
            return True
        memo.counters[1] += 1
        memo.counters[2] -= 1
        rest = kept & ~walls
        while rest != none and not result:
            s = first(rest)
            x = square(kept, s)
            rest = without_first(rest)
            after = kept & ~lower(kept, s) & ~x
            if after == none:
                break
            beside = first(after)
            if not reading_link(s, beside, layout):
                beside = s
            below = after & load(layout.column_sets, U(layout.column[s]), kept)
            under = first(below) if below != none else s
            if layout.classes[beside] != layout.classes[s]:
                beside = s
            if layout.classes[under] != layout.classes[s]:
                under = s
            same = rest & (load(layout.diagonal_sets, s, kept) | square(kept, beside) | square(kept, under))
            while same != none:
                t = first(same)
                same = without_first(same)
                if t == beside or t == under or could_be_diagonal(s, t, kept, layout):
                    if clears_projection(kept & ~x & ~square(kept, t), walls, layout, memo):
                        result = True
                        break
    if memo.counters[0] * 8 < memo.alive.size * 7:
        at = slot_of(kept, memo.table, mask)
        if load(memo.table, at, kept) == none:
            store(memo.table, at, kept)
            memo.alive[at] = 1 if result else 0
            memo.counters[0] += 1
    return result


@kernel
def refuted(active, walls, moved, most, layout, memo):
    """Whether a projection on two classes, or on three with up to `most` cells, proves the position dead.

    Class `moved` is among them; 0 is any.
    """
    none = empty(active)
    for a in range(1, 6):
        kept_a = active & load(layout.class_sets, U(a), active)
        if kept_a == none:
            continue
        for b in range(a + 1, 6):
            kept_b = active & load(layout.class_sets, U(b), active)
            if kept_b == none:
                continue
            kept_b |= kept_a
            if (moved == 0 or a == moved or b == moved) and size(kept_b) <= U(PAIR_CELLS):
                if not clears_projection(kept_b | walls, walls, layout, memo):
                    return True
    if most == ZERO:
        return False
    for a in range(1, 6):
        kept_a = active & load(layout.class_sets, U(a), active)
        if kept_a == none:
            continue
        for b in range(a + 1, 6):
            kept_b = active & load(layout.class_sets, U(b), active)
            if kept_b == none:
                continue
            kept_b |= kept_a
            for c in range(b + 1, 6):
                kept_c = active & load(layout.class_sets, U(c), active)
                if kept_c == none or not (moved == 0 or a == moved or b == moved or c == moved):
                    continue
                kept_c |= kept_b
                if size(kept_c) <= most and not clears_projection(kept_c | walls, walls, layout, memo):
                    return True
    return False


@kernel
def roomier(memo, like):
    """The same memo with four times the room."""
    table = np.zeros(memo.table.size * 4, np.uint64)
    alive = np.zeros(memo.alive.size * 4, np.uint8)
    mask = U(alive.size) - ONE
    none = empty(like)
    for i in range(memo.alive.size):
        key = load(memo.table, U(i), like)
        if key != none:
            at = slot_of(key, table, mask)
            store(table, at, key)
            alive[at] = memo.alive[i]
    return Memo(table, alive, memo.counters)


# ---------------------------------------------------------------------------------------------------- the search


@kernel
def push(word, depth, symbol):
    """A reduced word with one more symbol: 3 bits each, the newest lowest; only the newest 21 are kept."""
    if depth > 0 and word & U(7) == symbol:
        return word >> U(3), depth - 1
    return (word << U(3)) | symbol, depth + 1


@kernel
def ranked_pairs(active, m0, m1, m2, m3, layout, lines, ranks, by_word, noise, pool, at, scratch):
    """Write the pairs into `pool` from `at`, best first, as `length << 48 | noise << 32 | first << 16 | second`.

    `length` is that of the reduced word once the pair is gone, walls among it; without `by_word` the order is noise
    alone. Returns their number, the least length, and the pair that has it when that is shorter than the word as it
    is.
    """
    none = empty(active)
    prefix, prefix_depth, suffix, suffix_depth = scratch
    word, depth = ZERO, 0
    rest = active
    while rest != none:
        s = first(rest)
        rest = without_first(rest)
        prefix[s], prefix_depth[s] = word, depth
        c = layout.classes[s]
        word, depth = ((word << U(3)) | U(6), depth + 1) if c >= WALL else push(word, depth, U(c))
    whole = depth
    word, depth = ZERO, 0
    rest = active
    while rest != none:
        s = last(rest)
        rest &= ~square(active, s)
        suffix[s], suffix_depth[s] = word, depth
        c = layout.classes[s]
        word, depth = ((word << U(3)) | U(7), depth + 1) if c >= WALL else push(word, depth, U(c))
    count = at
    best, best_pair = whole, ZERO
    lines_each = (layout.n + layout.width - 1) // layout.width + layout.width - 1
    for direction in range(4):
        marks = m0 if direction == 0 else m1 if direction == 1 else m2 if direction == 2 else m3
        while marks != none:
            s = first(marks)
            marks = without_first(marks)
            after = active & ~lower(active, s) & ~square(active, s)
            beside = first(after)
            if direction == 0:
                t, length = beside, whole
            else:
                if direction == 1:
                    line = load(layout.column_sets, U(layout.column[s]), active)
                else:
                    rank = ranks[layout.row[s]]
                    k = (
                        rank - layout.column[s] + layout.width - 1
                        if direction == 2
                        else lines_each + rank + layout.column[s]
                    )
                    line = load(lines, U(k), active)
                t = first(after & line)
                if t == beside and reading_link(s, t, layout):
                    continue  # in reading order already
                word, depth = prefix[s], prefix_depth[s]
                between = after & lower(active, t)
                while between != none:
                    u = first(between)
                    between = without_first(between)
                    c = layout.classes[u]
                    word, depth = ((word << U(3)) | U(6), depth + 1) if c >= WALL else push(word, depth, U(c))
                common = 0
                other, most = suffix[t], min(depth, suffix_depth[t], 21)
                differ = word ^ other
                while common < most and differ & U(7) == ZERO:
                    differ >>= U(3)
                    common += 1
                length = depth + suffix_depth[t] - 2 * common
            noise = noise * U(6364136223846793005) + U(1442695040888963407)
            key = ((noise >> U(48)) << U(32)) | (s << U(16)) | t
            if by_word:
                key |= U(length) << U(48)
            if length < best:
                best, best_pair = length, key & U(0xFFFFFFFF)
            i = count
            while i > at and pool[i - 1] > key:
                pool[i] = pool[i - 1]
                i -= 1
            pool[i] = key
            count += 1
    return count - at, best, best_pair


@kernel
def cancel(active, layout, out, at):
    """Write the pairs that clear a position whose reduced word is its walls, in order; returns the new count."""
    none = empty(active)
    stack = none
    rest = active
    while rest != none:
        s = first(rest)
        rest = without_first(rest)
        if stack != none:
            top = last(stack)
            if layout.classes[top] == layout.classes[s]:
                stack &= ~square(active, top)
                out[at] = (top << U(16)) | s
                at += 1
                continue
        stack |= square(active, s)
    return at


@kernel
def decide(layout, start, budget, most, out, counters):
    """Clear `start` down to its walls.

    `most` bounds the slots of each of the two tables. `out` gets the pairs as `first << 16 | second`, `counters` their
    number [0], the nodes [1], dead states stored [2], probes of projections [3], restarts [4].
    """
    like = start
    none = empty(like)
    words = np.int64(size(~none) >> U(6))
    walls = start & load(layout.class_sets, ZERO, like)
    wall_count = np.int64(size(walls))
    word_goal = (layout.links & (ROW | WRAP)) == (ROW | WRAP)
    counters[:] = 0
    if start == walls:
        return FOUND
    if word_goal and word_cancels(start, walls, layout):
        counters[0] = cancel(start, layout, out, 0)
        return FOUND
    n = np.int64(size(start))
    for c in range(1, 6):
        if size(start & load(layout.class_sets, U(c), like)) & ONE:
            return DEAD
    memo = Memo(np.zeros(1024 * words, np.uint64), np.zeros(1024, np.uint8), np.zeros(3, np.int64))

    depth_max = n // 2 + 2
    rows = (layout.n + layout.width - 1) // layout.width
    lines_each = rows + layout.width - 1
    sets = np.empty(depth_max * 5 * words, np.uint64)
    lines = np.empty((depth_max, 2 * lines_each * words), np.uint64)
    ranks = np.empty((depth_max, rows), np.int64)
    lines_of = np.empty(depth_max, np.int64)
    pool = np.empty(n * n + 8 * n, np.uint64)
    begin, count, taken = np.empty(depth_max, np.int64), np.empty(depth_max, np.int64), np.empty(depth_max, np.int64)
    scratch = (
        np.empty(layout.n, np.uint64),
        np.empty(layout.n, np.int64),
        np.empty(layout.n, np.uint64),
        np.empty(layout.n, np.int64),
    )
    dead = np.zeros(1024 * words, np.uint64)
    stored = 0
    stream = GOLDEN
    nodes = 0
    m0, m1, m2, m3 = mark_all(start, layout, lines[0], ranks[0])
    store(sets, U(0), start)
    store(sets, U(1), m0)
    store(sets, U(2), m1)
    store(sets, U(3), m2)
    store(sets, U(4), m3)
    lines_of[0] = 0
    allowance, restart = 0, 0
    verdict = UNDECIDED
    while verdict == UNDECIDED and nodes + memo.counters[1] < budget:
        by_word = restart % 2 == 0
        if restart < len(RESTARTS):
            allowance, three = RESTARTS[restart][0], U(RESTARTS[restart][1])
        else:
            allowance = allowance * 3 // 2
        memo.counters[2] = min(ROOT_PROBES, budget - nodes - memo.counters[1])
        if refuted(start, walls, 0, three, layout, memo):
            verdict = DEAD
            break
        stop = min(budget - memo.counters[1], nodes + allowance)
        depth = 0
        begin[0] = taken[0] = 0
        stream += GOLDEN
        count[0], best, pair = ranked_pairs(
            start, m0, m1, m2, m3, layout, lines[0], ranks[0], by_word, mix(stream), pool, 0, scratch
        )
        if word_goal and best == wall_count:
            s, t = pair >> U(16), pair & U(0xFFFF)
            rest = start & ~square(like, s) & ~square(like, t)
            if word_cancels(rest, walls, layout):
                out[0] = pair
                counters[0] = cancel(rest, layout, out, 1)
                verdict = FOUND
                break
        aborted = False
        while depth >= 0:
            active = load(sets, U(5 * depth), like)
            if taken[depth] == count[depth]:
                dead, stored = insert(active, dead, stored, most)
                depth -= 1
                continue
            pair = pool[begin[depth] + taken[depth]]
            taken[depth] += 1
            s, t = (pair >> U(16)) & U(0xFFFF), pair & U(0xFFFF)
            after = active & ~square(like, s) & ~square(like, t)
            if holds(after, dead, U(dead.size // words) - ONE):
                continue
            if nodes >= stop or nodes + memo.counters[1] >= budget:
                aborted = True
                break
            nodes += 1
            slot = lines_of[depth]
            a0 = load(sets, U(5 * depth + 1), like)
            a1 = load(sets, U(5 * depth + 2), like)
            a2 = load(sets, U(5 * depth + 3), like)
            a3 = load(sets, U(5 * depth + 4), like)
            a0, a1, a2, a3 = remove(s, after | square(like, t), a0, a1, a2, a3, layout, lines[slot], ranks[slot])
            a0, a1, a2, a3 = remove(t, after, a0, a1, a2, a3, layout, lines[slot], ranks[slot])
            if collapses(after, layout.row[s], layout) or collapses(after, layout.row[t], layout):
                slot = depth + 1
                a2, a3 = mark_diagonals(after, layout, lines[slot], ranks[slot])
            if after == walls:
                verdict = FOUND
            elif a0 | a1 | a2 | a3 == none:
                dead, stored = insert(after, dead, stored, most)
                continue
            else:
                if memo.counters[0] * 2 > memo.alive.size and 4 * memo.alive.size <= most:
                    memo = roomier(memo, like)
                memo.counters[2] = min(PROBES, budget - nodes - memo.counters[1])
                if refuted(after, walls, np.int64(layout.classes[s]), three, layout, memo):
                    dead, stored = insert(after, dead, stored, most)
                    continue
                depth += 1
                store(sets, U(5 * depth), after)
                store(sets, U(5 * depth + 1), a0)
                store(sets, U(5 * depth + 2), a1)
                store(sets, U(5 * depth + 3), a2)
                store(sets, U(5 * depth + 4), a3)
                lines_of[depth] = slot
                begin[depth] = begin[depth - 1] + count[depth - 1]
                taken[depth] = 0
                stream += GOLDEN
                count[depth], best, pair = ranked_pairs(
                    after,
                    a0,
                    a1,
                    a2,
                    a3,
                    layout,
                    lines[slot],
                    ranks[slot],
                    by_word,
                    mix(stream),
                    pool,
                    begin[depth],
                    scratch,
                )
                if word_goal and best == wall_count:
                    s, t = pair >> U(16), pair & U(0xFFFF)
                    rest = after & ~square(like, s) & ~square(like, t)
                    if word_cancels(rest, walls, layout):
                        pool[begin[depth]] = pair
                        taken[depth] = 1
                        verdict = FOUND
                        after = rest
            if verdict == FOUND:
                for d in range(depth + 1):
                    out[d] = pool[begin[d] + taken[d] - 1] & U(0xFFFFFFFF)
                counters[0] = cancel(after, layout, out, depth + 1)
                break
        if verdict == UNDECIDED and not aborted:
            verdict = DEAD
        restart += 1
    counters[1] = nodes + memo.counters[1]
    counters[2], counters[3], counters[4] = stored, memo.counters[1], restart
    return verdict
