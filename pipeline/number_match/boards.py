"""Boards as users give them: an argument or a text file comes in, boards with the place they came from go out."""

from collections.abc import Iterator
from dataclasses import dataclass

from number_match.errors import UserError
from number_match.models import PackError, read_bytes
from number_match.rules import Board, NotationError, Ruleset, RulesetError


@dataclass(frozen=True, slots=True)
class Given:
    """A board and where it stands, for messages: `boards.txt:3`, or nothing for an argument."""

    board: Board
    place: str = ""


def parse_ruleset(text: str) -> Ruleset:
    """A ruleset from its id or settings; raises UserError."""
    try:
        return Ruleset.parse(text)
    except RulesetError as error:
        raise UserError(f"--ruleset: {error}") from None


def given_boards(text: str | None, file: str | None, ruleset: Ruleset, adds: int | None) -> list[Given]:
    """The boards of a command: `text` is one board, or `file` names a file of boards; `adds` is the value of --adds.

    Raises:
        UserError: for both or neither, for a bad board, or when `adds` is not what a board itself says.
    """
    either(text, file)
    if text is not None:
        return [Given(_with_adds(_board(text, ruleset, "board"), text, adds, "board"))]
    return list(_from_file(file or "", ruleset, adds))


def either(text: str | None, file: str | None) -> None:
    """Refuse a command that has both a board and a file, or neither; raises UserError."""
    if (text is None) == (file is None):
        raise UserError("expected one board, or --file with a file of boards")


def text_lines(file: str) -> Iterator[tuple[str, str]]:
    """Each line of a text file (`-` is stdin) that holds something but a comment, after its place. Raises UserError."""
    try:
        data = read_bytes(file)
    except PackError as error:
        raise UserError(str(error)) from None
    return content_lines(data, _name(file))


def content_lines(data: bytes, name: str) -> Iterator[tuple[str, str]]:
    """Each line that holds something but a comment, after its place, `name:3`. Raises UserError."""
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise UserError(f"{name}: byte {error.start} is not UTF-8; expected a text file of boards") from None
    for number, line in enumerate(lines, 1):
        content = line.partition("#")[0].strip()
        if content:
            yield f"{name}:{number}", content


def _name(file: str) -> str:
    return "stdin" if file == "-" else file


def _from_file(file: str, ruleset: Ruleset, adds: int | None) -> Iterator[Given]:
    empty = True
    for place, line in text_lines(file):
        empty = False
        yield Given(_with_adds(_board(line, ruleset, place), line, adds, place), place)
    if empty:
        raise UserError(f"{_name(file)}: no board in it; expected one a line")


def _board(text: str, ruleset: Ruleset, place: str) -> Board:
    try:
        return Board.parse(text, ruleset)
    except NotationError as error:
        raise UserError(f"{place}: {error}") from None


def _with_adds(board: Board, text: str, adds: int | None, place: str) -> Board:
    if adds is None or adds == board.adds:
        return board
    if "+" in text:
        raise UserError(f"{place}: the board says +{board.adds} and --adds says {adds}; give one of them")
    return board.with_adds(adds)
