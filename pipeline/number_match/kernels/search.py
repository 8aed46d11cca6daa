"""Clearing a layout without an Add: exact depth-first search with restarts, dead states and class projection.

A *layout* is what lies on the board when play begins or after an Add: squares in reading order, their classes, the
width. Until the next Add the set of active squares alone tells the position, because which rows have collapsed follows
from it. That set is the exact key of the table of dead states, so `dead` is always a proof.

What comes in: classes (1-5, 0 for a hole, 8 and more for *walls*: cells that match nothing and stay), the links, a
budget in nodes. What goes out: FOUND with the pairs of squares in order, DEAD, or UNDECIDED.
"""
# mypy: disable-error-code="no-untyped-call,no-untyped-def,misc,untyped-decorator"

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from number_match.kernels.bits import GOLDEN, ONE, ZERO, U, kernel, mix
from number_match.kernels.memory import ahead, as_ints, keep, pointer
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
RESTARTS = ((100, 0), (300, 16), (1000, 16), (2000, 20), (4000, 24), (8000, 28), (12000, 32))
"""Nodes of each restart, and up to how many cells a projection on three or four classes may have in it; later ones are
half as long again.

Most boards are cleared before such a projection pays; those that are not are refuted by little else.
"""
SHAKING_FROM, SHAKEN = 3, 5
"""Every other restart orders by chance; from this one on only its first so many pairs, and then by the word: a board
that resists has a bad beginning more often than a bad end.
"""
PAIR_CELLS = 24  # of a projection on two classes
ROOT_PROBES, PROBES = 2000, 1000  # probes a check at the root, and after a pair
DOUBTFUL_PROBES, DOUBTFUL_CELLS = (25, 100, 400), 18
"""Of a position that is more likely dead than not: the probes of each projection at the root, in one pass after the
other, and up to how many cells one on three or four classes may have in it.
"""
PROJECTIONS = np.array([[*group, *[0] * (4 - size)] for size in (2, 3, 4) for group in combinations(range(1, 6), size)])
"""The pairs of classes, the triples, the quadruples, filled up with 0."""
NUMBER_OF_PROJECTIONS = len(PROJECTIONS)
SLOTS, MEMO_SLOTS = 256, 1024  # of the tables of dead states and of projections to begin with
WALL = 8
ROW, COLUMN, DIAGONAL, WRAP = 1, 2, 4, 8


class Layout(NamedTuple):
    """Squares in reading order and what is fixed about them, in memory; sets are 1, 2 or 4 words each."""

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
def rows_of(n, width):
    return (n + width - 1) // width


@kernel
def layout_room(n, width, words):
    """Words of memory that a layout takes, its classes left out."""
    return 2 * n + (rows_of(n, width) + width + 6 + n) * words


@kernel
def make_layout(classes, n, width, links, memory, like):
    """The layout of these squares, and the memory behind it."""
    words = np.int64(size(~empty(like)) >> U(6))
    rows = rows_of(n, width)
    row, column = as_ints(memory), as_ints(ahead(memory, n))
    row_sets = ahead(memory, 2 * n)
    column_sets = ahead(row_sets, rows * words)
    class_sets = ahead(column_sets, width * words)
    diagonal_sets = ahead(class_sets, 6 * words)
    for k in range((rows + width + 6 + n) * words):
        row_sets[k] = ZERO
    for s in range(n):
        row[s], column[s] = s // width, s % width
        x = square(like, U(s))
        store(row_sets, U(row[s]), load(row_sets, U(row[s]), like) | x)
        if links & COLUMN:
            store(column_sets, U(column[s]), load(column_sets, U(column[s]), like) | x)
        if classes[s]:
            c = U(classes[s]) if classes[s] < WALL else ZERO
            store(class_sets, c, load(class_sets, c, like) | x)
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
    behind = ahead(memory, layout_room(n, width, words))
    return Layout(n, width, links, classes, row, column, row_sets, column_sets, class_sets, diagonal_sets), behind


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
    count = rows_of(layout.n, layout.width) + layout.width - 1
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
        count = rows_of(layout.n, layout.width) + layout.width - 1
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
def insert(key, table, slots, stored):
    """Put a set into a table; a full one forgets it, and the search meets it again. Returns how many it holds."""
    if 8 * (stored + 1) > 7 * slots:
        return stored
    at = slot_of(key, table, U(slots - 1))
    if load(table, at, key) != empty(key):
        return stored
    store(table, at, key)
    return stored + 1


