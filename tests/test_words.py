"""Words for people: plurals, bounds, lists, and text from outside."""

import pytest

from number_match.words import counted, interval, listed, printable, printable_lines, shortened, shown


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 Stages"), (1, "1 Stage"), (2, "2 Stages"), (12345, "12,345 Stages")]
)
def test_one_is_singular_and_all_else_plural(number: int, words: str) -> None:
    assert counted(number, "Stage") == words


def test_bounds_and_lists() -> None:
    assert [interval(3, 3), interval(3, 5), interval(3, None)] == ["3", "3 to 5", "at least 3"]
    assert [listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == ["a", "a or b", "a, b or c"]


def test_text_from_outside_cannot_steer_a_terminal_and_is_kept_short() -> None:
    assert printable("é例\x1b[31m\u202e\udcff\n") == r"é例\x1b[31m\u202e\udcff\n"
    assert printable_lines("a\x1b\nb") == "a\\x1b\nb"
    assert (shortened("abc", 3), shortened("abcd", 3)) == ("abc", "ab…")
    assert shown({"a": ["é\x9b"] * 30}, 12) == '{"a": ["é\\x…'
