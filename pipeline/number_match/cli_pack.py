"""The commands about packs. Thin: each calls one plain function and prints what it returns."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from number_match.cli_shared import Quiet, interruptible, sayer
from number_match.errors import UserError
from number_match.formats import DiffFormat, ExportFormat, VerifyFormat
from number_match.words import printable_lines

app = typer.Typer()
PANEL = "Packs"

MaxMib = Annotated[int, typer.Option("--max-mib", min=1, max=2**20, help="The largest file that is read, in MiB.")]


class SchemaName(StrEnum):
    """The formats that have a JSON Schema."""

    pack = "pack"
    config = "config"


class Depth(StrEnum):
    """How much is checked."""

    quick = "quick"
    full = "full"


@app.command(rich_help_panel=PANEL)
@interruptible()
def verify(
    packs: Annotated[list[str], typer.Argument(metavar="PACK...", help="Pack files, or client files.")],
    level: Annotated[Depth, typer.Option(help="full also solves and plays everything again.")] = Depth.quick,
    baseline: Annotated[
        str | None, typer.Option(metavar="OLD", help="An older release, to be kept to.", show_default=False)
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="PACK", help="The pack that a client file was made from.", show_default=False)
    ] = None,
    form: Annotated[VerifyFormat, typer.Option("--format", help="How findings are written.")] = VerifyFormat.text,
    max_mib: MaxMib = 64,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Stages worked on at once; default: one a core.", show_default=False)
    ] = None,
    quiet: Quiet = False,
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
        prepare(["adds", "playouts"], sayer(quiet))
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
                workers=workers,
                progress=progress,
            )
        verdicts.append(verdict)
    for line in written(verdicts, form):
        print(line)
    for verdict in verdicts:
        if verdict.unreadable:
            typer.echo(printable_lines(f"error: {verdict.unreadable}"), err=True)
    raise typer.Exit(max(verdict.exit_code for verdict in verdicts))


@app.command(rich_help_panel=PANEL)
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The earlier release.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The later release.")],
    form: Annotated[DiffFormat, typer.Option("--format", help="How the changes are written.")] = DiffFormat.text,
    max_mib: MaxMib = 64,
) -> None:
    """Tell what changed between two packs: exit 0 the same, 1 different, 2 when a file is no pack."""
    from number_match.diff import diff as compare
    from number_match.diff import written
    from number_match.models import read_any

    size = max_mib * 2**20
    difference = compare(read_any(old, max_bytes=size), read_any(new, max_bytes=size))
    for line in written(difference, form):
        print(line)
    raise typer.Exit(1 if difference.changes else 0)


@app.command(rich_help_panel=PANEL)
def export(
    pack: Annotated[str, typer.Argument(metavar="PACK", help="A pack file.")],
    client: Annotated[
        bool, typer.Option("--client", help="The file for the game: no solutions, no provenance.")
    ] = False,
    ndjson: Annotated[bool, typer.Option("--ndjson", help="A JSON object a line for every Stage.")] = False,
    parquet: Annotated[bool, typer.Option("--parquet", help="The same as a table in a parquet file.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write; default: beside the pack.", show_default=False),
    ] = None,
    max_mib: MaxMib = 64,
) -> None:
    """Write a pack in another form: for the game, or for those who load tables."""
    from number_match.export import export as write

    chosen = [form for form, wanted in zip(ExportFormat, (client, ndjson, parquet), strict=True) if wanted]
    if len(chosen) != 1:
        raise UserError("expected exactly one of --client, --ndjson and --parquet")
    print(write(pack, chosen[0], out, max_bytes=max_mib * 2**20))


@app.command(rich_help_panel=PANEL)
def schema(name: Annotated[SchemaName, typer.Argument(metavar="FORMAT", help="pack or config.")]) -> None:
    """Print the JSON Schema of a format."""
    from number_match.models import Pack, schema_text

    if name is SchemaName.pack:
        print(schema_text(Pack), end="")
    else:
        from number_match.config import Config

        print(schema_text(Config), end="")