@kernel
def crowded(stored, slots, most):
    """Whether a table should get four times the room, and may."""
    return 2 * (stored + 1) > slots and 4 * slots <= most


@kernel
def grown(table, slots, like):
    """The same sets in an array of four times the room."""
    words = np.int64(size(~empty(like)) >> U(6))
    array = np.zeros(4 * slots * words, np.uint64)
    bigger = pointer(array)
    none = empty(like)
    for i in range(slots):
        key = load(table, U(i), like)
        if key != none:
            store(bigger, slot_of(key, bigger, U(4 * slots - 1)), key)
    return array


# ----------------------------------------------------------------------------------------------- class projection
# Keep the cells of two, three or four classes (and the walls) and take the rest for holes. Every clear of the board
# clears the projection, by the same pairs in the same order, if the projection allows every link that the board could
# offer:
# - neighbours in reading order: a row link needs one row, a wrap two; the rows between two kept cells may have
#   vanished;
# - the column: exact, since collapse moves no cell out of its column;
# - diagonals: rows between two cells may vanish, rows with a kept cell between them may not, so the distance in rows
#   lies between those bounds; `could_be_diagonal` allows every pair that some distance allows.
# So a projection that cannot be cleared proves the board dead.


class Memo(NamedTuple):
    """What is known of projections: sets, and for each whether it can be cleared."""

    slots: Any
    table: Any
    alive: Any  # uint8 per slot
    counters: Any  # int64: 0 entries, 1 probes made, 2 probes that this call may still make, 3 that all may make
    order: Any  # int64: the numbers of the projections, what refuted last first


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
    mask = U(memo.slots - 1)
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
    # what is taken for alive since the probes ran out is not known to be
    if (not result or memo.counters[2] > 0) and memo.counters[0] * 8 < memo.slots * 7:
        at = slot_of(kept, memo.table, mask)
        if load(memo.table, at, kept) == none:
            store(memo.table, at, kept)
            memo.alive[at] = 1 if result else 0
            memo.counters[0] += 1
    return result


@kernel
def refuted(active, walls, moved, most, each, layout, memo):
    """Whether a projection on two classes, or on more with up to `most` cells, proves the position dead.

    Class `moved` is among them; 0 is any. With `each` every projection gets so many probes, else they share what the
    memo has left.
    """
    none = empty(active)
    still = size(walls)
    for place in range(NUMBER_OF_PROJECTIONS):
        k = memo.order[place]
        a, b, c, d = PROJECTIONS[k, 0], PROJECTIONS[k, 1], PROJECTIONS[k, 2], PROJECTIONS[k, 3]
        if c and most == ZERO:
            continue
        if moved and a != moved and b != moved and c != moved and d != moved:
            continue
        kept_a = active & load(layout.class_sets, U(a), active)
        kept_b = active & load(layout.class_sets, U(b), active)
        kept_c = active & load(layout.class_sets, U(c), active)  # the walls when c is 0
        kept_d = active & load(layout.class_sets, U(d), active)
        if kept_a == none or kept_b == none or (c and kept_c == none) or (d and kept_d == none):
            continue
        kept = kept_a | kept_b | kept_c | kept_d | walls
        if size(kept) - still > (most if c else U(PAIR_CELLS)):
            continue
        if each:
            memo.counters[2] = min(each, memo.counters[3] - memo.counters[1])
        if not clears_projection(kept, walls, layout, memo):
            for i in range(place, 0, -1):
                memo.order[i] = memo.order[i - 1]
            memo.order[0] = k
            return True
    return False


@kernel
def spread(memo, table, alive, like):
    """Put what a memo holds into a larger table."""
    none = empty(like)
    for i in range(memo.slots):
        key = load(memo.table, U(i), like)
        if key != none:
            at = slot_of(key, table, U(4 * memo.slots - 1))
            store(table, at, key)
            alive[at] = memo.alive[i]


# ---------------------------------------------------------------------------------------------------- the search


@kernel
def push(word, depth, symbol):
    """A reduced word with one more symbol: 3 bits each, the newest lowest; only the newest 21 are kept."""
    if depth > 0 and word & U(7) == symbol:
        return word >> U(3), depth - 1
    return (word << U(3)) | symbol, depth + 1


