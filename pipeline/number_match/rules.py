"""The game in plain Python: text comes in, boards, pairs and verdicts of legality come out.

    >>> board = Board.parse("316372222/5516 +2")
    >>> board.pairs()[0], board.links(1, 11)
    ((1, 11), ('diagonal',))
    >>> str(board.play("1-11"))
    '3.6372222/55.6 +2'

The rules, numbered as in DESIGN.md section 2:

1. A board is rows of `width` cells in reading order; the last row may be shorter. A cell holds an active digit 1-9 or
   is a hole. Cells after the last one do not exist.
2. Two active cells are a pair when their digits are equal or sum to 10 and a link joins them with only holes between.
3. Removing a pair leaves two holes. Nothing slides.
4. A row with no active cell left disappears at once, and the rows below move up.
5. An Add appends copies of all active digits, in reading order, after the last existing cell.
6. A board with no active cell is cleared. A board with neither a pair nor an Add left is stuck.

This file needs the standard library alone and imports nothing from the package: it is what every solution is replayed
on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

HOLE = 0
ADD = "+"
LINKS = ("row", "column", "diagonal", "wrap")
MAX_WIDTH = 255
MAX_ADDS = 9999

_FNV_OFFSET, _FNV_PRIME, _U64 = 0xCBF29CE484222325, 0x100000001B3, 0xFFFFFFFFFFFFFFFF
_PAIR = re.compile(r"(0|[1-9][0-9]{0,8})-(0|[1-9][0-9]{0,8})", re.ASCII)
_ADDS = re.compile(r"\+(0|[1-9][0-9]{0,3})", re.ASCII)


class NotationError(ValueError):
    """A text that is not in the notation; the message quotes it and gives the position."""


class IllegalAction(ValueError):
    """An action against the rules; the message gives the action, the reason and the board."""


class RulesetError(ValueError):
    """Settings that describe no ruleset."""


# ------------------------------------------------------------------------------------------------------------ rulesets


@dataclass(frozen=True, slots=True)
class Ruleset:
    """One game of the family as data: the width of the board and the four links, on or off."""

    id: str = "veyra-1"
    width: int = 9
    row: bool = True
    column: bool = True
    diagonal: bool = True
    wrap: bool = True

    def __post_init__(self) -> None:
        if type(self.width) is not int or not 1 <= self.width <= MAX_WIDTH:
            raise RulesetError(f"ruleset width {self.width!r}: expected a whole number from 1 to {MAX_WIDTH}")
        for link in LINKS:
            if type(getattr(self, link)) is not bool:
                raise RulesetError(f"ruleset {link} {getattr(self, link)!r}: expected true or false")
        if not re.fullmatch(r"[A-Za-z0-9-]{1,64}", self.id, re.ASCII):
            raise RulesetError(f"ruleset id {self.id!r}: expected 1 to 64 letters, digits and hyphens")

    @property
    def settings(self) -> str:
        """The settings without the name, as puzzle ids are made from: `width=9 row=1 column=1 diagonal=1 wrap=1`."""
        return f"width={self.width} " + " ".join(f"{link}={int(getattr(self, link))}" for link in LINKS)

    @property
    def link_bits(self) -> int:
        """The links as bits, in the order of `LINKS`: row 1, column 2, diagonal 4, wrap 8."""
        return sum(getattr(self, link) << bit for bit, link in enumerate(LINKS))

    @classmethod
    def parse(cls, text: str) -> Ruleset:
        """A known id (`veyra-1`, `no-diagonal`, …), or settings that differ from veyra-1: `width=5,diagonal=false`.

        Raises:
            RulesetError: naming the setting and what was expected.
        """
        text = text.strip()
        if text in RULESETS:
            return RULESETS[text]
        chosen: dict[str, int | bool] = {}
        for part in re.split(r"[,\s]+", text):
            key, _, value = part.partition("=")
            if key not in ("width", *LINKS):
                raise RulesetError(
                    f"ruleset {text!r}: {part!r} is neither a known id ({', '.join(RULESETS)}) "
                    "nor one of width=…, row=…, column=…, diagonal=…, wrap=…"
                )
            if key in chosen:
                raise RulesetError(f"ruleset {text!r}: {key} is given twice")
            if key == "width":
                if not re.fullmatch(r"[0-9]{1,9}", value, re.ASCII):
                    raise RulesetError(
                        f"ruleset {text!r}: width is {value!r}, expected a whole number from 1 to {MAX_WIDTH}"
                    )
                chosen[key] = int(value)
            else:
                if value.lower() not in _SWITCH:
                    raise RulesetError(f"ruleset {text!r}: {key} is {value!r}, expected true or false")
                chosen[key] = _SWITCH[value.lower()]
        return named(**chosen)  # type: ignore[arg-type]


_SWITCH = {"true": True, "1": True, "on": True, "yes": True, "false": False, "0": False, "off": False, "no": False}


def named(
    *, width: int = 9, row: bool = True, column: bool = True, diagonal: bool = True, wrap: bool = True
) -> Ruleset:
    """The ruleset with these settings, under an id that tells how it differs from veyra-1: `width-5-no-wrap`."""
    off = [f"no-{link}" for link, on in zip(LINKS, (row, column, diagonal, wrap), strict=True) if not on]
    name = "-".join(([f"width-{width}"] if width != 9 else []) + off)
    return Ruleset(name or "veyra-1", width, row, column, diagonal, wrap)


VEYRA_1 = Ruleset()
RULESETS: dict[str, Ruleset] = {
    ruleset.id: ruleset
    for ruleset in (VEYRA_1, named(diagonal=False), named(wrap=False), named(width=5), named(width=7))
}


# --------------------------------------------------------------------------------------------------------------- board


@dataclass(frozen=True, slots=True)
class Board:
    """A position: cells in reading order (0 is a hole), the Adds left, and the ruleset.

    `Board.parse` checks; the constructor trusts that digits are 0-9 and that no row is empty.
    """

    cells: tuple[int, ...]
    adds: int = 0
    ruleset: Ruleset = VEYRA_1

    # notation

    @classmethod
    def parse(cls, text: str, ruleset: Ruleset = VEYRA_1) -> Board:
        """Read `12..5..98/...3.7 +2`; `-` is a cleared board; empty rows collapse; no `+N` is an allowance of 0.

        Raises:
            NotationError: with the position in the text.
        """
        body, space, tail = text.strip().partition(" ")
        shift = len(text) - len(text.lstrip())
        adds = 0
        if space:
            allowance = _ADDS.fullmatch(tail.strip())
            if not allowance:
                raise _bad(
                    text, shift + len(body) + 1, f"expected + and the Adds left (0 to {MAX_ADDS}) after the board"
                )
            adds = int(allowance[1])
        if body == "-":
            return cls((), adds, ruleset)
        if not body:
            raise _bad(text, 0, "expected a board: rows of digits 1-9 and . joined by /, or - for a cleared board")
        cells: list[int] = []
        at, rows = shift, body.split("/")
        for number, row in enumerate(rows):
            for column, char in enumerate(row):
                if char not in "123456789.":
                    hint = "; a digit 0 is never on a board" if char == "0" else ""
                    raise _bad(
                        text, at + column, f"{char!r} is not a digit 1-9, a hole (.) or the end of a row (/){hint}"
                    )
            width = ruleset.width
            if len(row) > width or not row or (len(row) < width and number < len(rows) - 1):
                rule = f"1 to {width}" if number == len(rows) - 1 else f"{width}"
                raise _bad(text, at, f"row {number + 1} has {len(row)} cells, expected {rule}")
            if row.strip("."):  # rule 4: an empty row is not there
                cells += [HOLE if char == "." else int(char) for char in row]
            at += len(row) + 1
        return cls(tuple(cells), adds, ruleset)

    @property
    def text(self) -> str:
        """The board without its Adds, as packs and tables hold it."""
        glyphs = "".join(".123456789"[digit] for digit in self.cells)
        width = self.ruleset.width
        return "/".join(glyphs[start : start + width] for start in range(0, len(glyphs), width)) or "-"

    def __str__(self) -> str:
        return f"{self.text} +{self.adds}"

    # what is on the board

    @property
    def width(self) -> int:
        return self.ruleset.width

    @property
    def active(self) -> int:
        """The number of active cells."""
        return len(self.cells) - self.cells.count(HOLE)

    @property
    def cleared(self) -> bool:
        """Rule 6."""
        return not any(self.cells)

    @property
    def stuck(self) -> bool:
        """Rule 6: something is left, and neither a pair nor an Add."""
        return not self.cleared and not self.adds and next(self._pairs(), None) is None

    def with_adds(self, adds: int) -> Board:
        """The same board with another allowance."""
        return replace(self, adds=adds)

    # rule 2: links and pairs

    def _line(self, i: int, link: str, step: int = 0) -> Iterator[int]:
        """Positions after i along a link in reading order; `step` is +1 or -1 for the two diagonals."""
        width, end = self.ruleset.width, len(self.cells)
        row_end = min(i - i % width + width, end)
        if link == "row":
            yield from range(i + 1, row_end)
        elif link == "column":
            yield from range(i + width, end, width)
        elif link == "diagonal":
            column, j = i % width + step, i + width + step
            while 0 <= column < width and j < end:
                yield j
                column, j = column + step, j + width + step
        else:  # wrap: the rest of the row must be holes, then the next row from its start
            if not any(self.cells[i + 1 : row_end]):
                yield from range(row_end, min(row_end + width, end))

    def _lines(self, i: int) -> Iterator[tuple[str, Iterator[int]]]:
        """Every line of the ruleset that starts at i, going on in reading order."""
        for link in LINKS:
            if getattr(self.ruleset, link):
                for step in (1, -1) if link == "diagonal" else (0,):
                    yield link, self._line(i, link, step)

    def _neighbours(self, i: int) -> Iterator[tuple[str, int]]:
        """The first active cell on each line from i."""
        for link, line in self._lines(i):
            j = next((j for j in line if self.cells[j]), None)
            if j is not None:
                yield link, j

    def links(self, i: int, j: int) -> tuple[str, ...]:
        """The links that join active cells i and j with nothing but holes between, whatever their digits."""
        i, j = min(i, j), max(i, j)
        if i == j or i < 0 or j >= len(self.cells) or not (self.cells[i] and self.cells[j]):
            return ()
        return tuple(dict.fromkeys(link for link, k in self._neighbours(i) if k == j))

    def _pairs(self) -> Iterator[tuple[int, int]]:
        for i, digit in enumerate(self.cells):
            if digit:
                for j in sorted({j for _, j in self._neighbours(i) if matches(digit, self.cells[j])}):
                    yield i, j

    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Every pair (i, j) with i < j, each once, in order."""
        return tuple(self._pairs())

    # rules 3 to 5: actions

    def play(self, action: str) -> Board:
        """The board after an action: `i-j` removes a pair, `+` is an Add.

        Raises:
            NotationError: the text is no action.
            IllegalAction: with the reason.
        """
        if action == ADD:
            return self._add()
        i, j = parse_pair(action)
        reason = self._why_not(i, j)
        if reason:
            raise IllegalAction(f"{action} is illegal: {reason}; board {self}")
        cells = list(self.cells)
        cells[i] = cells[j] = HOLE
        width = self.ruleset.width
        for row in sorted(
            {i // width, j // width}, reverse=True
        ):  # from below, so that the upper row stays where it is
            if not any(cells[row * width : (row + 1) * width]):
                del cells[row * width : (row + 1) * width]
        return replace(self, cells=tuple(cells))

    def _add(self) -> Board:
        if not self.adds:
            raise IllegalAction(f"+ is illegal: no Add is left; board {self}")
        if self.cleared:
            raise IllegalAction(f"+ is illegal: the board is cleared; board {self}")
        return replace(self, cells=self.cells + tuple(filter(None, self.cells)), adds=self.adds - 1)

    def _why_not(self, i: int, j: int) -> str:
        """Why i-j is no pair on this board; empty when it is one."""
        if j >= len(self.cells):
            return f"there is no cell {j}, the last is {len(self.cells) - 1}" if self.cells else "the board is cleared"
        for k in (i, j):
            if not self.cells[k]:
                return f"cell {k} is a hole"
        a, b = self.cells[i], self.cells[j]
        if not matches(a, b):
            return f"{a} at {i} and {b} at {j} are neither equal nor sum to 10"
        blocked: list[str] = []
        for link, line in self._lines(i):
            passed: list[int] = []
            for k in line:
                if k == j:
                    if not passed:
                        return ""
                    blocked.append(f"{self.cells[passed[0]]} at {passed[0]} blocks the {link}")
                    break
                if self.cells[k]:
                    passed.append(k)
        if not blocked and i // self.width + 1 == j // self.width and self.ruleset.wrap:
            k = next(k for k in range(i + 1, j) if self.cells[k])
            blocked.append(f"{self.cells[k]} at {k} blocks the wrap")
        on = [link for link in LINKS if getattr(self.ruleset, link)]
        return "; ".join(blocked) or f"no link joins {i} and {j} ({', '.join(on) or 'all links are off'})"


def _bad(text: str, position: int, reason: str) -> NotationError:
    """A notation error that shows the text about the position."""
    start = max(0, position - 40)
    shown = ("…" if start else "") + text[start : position + 40] + ("…" if position + 40 < len(text) else "")
    return NotationError(f"{shown!r} at {position}: {reason}")


def parse_pair(action: str) -> tuple[int, int]:
    """Read `i-j` with i < j.

    Raises:
        NotationError: the text is not that.
    """
    pair = _PAIR.fullmatch(action) if len(action) < 24 else None
    if not pair:
        raise NotationError(f"{action[:40]!r} is no action: expected a pair i-j of positions, or + for an Add")
    i, j = int(pair[1]), int(pair[2])
    if i >= j:
        raise NotationError(f"{action!r} is no action: expected i-j with i < j")
    return i, j


# ------------------------------------------------------------------------------------------------------ classes, words


def matches(a: int, b: int) -> bool:
    """Rule 2a: equal, or 10 together."""
    return a == b or a + b == 10


def class_of(digit: int) -> int:
    """The class 1-5 of a digit: {1,9} {2,8} {3,7} {4,6} {5}. Two digits match exactly when they are in one class."""
    return min(digit, 10 - digit)


def class_counts(board: Board) -> tuple[int, int, int, int, int]:
    """How many active cells of each class 1-5 there are."""
    counts = [0] * 6
    for digit in board.cells:
        if digit:
            counts[class_of(digit)] += 1
    return counts[1], counts[2], counts[3], counts[4], counts[5]


def canonical_text(board: Board) -> str:
    """The board with each class lettered by first appearance, `abcaadddd/eebc`: equal texts are the same puzzle."""
    letters = dict(zip(dict.fromkeys(class_of(digit) for digit in board.cells if digit), "abcde", strict=False))
    return "".join(letters[class_of(int(char))] if char in "123456789" else char for char in board.text)


def reduced_word(board: Board) -> tuple[int, ...]:
    """Classes in reading order after cancelling equal neighbours with a stack (DESIGN.md section 7).

    Empty means: cleared by row and wrap pairs alone, under rulesets that have both.
    """
    word: list[int] = []
    for digit in filter(None, board.cells):
        if word and word[-1] == class_of(digit):
            word.pop()
        else:
            word.append(class_of(digit))
    return tuple(word)


# ------------------------------------------------------------------------------------------------------ replay, perft


def replay(board: Board, actions: Iterable[str]) -> Board:
    """The board after these actions, each checked.

    Raises:
        IllegalAction, NotationError: with the number of the action, counted from 1.
    """
    for number, action in enumerate(actions, 1):
        try:
            board = board.play(action)
        except (IllegalAction, NotationError) as error:
            raise type(error)(f"action {number}: {error}") from None
    return board


def legal_actions(board: Board) -> Iterator[str]:
    """Every action there is: the pairs in order, then the Add."""
    for i, j in board.pairs():
        yield f"{i}-{j}"
    if board.adds and not board.cleared:
        yield ADD


def fnv1a(text: str) -> int:
    """FNV-1a, 64 bits, of an ASCII text (http://www.isthe.com/chongo/tech/comp/fnv/)."""
    value = _FNV_OFFSET
    for byte in text.encode("ascii"):
        value = (value ^ byte) * _FNV_PRIME & _U64
    return value


def perft(board: Board, depth: int) -> tuple[int, int]:
    """The number of action sequences of exactly `depth` actions, and the sum of their leaves' FNV-1a modulo 2**64."""
    if depth == 0:
        return 1, fnv1a(str(board))
    count = checksum = 0
    for action in legal_actions(board):
        below, sum_below = perft(board.play(action), depth - 1)
        count, checksum = count + below, checksum + sum_below & _U64
    return count, checksum
