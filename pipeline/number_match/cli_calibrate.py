"""The command that fits the panel to telemetry. Thin: it calls one plain function and prints what it returns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


@app.command(rich_help_panel="Packs")
def calibrate(
    pack: Annotated[str, typer.Argument(metavar="PACK", help="The pack that people played.")],
    telemetry: Annotated[Path, typer.Argument(metavar="TELEMETRY", help="CSV, parquet, or a preview page's JSON.")],
        Path, typer.Argument(metavar="TELEMETRY", help="CSV, parquet, or the JSON of a preview page.")
    ],
    segment: Annotated[str | None, typer.Option(help="Only the rows of this segment.", show_default=False)] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A file for the fragment, instead of stdout.", show_default=False)
    ] = None,
) -> None:
    """Fit the panel's pass rates to those of people; prints a config fragment, and the errors on stderr."""
    from number_match.calibrate import calibrate as fit
    from number_match.calibrate import summary

    found, text = fit(pack, telemetry, segment)
    if out is None:
        typer.echo(text, nl=False)
    else:
        from number_match.models import write_text

        write_text(out, text)
    typer.echo(summary(found), err=True)
