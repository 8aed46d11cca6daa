"""Words for people: numbers, bounds and values from outside come in, text goes out. Standard library only."""

from __future__ import annotations

import json
from collections.abc import Sequence


def counted(number: int, noun: str) -> str:
    """`1 Stage`, `12 Stages`, `1,500 boards`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def interval(lower: int, upper: int | None) -> str:
    """`3`, `3 to 5`, or `at least 3` without an upper bound."""
    return f"at least {lower}" if upper is None else f"{lower}" if lower == upper else f"{lower} to {upper}"


def listed(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def printable(text: str) -> str:
    """Text from outside as it may be shown in a terminal: control and direction characters are escaped."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def printable_lines(text: str) -> str:
    """The same for text of several lines, which stay."""
    return "\n".join(map(printable, text.splitlines()))


def shortened(text: str, most: int) -> str:
    """The text, or its beginning and `…`, of at most so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def shown(value: object, most: int = 60) -> str:
    """A value as JSON, printable and shortened."""
    return shortened(printable(json.dumps(value, ensure_ascii=False, default=str)), most)
