"""The command that fits the panel to telemetry. Thin: it calls one plain function and prints what it returns."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()

PackFile = Annotated[str, typer.Argument(metavar="PACK", help="The pack that people played.")]
TelemetryFile = Annotated[
    Path, typer.Argument(metavar="TELEMETRY", help="CSV, parquet, or the JSON that a preview page saves.")
]
Segment = Annotated[str | None, typer.Option(help="Only the rows of this segment.", show_default=False)]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="A file for the fragment, instead of stdout.", show_default=False)
]


@app.command(rich_help_panel="Packs")
def calibrate(pack: PackFile, telemetry: TelemetryFile, segment: Segment = None, out: Out = None) -> None:
    """Fit the panel's pass rates to those of people; prints a config fragment, and the errors on stderr."""
    from number_match.calibrate import calibrate as fit
    from number_match.calibrate import summary
    from number_match.files import save

    found, text = fit(pack, telemetry, segment)
    if out is None:
        typer.echo(text, nl=False)
    else:
        save(out, text.encode())
    typer.echo(summary(found), err=True)