class Stack(NamedTuple):
    """The positions of a depth-first search, one a depth, and what is left to try at each; all in memory."""

    sets: Any  # five sets a depth: the active squares, then the four marks
    lines: Any  # the lines of both diagonals, as `mark_diagonals` writes them, so many words a depth:
    lines_each: Any
    ranks: Any  # the same of the rows' ranks
    ranks_each: Any
    lines_of: Any  # the depth whose lines and ranks hold: the last at which a row collapsed
    pool: Any  # the pairs of all depths one behind the other
    begin: Any  # where those of a depth begin,
    count: Any  # how many they are,
    taken: Any  # and how many of them were tried
    prefix: Any  # work space of `rank`: for every square the reduced word before it
    prefix_depth: Any  # and its length,
    suffix: Any  # and those after it
    suffix_depth: Any


@kernel
def stack_room(n, width, active, words):
    """Words of memory that a stack takes for a layout of n squares, so many of them active."""
    depths, rows = active // 2 + 2, rows_of(n, width)
    return depths * (5 * words + 2 * (rows + width - 1) * words + rows + 4) + active * active + 8 * active + 4 * n


@kernel
def new_stack(layout, start, memory):
    """A stack with `start` at depth 0, its pairs not ranked yet; and the memory behind it."""
    words = np.int64(size(~empty(start)) >> U(6))
    n, active = layout.n, np.int64(size(start))
    depths, rows = active // 2 + 2, rows_of(n, layout.width)
    lines_each = 2 * (rows + layout.width - 1) * words
    lines = ahead(memory, depths * 5 * words)
    ranks = ahead(lines, depths * lines_each)
    lines_of = ahead(ranks, depths * rows)
    pool = ahead(lines_of, 4 * depths)
    prefix = ahead(pool, active * active + 8 * active)
    stack = Stack(
        memory,
        lines,
        lines_each,
        as_ints(ranks),
        rows,
        as_ints(lines_of),
        pool,
        as_ints(ahead(lines_of, depths)),
        as_ints(ahead(lines_of, 2 * depths)),
        as_ints(ahead(lines_of, 3 * depths)),
        prefix,
        as_ints(ahead(prefix, n)),
        ahead(prefix, 2 * n),
        as_ints(ahead(prefix, 3 * n)),
    )
    stack.lines_of[0] = stack.begin[0] = stack.count[0] = stack.taken[0] = 0
    m0, m1, m2, m3 = mark_all(start, layout, lines, stack.ranks)
    put(stack, 0, start, m0, m1, m2, m3)
    return stack, ahead(memory, stack_room(n, layout.width, active, words))


@kernel
def lines_at(stack, depth):
    """The lines and ranks that hold at a depth."""
    slot = stack.lines_of[depth]
    return ahead(stack.lines, slot * stack.lines_each), ahead(stack.ranks, slot * stack.ranks_each)


@kernel
def put(stack, depth, active, m0, m1, m2, m3):
    at = U(5 * depth)
    store(stack.sets, at, active)
    store(stack.sets, at + ONE, m0)
    store(stack.sets, at + U(2), m1)
    store(stack.sets, at + U(3), m2)
    store(stack.sets, at + U(4), m3)


@kernel
def active_at(stack, depth, like):
    return load(stack.sets, U(5 * depth), like)


@kernel
def marks_at(stack, depth, like):
    at = U(5 * depth)
    return (
        load(stack.sets, at + ONE, like),
        load(stack.sets, at + U(2), like),
        load(stack.sets, at + U(3), like),
        load(stack.sets, at + U(4), like),
    )


@kernel
def take(stack, depth):
    """The next pair to try at a depth."""
    pair = stack.pool[stack.begin[depth] + stack.taken[depth]]
    stack.taken[depth] += 1
    return (pair >> U(16)) & U(0xFFFF), pair & U(0xFFFF)


@kernel
def play(stack, depth, s, t, layout, like):
    """Put the position after the pair s, t above that at `depth`, not ranked yet. Returns whether it has a pair."""
    lines, ranks = lines_at(stack, depth)
    m0, m1, m2, m3 = marks_at(stack, depth, like)
    active = active_at(stack, depth, like) & ~square(like, s)
    m0, m1, m2, m3 = remove(s, active, m0, m1, m2, m3, layout, lines, ranks)
    active &= ~square(like, t)
    m0, m1, m2, m3 = remove(t, active, m0, m1, m2, m3, layout, lines, ranks)
    above = depth + 1
    stack.lines_of[above] = stack.lines_of[depth]
    if collapses(active, layout.row[s], layout) or collapses(active, layout.row[t], layout):
        stack.lines_of[above] = above
        lines, ranks = lines_at(stack, above)
        m2, m3 = mark_diagonals(active, layout, lines, ranks)
    put(stack, above, active, m0, m1, m2, m3)
    stack.begin[above] = stack.begin[depth] + stack.count[depth]
    stack.count[above] = stack.taken[above] = 0
    return m0 | m1 | m2 | m3 != empty(like)


