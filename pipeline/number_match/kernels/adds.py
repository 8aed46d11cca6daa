"""Clearing a board with Adds: the fewest Adds, and the fewest pairs with that many.

What counts is what is still there when an Add is made. With Adds made on m1, m2, … cells, a board of n cells is
cleared by (n + m1 + m2 + …) / 2 pairs; so `par` asks for the least sum of the m, which this file calls the *rest*.
What is known of it:

- Removing pairs keeps the parity of every class, so the first Add finds at least one cell of every class with an odd
  count.
- After an Add every count is even. A board with even counts that needs an Add at all is not empty at it, so m >= 2;
  where neighbours in reading order always pair (row and wrap links both on) two cells of one class clear, so m >= 4.

Three searches share the work. `lucky` takes pairs that shorten the reduced word, makes an Add and sees whether that
clears: nearly every board that can be cleared is cleared so. `aimed` picks which cells are to be left for the one Add,
makes walls of them and asks `decide` to clear all else: it finds better solutions and, when it runs through every
choice of the smallest size, proves that size impossible. `least` goes through every set of cells that can be reached,
at each of them makes an Add, and so proves everything it says.
"""
# mypy: disable-error-code="no-untyped-call,no-untyped-def,misc,untyped-decorator"

from __future__ import annotations

from functools import cache

import numpy as np

from number_match.kernels.bits import GOLDEN, ONE, U, door, kernel, mix
from number_match.kernels.memory import ahead, as_bytes, as_ints, keep, pointer
from number_match.kernels.search import (
    DEAD,
    FOUND,
    NUMBER_OF_PROJECTIONS,
    ROW,
    SLOTS,
    UNDECIDED,
    WALL,
    WRAP,
    active_at,
    any_order,
    crowded,
    decide,
    decide_doubtful,
    grown,
    holds,
    insert,
    layout_room,
    make_layout,
    marks_at,
    new_stack,
    play,
    rank,
    rows_of,
    stack_room,
    take,
)
from number_match.kernels.words import WORDS, empty, empty_of, first, last, load, size, square, without_first

COUNTERS = 8  # words that the counters of an inner search take
ADD = U(0xFFFFFFFF)  # among pairs `first << 16 | second`, an Add
TOO_LARGE = -2  # an Add that the word size does not hold
LATE = 10  # cells on which an Add is late enough to clear quickly, early enough to clear often
MOST_CHOICES = 1 << 26  # of cells to leave for an Add: where there are more, `aimed` does not begin


@kernel
def added(layout, active, classes):
    """Write the classes of the layout that an Add on these active squares makes (0 for holes); returns its squares, or
    -1 if too many for a set."""
    n = 0
    none = empty(active)
    most = np.int64(size(~none))
    for row in range(rows_of(layout.n, layout.width)):
        if active & load(layout.row_sets, U(row), active) == none:
            continue
        end = min((row + 1) * layout.width, layout.n)
        if n + end - row * layout.width > most:
            return -1
        for s in range(row * layout.width, end):
            classes[n] = layout.classes[s] if active & square(active, U(s)) != none else 0
            n += 1
    rest = active
    if n + np.int64(size(active)) > most:
        return -1
    while rest != none:
        classes[n] = layout.classes[first(rest)]
        rest = without_first(rest)
        n += 1
    return n


@kernel
def joined(out, at, tail, count):
    """Put an Add and the actions after it behind the first `at` actions in `out`. Returns their number."""
    out[at] = ADD
    for i in range(count):
        out[at + 1 + i] = tail[i]
    return at + 1 + count


@kernel
def active_squares(classes, n, like):
    active = empty(like)
    for s in range(n):
        if classes[s]:
            active |= square(like, U(s))
    return active


@kernel
def clear(classes, n, width, links, budget, most, memory, like, out, counters):
    """`decide` on n squares of these classes."""
    layout, behind = make_layout(classes, n, width, links, memory, like)
    return decide(layout, active_squares(classes, n, like), budget, most, behind, out, counters)


