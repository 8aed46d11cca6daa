"""A board as a picture made of text: a board comes in, lines for a terminal go out.

Digits stand at their places, holes are dots, and every pair is joined by a line: across, down, aslant, or out at the
right edge and in again at the left for a wrap. The numbers at the left and above add up to a cell's position.

    >>> print(draw(Board.parse("12.2/1", Ruleset.parse("width=4"))))
        0   1   2   3
    0   1   2───────2
        │
    4   1
"""

from dataclasses import dataclass, field

from number_match.rules import HOLE, Board, class_of

_STEP = 4  # characters from one column to the next; rows are two lines apart
_MERGED = {frozenset("─│"): "┼", frozenset("╲╱"): "╳"}
_ASCII = str.maketrans("─│┼╲╱╳→·", "-|+\\/X>.")
_CLASS_COLOURS = {1: 34, 2: 32, 3: 33, 4: 35, 5: 36}  # ANSI: blue, green, yellow, magenta, cyan


def draw(board: Board, *, colour: bool = False, ascii_only: bool = False) -> str:
    """The board with its pairs drawn in; `colour` by ANSI codes, `ascii_only` without characters for lines."""
    if board.cleared:
        return "(cleared)"
    width, cells = board.width, board.cells
    starts = range(0, len(cells), width)
    label = len(str(starts[-1]))
    canvas = _Canvas(board, margin=label + 3)
    for column in range(min(width, len(cells))):
        canvas.write(0, canvas.margin + _STEP * column, str(column))
    for row, start in enumerate(starts):
        canvas.write(1 + 2 * row, label - len(str(start)), str(start))
    for i, j in board.pairs():
        for link in board.links(i, j):
            canvas.join(i, j, link)
    for i, digit in enumerate(cells):
        y, x = canvas.place(i)
        if digit == HOLE:
            canvas.line(y, x, "·", over=False)
        else:
            canvas.cells[y, x] = str(digit)
            if colour:
                canvas.styles[y, x] = f"1;{_CLASS_COLOURS[class_of(digit)]}"
    text = canvas.text()
    return text.translate(_ASCII) if ascii_only else text


@dataclass
class _Canvas:
    """Characters by (line, column), and the ANSI style of some; `margin` is the column of the board's first digit."""

    board: Board
    margin: int
    cells: dict[tuple[int, int], str] = field(default_factory=dict)
    styles: dict[tuple[int, int], str] = field(default_factory=dict)

    def write(self, y: int, x: int, text: str) -> None:
        for offset, char in enumerate(text):
            self.cells[y, x + offset] = char

    def line(self, y: int, x: int, char: str, *, over: bool = True) -> None:
        """Draw one piece of a line, crossing what is there; not `over`: only where nothing is."""
        there = self.cells.get((y, x))
        if there is None or there == char:
            self.cells[y, x] = char
        elif over:
            self.cells[y, x] = _MERGED.get(frozenset((there, char)), "*")

    def place(self, i: int) -> tuple[int, int]:
        """Where cell i stands."""
        return 1 + 2 * (i // self.board.width), self.margin + _STEP * (i % self.board.width)

    def join(self, i: int, j: int, link: str) -> None:
        """Draw one link between cells i < j."""
        (y, x), (v, u) = self.place(i), self.place(j)
        if link == "row":
            self.across(y, x + 1, u)
        elif link == "column":
            for line in range(y + 1, v):
                self.line(line, x, "│")
        elif link == "diagonal":
            step = 1 if u > x else -1
            for count in range(1, v - y):
                self.line(y + count, x + 2 * step * count, "╲" if step > 0 else "╱")
        else:
            edge = self.margin + _STEP * self.board.width - 2
            self.across(y, x + 1, edge)
            self.line(y, edge, "→")
            self.line(v, self.margin - 2, "→")
            self.across(v, self.margin - 1, u)

    def across(self, y: int, start: int, end: int) -> None:
        for x in range(start, end):
            self.line(y, x, "─")

    def text(self) -> str:
        lines = []
        for y in range(max(y for y, _ in self.cells) + 1):
            end = max((x for line, x in self.cells if line == y), default=-1)
            chars = []
            for x in range(end + 1):
                char, style = self.cells.get((y, x), " "), self.styles.get((y, x))
                chars.append(f"\x1b[{style}m{char}\x1b[0m" if style else char)
            lines.append("".join(chars))
        return "\n".join(lines)