@kernel
def rank(stack, depth, layout, by_word, noise, like):
    """Write the pairs at a depth into the pool, best first, as `length << 48 | noise << 32 | first << 16 | second`.

    `length` is that of the reduced word once the pair is gone, walls among it; without `by_word` the order is noise
    alone. Returns the least length, and the pair that has it when that is shorter than the word as it is.
    """
    active = active_at(stack, depth, like)
    m0, m1, m2, m3 = marks_at(stack, depth, like)
    lines, ranks = lines_at(stack, depth)
    pool, at = stack.pool, stack.begin[depth]
    prefix, prefix_depth, suffix, suffix_depth = stack.prefix, stack.prefix_depth, stack.suffix, stack.suffix_depth
    none = empty(active)
    word, height = ZERO, 0
    rest = active
    while rest != none:
        s = first(rest)
        rest = without_first(rest)
        prefix[s], prefix_depth[s] = word, height
        c = layout.classes[s]
        word, height = ((word << U(3)) | U(6), height + 1) if c >= WALL else push(word, height, U(c))
    whole = height
    word, height = ZERO, 0
    rest = active
    while rest != none:
        s = last(rest)
        rest &= ~square(active, s)
        suffix[s], suffix_depth[s] = word, height
        c = layout.classes[s]
        word, height = ((word << U(3)) | U(7), height + 1) if c >= WALL else push(word, height, U(c))
    count = at
    best, best_pair = whole, ZERO
    lines_each = rows_of(layout.n, layout.width) + layout.width - 1
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
                    place = ranks[layout.row[s]]
                    k = (
                        place - layout.column[s] + layout.width - 1
                        if direction == 2
                        else lines_each + place + layout.column[s]
                    )
                    line = load(lines, U(k), active)
                t = first(after & line)
                if t == beside and reading_link(s, t, layout):
                    continue  # in reading order already
                word, height = prefix[s], prefix_depth[s]
                between = after & lower(active, t)
                while between != none:
                    u = first(between)
                    between = without_first(between)
                    c = layout.classes[u]
                    word, height = ((word << U(3)) | U(6), height + 1) if c >= WALL else push(word, height, U(c))
                common = 0
                other, most = suffix[t], min(height, suffix_depth[t], 21)
                differ = word ^ other
                while common < most and differ & U(7) == ZERO:
                    differ >>= U(3)
                    common += 1
                length = height + suffix_depth[t] - 2 * common
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
    stack.count[depth], stack.taken[depth] = count - at, 0
    return best, best_pair


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
def rank_or_close(stack, depth, layout, by_word, noise, walls):
    """Rank the pairs at a depth. True when one of them leaves a word that cancels; that one is then taken."""
    best, pair = rank(stack, depth, layout, by_word, noise, walls)
    if (layout.links & (ROW | WRAP)) != (ROW | WRAP) or best != np.int64(size(walls)):
        return False
    s, t = pair >> U(16), pair & U(0xFFFF)
    if not word_cancels(active_at(stack, depth, walls) & ~square(walls, s) & ~square(walls, t), walls, layout):
        return False
    stack.pool[stack.begin[depth]], stack.taken[depth] = pair, 1
    return True


@kernel
def write_pairs(stack, depth, layout, like, out):
    """Write the pairs taken up to a depth, and those that cancel what they leave. Returns their number."""
    pair = ZERO
    for d in range(depth + 1):
        pair = stack.pool[stack.begin[d] + stack.taken[d] - 1] & U(0xFFFFFFFF)
        out[d] = pair
    rest = active_at(stack, depth, like) & ~square(like, pair >> U(16)) & ~square(like, pair & U(0xFFFF))
    return cancel(rest, layout, out, depth + 1)


@kernel
def any_order(order):
    """Pairs of classes before triples, triples before quadruples."""
    for k in range(NUMBER_OF_PROJECTIONS):
        order[k] = k


@kernel
def decide(layout, start, budget, most, memory, out, counters):
    """Clear `start` down to its walls, with work space in `memory`.

    `most` bounds the slots of each of the two tables. `out` gets the pairs as `first << 16 | second`, `counters` their
    number [0], the nodes [1], dead states stored [2], probes of projections [3], restarts [4].
    """
    order = as_ints(memory)
    any_order(order)
    behind = ahead(memory, NUMBER_OF_PROJECTIONS)
    return search(layout, start, False, order, budget, most, behind, out, counters)


