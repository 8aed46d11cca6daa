"""The command `number-match`: arguments come in, plain functions are called, an exit code goes out.

The commands stand in the files `cli_*.py`, by what they are about; each is a few lines over a plain function, imported
only when the command runs, so that `--help` is quick. This file puts them together and turns every way to end into an
exit code: 0 done, 1 a check failed, 2 a user's mistake, 130 and 143 interrupted.
"""

import errno
import os
import signal
import sys
from contextlib import suppress
from io import TextIOWrapper
from types import FrameType
from typing import Annotated

import typer

from number_match import __version__, cli_board, cli_calibrate, cli_pack, cli_run, cli_see, cli_survey
from number_match.errors import UserError
from number_match.files import in_words
from number_match.words import printable_lines

app = typer.Typer(
    name="number-match",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Make level packs for Number Match, look at boards, and check packs that were shipped."""


for part in (cli_run, cli_board, cli_pack, cli_see, cli_calibrate, cli_survey):
    app.add_typer(part.app)


def main() -> None:
    """Run the command line and exit (see the exit codes above)."""
    signal.signal(signal.SIGTERM, _terminated)
    for stream in (sys.stdout, sys.stderr):
        # what a terminal cannot show is escaped, and no reason to fail
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = run(sys.argv[1:])
    except SystemExit:  # of _terminated
        code = 143
    if code:
        from number_match.threads import busy

        if busy():  # a kernel under way cannot be stopped, and is not waited for
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError):
                    stream.flush()
            os._exit(code)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run one command line, without the program's name, and return its exit code."""
    try:
        result = app(arguments, prog_name="number-match", standalone_mode=False)
    except UserError as mistake:
        return _refuse(str(mistake))
    except typer.TyperException as mistake:  # an unknown option, a missing argument, a value of the wrong kind
        # without any argument the help has been printed already, and there is nothing to add
        return _refuse(_in_words(mistake)) if arguments else mistake.exit_code
    except BrokenPipeError:  # the reader, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        if error.errno == errno.ENOSPC and error.filename is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the exit would complain once more
            return _refuse(f"the output cannot be written: {error.strerror}")
        return _refuse(in_words(error))
    except KeyboardInterrupt:
        return 130
    return result if isinstance(result, int) else 0


def _in_words(mistake: typer.TyperException) -> str:
    """What is wrong with the arguments; values of the wrong kind in the words that all others are told in."""
    from pydantic import ValidationError

    from number_match.complaints import expected

    cause = mistake.__cause__
    if not isinstance(mistake, typer.BadParameter) or not isinstance(cause, ValidationError) or mistake.param is None:
        return " ".join(mistake.format_message().split()).rstrip(".")
    detail, given = cause.errors()[0], mistake.param
    name = next((option for option in given.opts if option.startswith("--")), given.metavar or given.name)
    if detail["type"] == "value_error":  # none of a few words, which typer's message lists
        wanted = "one of " + str(detail["ctx"]["error"]).partition("is not one of ")[2].rstrip(".")
    else:
        limits = {"minimum": getattr(given, "min", None), "maximum": getattr(given, "max", None)}
        wanted = expected({"type": "integer", **limits})
    return f"{name} is {detail['input']!r}: expected {wanted}"


def _refuse(message: str) -> int:
    """Say what is wrong. Names of files and the like come from outside, so only lines are let through as they are."""
    typer.echo(printable_lines(f"error: {message}"), err=True)
    return 2


def _terminated(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(143)