# ----------------------------------------------------------------------------------------------- aimed: one Add, late


@kernel
def residue(layout, classes, active, chosen):
    """Length of the reduced word with the chosen squares as walls, without them: how far the rest is from
    cancelling."""
    none = empty(active)
    stack = none
    rest = active
    depth = 0
    while rest != none:
        s = first(rest)
        rest = without_first(rest)
        x = square(active, s)
        if stack != none and x & chosen == none:
            top = last(stack)
            if classes[top] == classes[s] and square(active, top) & chosen == none:
                stack &= ~square(active, top)
                depth -= 1
                continue
        stack |= x
        depth += 1
    return depth - np.int64(size(chosen))


@kernel
def choose(number, members, counts, takes, like):
    """Choice `number` of `takes[c]` squares of each class c, in mixed radix; empty unless a class's squares come in
    order."""
    chosen = empty(like)
    for c in range(1, 6):
        before = -1
        for _ in range(takes[c]):
            s = members[c, number % counts[c]]
            number //= counts[c]
            if s <= before:
                return empty(like)
            before = s
            chosen |= square(like, U(s))
    return chosen


@kernel
def aimed(layout, start, takes, budget, most, memory, out, counters):
    """Clear with one Add that is made on `takes[c]` cells of each class c.

    Returns FOUND with pairs, ADD, pairs in `out`; DEAD when every choice of cells was refuted, which proves that such
    an Add clears nothing; else UNDECIDED. `counters`: number of actions [0], nodes [1].
    """
    like = start
    none = empty(like)
    members, counts = np.zeros((6, layout.n), np.int64), np.zeros(6, np.int64)
    for s in range(layout.n):
        c = layout.classes[s]
        if c:
            members[c, counts[c]] = s
            counts[c] += 1
    total = 1
    for c in range(1, 6):
        for _ in range(takes[c]):
            total *= counts[c]
            if total > MOST_CHOICES:
                counters[0] = counters[1] = 0
                return UNDECIDED
    step = np.int64(0.6180339887 * total) | 1
    while _common_factor(step, total) != 1:
        step += 2
    batch = 64
    choices, score = np.empty(batch, np.int64), np.empty(batch, np.int64)
    inner, order = as_ints(memory), as_ints(ahead(memory, COUNTERS))
    any_order(order)
    memory = ahead(memory, COUNTERS + NUMBER_OF_PROJECTIONS)
    open_choices = np.empty(4096, np.int64)
    number_open = 0
    complete = True
    number, tried, nodes = 0, 0, 0
    # every choice once, in batches whose most promising come first, each with a small budget
    while tried < total and nodes < budget:
        count, before = 0, tried
        while count < batch and tried < total and tried - before < 16 * batch:
            number = (number + step) % total
            tried += 1
            chosen = choose(number, members, counts, takes, like)
            if chosen == none:
                continue
            value = residue(layout, layout.classes, start, chosen)
            i = count
            while i > 0 and score[i - 1] > value:
                score[i], choices[i] = score[i - 1], choices[i - 1]
                i -= 1
            score[i], choices[i] = value, number
            count += 1
        nodes += min((tried - before) // 16 + 1, budget - nodes)  # looking at choices is work too
        for i in range(count):
            chosen = choose(choices[i], members, counts, takes, like)
            verdict = _attempt(layout, start, chosen, order, min(budget - nodes, 100), most, memory, out, inner)
            nodes += inner[1]
            if verdict == FOUND:
                counters[0], counters[1] = inner[0], nodes
                return FOUND
            if verdict == UNDECIDED:
                if number_open < open_choices.size:
                    open_choices[number_open] = choices[i]
                    number_open += 1
                else:
                    complete = False
            if verdict == TOO_LARGE:
                complete = False
    complete &= tried == total
    # what stayed open, again and again with more
    room = 1000
    while number_open and nodes < budget:
        still, spent = 0, nodes
        for i in range(number_open):
            chosen = choose(open_choices[i], members, counts, takes, like)
            verdict = _attempt(layout, start, chosen, order, min(budget - nodes, room), most, memory, out, inner)
            nodes += inner[1]
            if verdict == FOUND:
                counters[0], counters[1] = inner[0], nodes
                return FOUND
            if verdict == UNDECIDED:
                open_choices[still] = open_choices[i]
                still += 1
        number_open = still
        room *= 8
        if nodes == spent:
            break
    counters[0], counters[1] = 0, nodes
    return DEAD if complete and not number_open else UNDECIDED


@kernel
def _common_factor(a, b):
    while b:
        a, b = b, a % b
    return a


@kernel
def _attempt(layout, start, chosen, order, budget, most, memory, out, counters):
    """Clear by an Add on exactly these squares: first what the Add leads to, which is small, then everything before
    it."""
    bits = np.int64(size(~empty(start)))
    classes, tail = as_bytes(memory), ahead(memory, bits // 8)
    memory = ahead(tail, bits // 2 + 2)
    n = added(layout, chosen, classes)
    counters[0] = counters[1] = 0
    if n < 0:
        return TOO_LARGE
    if budget <= 0:
        return UNDECIDED
    verdict = clear(classes, n, layout.width, layout.links, budget, most, memory, chosen, tail, counters)
    if verdict != FOUND:
        return verdict
    later, spent = counters[0], counters[1]
    wall = WALL
    for s in range(layout.n):
        classes[s] = layout.classes[s]
        if chosen & square(chosen, U(s)) != empty(chosen):
            classes[s] = wall
            wall += 1
    before, behind = make_layout(classes, layout.n, layout.width, layout.links, memory, start)
    verdict = decide_doubtful(before, start, order, budget - spent, most, behind, out, counters)
    if verdict == FOUND:
        counters[0] = joined(out, counters[0], tail, later)
    counters[1] += spent
    return verdict


# ------------------------------------------------------------------------------ lucky: an Add at the end of a descent


@kernel
def descend(layout, like, depth, stop, stream, stack, out):
    """From the position at `depth` take the pair that leaves the shortest reduced word until there is none, or at most
    `stop` cells are left.

    Chance decides between equals. `out` gets the pairs at their depths. Returns the depth reached.
    """
    by_word = (layout.links & (ROW | WRAP)) == (ROW | WRAP)
    m0, m1, m2, m3 = marks_at(stack, depth, like)
    playable = m0 | m1 | m2 | m3 != empty(like)
    while playable and np.int64(size(active_at(stack, depth, like))) > stop:
        stream += GOLDEN
        rank(stack, depth, layout, by_word, mix(stream), like)
        s, t = take(stack, depth)
        out[depth] = (s << U(16)) | t
        playable = play(stack, depth, s, t, layout, like)
        depth += 1
    return depth


@kernel
def lucky(classes, n, width, links, adds, late, tries, budget, most, memory, like, stream, out, counters):
    """Try to clear with exactly `adds` Adds: finds, never refutes.

    One try in four begins with the first pair, the others a few pairs before the end of the last one. The more cells
    an Add is made on, the more often what it leads to clears, and the longer that takes: so the tries take turns
    between few cells, those that are left when no pair is, and half of all. With `late`, or where the reduced word
    tells nothing, Adds are made only when no pair is left. Returns the rest (sum of cells at the Adds) or -1;
    `counters`: number of actions [0], nodes [1].
    """
    by_word = (links & (ROW | WRAP)) == (ROW | WRAP)
    bits = np.int64(size(~empty(like)))
    inner, next_classes, tail = as_ints(memory), as_bytes(ahead(memory, COUNTERS)), ahead(memory, COUNTERS + bits // 8)
    layout, memory = make_layout(classes, n, width, links, ahead(tail, adds * (bits // 2 + 2)), like)
    start = active_squares(classes, n, like)
    stack, memory = new_stack(layout, start, memory)
    half = np.int64(size(start)) // 2
    nodes, few, depth, rest = 0, np.int64(3), 0, -1
    for attempt in range(tries):
        if budget - nodes <= np.int64(size(start)) // 2 + 2:
            break
        stream = mix(stream + GOLDEN)
        first_depth = 0 if attempt % 4 == 0 else max(0, depth - 3 - np.int64(stream >> U(61)))
        turn = attempt % 4
        stop = 0 if turn == 1 or late or not by_word else half if turn == 2 else LATE
        depth = descend(layout, like, first_depth, stop, stream, stack, out)
        nodes += depth - first_depth + 1
        active = active_at(stack, depth, like)
        left = np.int64(size(active))
        m = added(layout, active, next_classes)
        if left == 0 or m < 0:
            continue
        if adds == 1:
            room = min(100, budget - nodes)
            if clear(next_classes, m, width, links, room, most, memory, like, tail, inner) == FOUND:
                rest = left
        else:
            fewer, room = adds - 1, budget - nodes
            later = lucky(
                next_classes, m, width, links, fewer, late, few, room, most, memory, like, stream, tail, inner
            )
            if later >= 0:
                rest = left + later
        nodes += inner[1]
        if rest >= 0:
            counters[0] = joined(out, depth, tail, inner[0])
            break
    counters[1] = nodes
    return rest


# ------------------------------------------------------------------------------------------- least: every Add there is


@kernel
def least(classes, n, width, links, adds, late, bound, floor, budget, each, most, memory, like, out, counters):
    """The least rest (sum of cells at the Adds) with exactly `adds` Adds, adds >= 1, if it is at most `bound`.

    Every set of active squares that can be reached is visited once, all orders of pairs and Adds among them, so the
    answer is exact unless `counters[2]` says that something was left undecided: what follows a last Add gets `each`
    nodes. `floor` is a proven lower bound at which the search stops. With `late` Adds are made only where no pair is
    left, and the answer is about those alone. Returns the rest, or -1 for none; `out` gets the actions, `counters`
    their number [0] and the nodes [1].
    """
    none = empty(like)
    bits = np.int64(size(~none))
    inner, next_classes, tail = as_ints(memory), as_bytes(ahead(memory, COUNTERS)), ahead(memory, COUNTERS + bits // 8)
    layout, memory = make_layout(classes, n, width, links, ahead(tail, adds * (bits // 2 + 2)), like)
    stack, memory = new_stack(layout, active_squares(classes, n, like), memory)
    seen_sets, slots, stored = np.zeros(SLOTS * bits // 64, np.uint64), SLOTS, 0
    seen = pointer(seen_sets)
    by_word = (links & (ROW | WRAP)) == (ROW | WRAP)
    stream = GOLDEN
    best, nodes, complete, nothing = -1, 0, True, np.int64(0)
    rank(stack, 0, layout, by_word, stream, like)
    depth = 0
    while depth >= 0:
        active = active_at(stack, depth, like)
        if stack.taken[depth] == stack.count[depth]:
            # all that pairs lead to is known; now the Add here
            here = np.int64(size(active))
            limit = bound if best < 0 else best - 1
            if here <= limit and nodes < budget and not (late and stack.count[depth]):
                nodes += 1
                found = -1
                m = added(layout, active, next_classes)
                if m < 0:
                    complete = False
                elif adds == 1:
                    room = min(budget - nodes, each)
                    verdict = clear(next_classes, m, width, links, room, most, memory, like, tail, inner)
                    nodes += inner[1]
                    complete &= verdict != UNDECIDED
                    if verdict == FOUND:
                        found = here
                elif nodes < budget:
                    left, room, fewer = limit - here, budget - nodes, adds - 1
                    rest = least(
                        next_classes, m, width, links, fewer, late, left, nothing, room, each, most,
                        memory, like, tail, inner,
                    )  # fmt: skip
                    nodes += inner[1]
                    complete &= inner[2] == 0
                    if rest >= 0:
                        found = here + rest
                if found >= 0:
                    best = found
                    for d in range(depth):
                        out[d] = stack.pool[stack.begin[d] + stack.taken[d] - 1] & U(0xFFFFFFFF)
                    counters[0] = joined(out, depth, tail, inner[0])
                    if best <= floor:
                        break
            if nodes >= budget:
                complete = False
                break
            depth -= 1
            continue
        s, t = take(stack, depth)
        after_pair = active & ~square(like, s) & ~square(like, t)
        if after_pair == none:
            continue  # cleared without this Add
        if holds(after_pair, seen, U(slots - 1)):
            continue
        if nodes >= budget:
            complete = False
            break
        nodes += 1
        if crowded(stored, slots, most):
            seen_sets = grown(seen, slots, like)
            seen, slots = pointer(seen_sets), 4 * slots
        stored = insert(after_pair, seen, slots, stored)
        play(stack, depth, s, t, layout, like)
        depth += 1
        stream += GOLDEN
        rank(stack, depth, layout, by_word, mix(stream), like)
    counters[1], counters[2] = nodes, 0 if complete else 1
    keep(seen_sets)
    return best


# ------------------------------------------------------------------------------------------------------------- doors
#
# `classes` is uint8 (0 for holes), `links` as in search.py, `words` one of `words.WORDS`; `memory` is uint64 of length
# `room`, `out` of at least (adds + 1) * (bits / 2 + 2) with bits the capacity of `words`; `counters` is int64 of
# length 8.


@cache
def room(bits: int, width: int, adds: int) -> int:
    """Words of memory that a door needs."""
    words = bits // 64
    level = layout_room(bits, width, words) + stack_room(bits, width, bits, words)
    return (adds + 1) * (level + 2 * (COUNTERS + NUMBER_OF_PROJECTIONS) + bits // 8 + (adds + 1) * (bits // 2 + 2))


@door
def decide_board(classes, width, links, words, budget, most, memory, out, counters):
    n, like = classes.size, empty_of(words)
    at, behind, counted = pointer(out), pointer(memory), pointer(counters)
    return clear(pointer(classes), n, width, links, budget, most, behind, like, at, counted)


@door
def lucky_board(classes, width, links, words, adds, late, tries, budget, most, stream, memory, out, counters):
    n, like = classes.size, empty_of(words)
    at, behind, counted = pointer(out), pointer(memory), pointer(counters)
    squares = pointer(classes)
    return lucky(squares, n, width, links, adds, late, tries, budget, most, behind, like, stream, at, counted)


@door
def aimed_board(classes, width, links, words, takes, budget, most, memory, out, counters):
    like, squares = empty_of(words), pointer(classes)
    layout, behind = make_layout(squares, classes.size, width, links, pointer(memory), like)
    start = active_squares(squares, classes.size, like)
    return aimed(layout, start, takes, budget, most, behind, pointer(out), pointer(counters))


@door
def least_board(classes, width, links, words, adds, late, bound, floor, budget, each, most, memory, out, counters):
    n, like = classes.size, empty_of(words)
    at, behind, counted = pointer(out), pointer(memory), pointer(counters)
    squares = pointer(classes)
    return least(squares, n, width, links, adds, late, bound, floor, budget, each, most, behind, like, at, counted)


def warm_up() -> None:
    """Compile every entry point."""
    classes = np.array([1, 2, 1, 2], np.uint8)
    takes = np.array([0, 1, 1, 0, 0, 0], np.int64)
    counters = np.zeros(8, np.int64)
    for bits, words in WORDS.items():
        memory, out = np.zeros(room(bits, 2, 1), np.uint64), np.zeros(bits + 4, np.uint64)
        decide_board(classes, 2, 15, words, 10, 64, memory, out, counters)
        lucky_board(classes, 2, 15, words, 1, 0, 1, 10, 64, ONE, memory, out, counters)
        aimed_board(classes, 2, 15, words, takes, 10, 64, memory, out, counters)
        least_board(classes, 2, 15, words, 1, 0, 9, 0, 10, 10, 64, memory, out, counters)
