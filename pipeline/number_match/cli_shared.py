"""What several files of commands have in common: options, how messages are said, how work that was stopped goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class EngineName(StrEnum):
    """Where the work is done."""

    inline = "inline"
    local = "local"
    dask = "dask"


Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar and no messages.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")]
RulesetOption = Annotated[str, typer.Option(help="An id, or settings such as width=5,diagonal=false.")]
Processes = Annotated[
    int | None, typer.Option("--workers", min=1, max=4096, help="Processes; default: one a core.", show_default=False)
]
Scheduler = Annotated[str | None, typer.Option(help="The address of a Dask scheduler.", show_default=False)]


def run_folder(out: Path) -> str:
    """The run folder as run.json names it."""
    from number_match.errors import UserError

    name = str(out.absolute())
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UserError(
            f"--out is {str(out)!a}: expected a name in UTF-8, and an environment that reads it (LC_ALL=C.UTF-8)"
        ) from None
    return name


def sayer(quiet: bool) -> Callable[[str], None]:
    """What takes lines for people, beside a progress bar; with `quiet` it keeps them to itself."""

    def say(text: str) -> None:
        if not quiet:
            import sys

            from tqdm import tqdm

            tqdm.write(text, file=sys.stderr)

    return say


@contextmanager
def resumable(again: str) -> Iterator[None]:
    """Around work that can be gone on with by the command `again`: whatever stops it, that is said."""
    from number_match.engine import WorkersDied
    from number_match.files import in_words

    try:
        yield
    except (WorkersDied, OSError) as error:
        why = in_words(error) if isinstance(error, OSError) else error
        typer.echo(f"stopped: {why}\nwhat is finished is kept; go on with: {again}", err=True)
        raise typer.Exit(1) from None
    except (KeyboardInterrupt, SystemExit):
        typer.echo(f"\ninterrupted; what is finished is kept; go on with: {again}", err=True)
        raise


@contextmanager
def interruptible() -> Iterator[None]:
    """Around work of which nothing is kept: when it is interrupted, that is said."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        typer.echo("\ninterrupted", err=True)
        raise


def flag_words(flags: Mapping[str, object]) -> list[str]:
    """Those of the flags that are given, as words of a command line."""
    given = {name: value for name, value in flags.items() if value is not None}
    return [word for name, value in given.items() for word in ("-o" if name == "out" else f"--{name}", str(value))]