@kernel
def decide_doubtful(layout, start, order, budget, most, memory, out, counters):
    """`decide` for one of many alike positions of which most are dead.

    Projections come first, in the `order` (see `Memo`) that the positions before this one left.
    """
    return search(layout, start, True, order, budget, most, memory, out, counters)


@kernel
def search(layout, start, doubtful, order, budget, most, memory, out, counters):
    like = start
    words = np.int64(size(~empty(like)) >> U(6))
    walls = start & load(layout.class_sets, ZERO, like)
    for k in range(5):
        counters[k] = 0
    if start == walls:
        return FOUND
    if (layout.links & (ROW | WRAP)) == (ROW | WRAP) and word_cancels(start, walls, layout):
        counters[0] = cancel(start, layout, out, 0)
        return FOUND
    for c in range(1, 6):
        if size(start & load(layout.class_sets, U(c), like)) & ONE:
            return DEAD
    stack, memory = new_stack(layout, start, memory)
    probes = as_ints(memory)
    probes[0], probes[1], probes[2], probes[3] = 0, 0, 0, budget
    memo_sets, memo_alive = np.zeros(MEMO_SLOTS * words, np.uint64), np.zeros(MEMO_SLOTS, np.uint8)
    memo = Memo(MEMO_SLOTS, pointer(memo_sets), pointer(memo_alive), probes, order)
    dead_sets, slots, stored = np.zeros(SLOTS * words, np.uint64), SLOTS, 0
    dead = pointer(dead_sets)
    stream, nodes, allowance, restart = GOLDEN, 0, 0, 0
    verdict = UNDECIDED
    if doubtful:
        for each in DOUBTFUL_PROBES:
            if verdict == UNDECIDED and refuted(start, walls, 0, U(DOUBTFUL_CELLS), each, layout, memo):
                verdict = DEAD
    while verdict == UNDECIDED and nodes + memo.counters[1] < budget:
        by_word = restart % 2 == 0
        if restart < len(RESTARTS):
            allowance, three = RESTARTS[restart][0], U(RESTARTS[restart][1])
        else:
            allowance = allowance * 3 // 2
        memo.counters[2] = min(ROOT_PROBES, budget - nodes - memo.counters[1])
        if refuted(start, walls, 0, three, 0, layout, memo):
            verdict = DEAD
            break
        stop = min(budget - memo.counters[1], nodes + allowance)
        stream += GOLDEN
        depth, aborted = 0, False
        found = rank_or_close(stack, 0, layout, by_word, mix(stream), walls)
        while depth >= 0 and not found:
            active = active_at(stack, depth, like)
            if crowded(stored, slots, most):
                dead_sets = grown(dead, slots, like)
                dead, slots = pointer(dead_sets), 4 * slots
            if stack.taken[depth] == stack.count[depth]:
                stored = insert(active, dead, slots, stored)
                depth -= 1
                continue
            s, t = take(stack, depth)
            after = active & ~square(like, s) & ~square(like, t)
            if holds(after, dead, U(slots - 1)):
                continue
            if nodes >= stop or nodes + memo.counters[1] >= budget:
                aborted = True
                break
            nodes += 1
            playable = play(stack, depth, s, t, layout, like)
            if after == walls:
                found = True
                break
            if playable:
                if crowded(memo.counters[0], memo.slots, most):
                    more_sets = np.zeros(4 * memo.slots * words, np.uint64)
                    more_alive = np.zeros(4 * memo.slots, np.uint8)
                    spread(memo, pointer(more_sets), pointer(more_alive), like)
                    memo_sets, memo_alive = more_sets, more_alive
                    memo = Memo(4 * memo.slots, pointer(memo_sets), pointer(memo_alive), probes, order)
                memo.counters[2] = min(PROBES, budget - nodes - memo.counters[1])
                playable = not refuted(after, walls, np.int64(layout.classes[s]), three, 0, layout, memo)
            if not playable:
                stored = insert(after, dead, slots, stored)
                continue
            depth += 1
            stream += GOLDEN
            deep = restart >= SHAKING_FROM and depth >= SHAKEN
            found = rank_or_close(stack, depth, layout, by_word or deep, mix(stream), walls)
        if found:
            counters[0] = write_pairs(stack, depth, layout, like, out)
            verdict = FOUND
        elif not aborted:
            verdict = DEAD
        restart += 1
    counters[1] = nodes + memo.counters[1]
    counters[2], counters[3], counters[4] = stored, memo.counters[1], restart
    keep(memo_sets)
    keep(memo_alive)
    keep(dead_sets)
    return verdict
