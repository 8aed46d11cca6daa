"""The commands about packs. Thin: each calls one plain function and prints what it returns."""

import os
from enum import StrEnum
from typing import Annotated

import typer

from number_match.findings import Format

app = typer.Typer()
PANEL = "Packs"

MaxMib = Annotated[int, typer.Option("--max-mib", min=1, help="The largest file that is read, in MiB.")]


class Depth(StrEnum):
    """How much is checked."""

    quick = "quick"
    full = "full"


@app.command(rich_help_panel=PANEL)
def verify(
    packs: Annotated[list[str], typer.Argument(metavar="PACK...", help="Pack files, or client files.")],
    level: Annotated[Depth, typer.Option(help="full also solves and plays everything again.")] = Depth.quick,
    baseline: Annotated[
        str | None, typer.Option(metavar="OLD", help="An older release, to be kept to.", show_default=False)
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="PACK", help="The pack that a client file was made from.", show_default=False)
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How findings are written.")] = Format.text,
    max_mib: MaxMib = 64,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Stages worked on at once; default: one a core.", show_default=False)
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar and no messages.")] = False,
) -> None:
    """Check packs again from nothing but themselves: exit 0 clean, 1 with findings, 2 when a file is no pack."""
    from tqdm import tqdm

    from number_match.findings import written
    from number_match.kernels import prepare
    from number_match.models import read_any, read_pack
    from number_match.verify import verify as check

    size = max_mib * 2**20
    old = None if baseline is None else read_any(baseline, max_bytes=size)
    whole = None if against is None else read_pack(against, max_bytes=size)
    if level is Depth.full:
        prepare(["search", "adds", "playouts"], lambda message: None if quiet else typer.echo(message, err=True))
    verdicts = []
    for path in packs:
        with tqdm(desc=path, unit=" Stages", disable=True if quiet or level is Depth.quick else None) as bar:

            def progress(done: int, stages: int, bar: tqdm = bar) -> None:
                bar.total = stages
                bar.update(done - bar.n)

            verdict = check(
                path,
                full=level is Depth.full,
                baseline=old,
                against=whole,
                max_bytes=size,
                workers=workers or len(os.sched_getaffinity(0)),
                progress=progress,
            )
        verdicts.append(verdict)
    for line in written(verdicts, form):
        print(line)
    for verdict in verdicts:
        if verdict.unreadable:
            typer.echo(f"error: {verdict.unreadable}", err=True)
    raise typer.Exit(max(verdict.exit_code for verdict in verdicts))
