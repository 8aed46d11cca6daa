"""The commands that make packs. Thin: each calls one plain function and prints what it returns."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from number_match.cli_shared import EngineName, Processes, Quiet, Scheduler, flag_words, resumable, run_folder, sayer

app = typer.Typer()
PANEL = "Packs"

Files = Annotated[
    list[Path],
    typer.Option(
        "--config",
        "-c",
        help="A config file, or the run.json of a run; later ones are laid over earlier.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="The run folder; default: output/PACK-ID.", show_default=False)
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Over all files, such as assemble.stages=8.", show_default=False),
]
Engine = Annotated[EngineName | None, typer.Option(help="Where the work is done; default: local.", show_default=False)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done and why, and do nothing.")]


def _stage(name: str, help_text: str) -> None:
    """Add the command of one stage, or of all."""

    @app.command(name=name, help=help_text, rich_help_panel=PANEL)
    def command(
        config: Files,
        out: Out = None,
        settings: Settings = None,
        workers: Processes = None,
        engine: Engine = None,
        scheduler: Scheduler = None,
        dry_run: DryRun = False,
        quiet: Quiet = False,
    ) -> None:
        _run(config, out, settings or [], workers, engine, scheduler, until=name, dry_run=dry_run, quiet=quiet)


_stage("run", "All stages, from a config to a pack; what is there already is kept.")
_stage("generate", "Make the candidates.")
_stage("validate", "Prove candidates clearable or not, with min Adds, par and a solution.")
_stage("score", "Place the clearable ones by the playouts of simulated players.")
_stage("assemble", "Arrange Levels and Stages on the curve, from the candidates that the config names and no more.")


def _run(
    files: list[Path],
    out: Path | None,
    settings: list[str],
    workers: int | None,
    engine: EngineName | None,
    scheduler: str | None,
    *,
    until: str,
    dry_run: bool,
    quiet: bool,
) -> None:
    import sys

    from number_match.beside import notes
    from number_match.config_files import load
    from number_match.report import is_current, write_report
    from number_match.run import CannotFill, folder_of, run

    how = {"workers": workers, "engine": engine and engine.value, "scheduler": scheduler}
    flags = {"out": run_folder(out) if out else None, **how}
    config = load(files, settings, {key: value for key, value in flags.items() if value is not None})

    say = sayer(quiet)
    folder = folder_of(config)
    try:
        with resumable(_command_line(until, files, {"out": out, **how}, settings)):
            run(config, until=until, dry_run=dry_run, say=say, bars=not quiet and sys.stderr.isatty())
            if until in ("run", "assemble") and not dry_run:
                if not is_current(folder):
                    say(f"{write_report(folder)}: the run in charts and boards")
                for note in notes(folder):
                    say(f"note: {note}")
    except CannotFill as problem:
        typer.echo(str(problem), err=True)
        raise typer.Exit(1) from None


def _command_line(command: str, files: list[Path], flags: Mapping[str, object], settings: list[str]) -> str:
    """The command that goes on with a run."""
    words = ["number-match", command]
    for file in files:
        words += ["-c", str(file)]
    words += flag_words(flags)
    for setting in settings:
        words += ["--set", setting]
    return shlex.join(words)


@app.command(rich_help_panel=PANEL)
def status(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")]) -> None:
    """Say of a run folder what is kept, stale or missing, and why."""
    from number_match.beside import notes
    from number_match.config_files import load
    from number_match.errors import UserError
    from number_match.run import run

    if not os.path.isfile(folder / "run.json"):
        raise UserError(f"{folder}: expected a run folder, with a run.json in it")
    config = load([folder / "run.json"], (), {"out": str(folder.absolute())})
    run(config, dry_run=True, say=typer.echo)
    for note in notes(folder):
        typer.echo(f"note: {note}")


@app.command(rich_help_panel=PANEL)
def explain(
    pack: Annotated[Path, typer.Argument(metavar="PACK", help="A pack; in its run folder it knows more.")],
    stage: Annotated[str, typer.Argument(metavar="STAGE", help="The id of a Stage, such as L003-S05.")],
) -> None:
    """Say why a puzzle stands where it stands, and what else could."""
    from number_match import explain

    typer.echo(explain.explain(pack, stage))


@app.command(name="config", rich_help_panel=PANEL)
def show_config(config: Files, settings: Settings = None) -> None:
    """Print the resolved config, every default filled in, as JSON."""
    import json

    from number_match.config_files import load

    typer.echo(json.dumps(load(config, settings or []).resolved(), indent=2, ensure_ascii=False))
