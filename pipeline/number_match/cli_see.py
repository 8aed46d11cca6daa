"""The commands that show things. Thin: each calls one plain function and writes the page that it returns."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()

Out = Annotated[Path | None, typer.Option("--out", "-o", help="The file to write.", show_default=False)]


@app.command(rich_help_panel="Packs")
def preview(
    pack: Annotated[Path, typer.Argument(metavar="PACK", help="A pack, or a client file.")], out: Out = None
) -> None:
    """Write a pack as one playable page, preview.html beside it: play, replay, and see how the panel fared."""
    from number_match.files import save
    from number_match.models import read_any
    from number_match.preview import page

    target = out or pack.with_name("preview.html")
    save(target, page(read_any(pack)).encode(), pack)
    typer.echo(target)


@app.command(rich_help_panel="Packs")
def report(folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a finished run.")]) -> None:
    """Write a run as one page of charts and boards, report.html in its folder; its charts as PNG into reports/."""
    from number_match.beside import notes
    from number_match.errors import UserError
    from number_match.files import in_words
    from number_match.report import write_report

    for note in notes(folder):
        typer.echo(f"note: {note}", err=True)
    try:
        typer.echo(write_report(folder))
    except OSError as error:
        raise UserError(f"the report cannot be written: {in_words(error)}") from None
