"""The command that surveys random boards. Thin: it calls one plain function and prints what it returns."""

from pathlib import Path
from typing import Annotated

import typer

from number_match.cli_shared import (
    EngineName,
    JsonOption,
    Processes,
    Quiet,
    RulesetOption,
    Scheduler,
    flag_words,
    resumable,
    run_folder,
    sayer,
)
from number_match.errors import UserError

app = typer.Typer()


SIZES = (18, 27, 35, 36, 45)

Sizes = Annotated[
    list[int] | None,
    typer.Option(
        "--size", min=1, max=256, help="Cells of a board; give it again for each size.", show_default=f"{SIZES}"[1:-1]
    ),
]
Boards = Annotated[int, typer.Option(min=1, max=10**8, help="Boards of each size.")]
MaxAdds = Annotated[int, typer.Option(min=0, max=20, help="The largest allowance; all from 0 to this are told.")]
Playouts = Annotated[int, typer.Option(min=0, max=10**6, help="Of every player on every board; 0: no players.")]
Seed = Annotated[int, typer.Option(min=0, max=2**53 - 1, help="The seed of all choices.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="The survey's folder.")]
Budget = Annotated[int, typer.Option(min=1, max=10**12, help="The nodes after which a board is undecided.")]
Where = Annotated[EngineName, typer.Option("--engine", help="Where the work is done.")]


@app.command(rich_help_panel="Boards")
def survey(
    sizes: Sizes = None,
    boards: Boards = 20_000,
    max_adds: MaxAdds = 3,
    playouts: Playouts = 20,
    seed: Seed = 1,
    out: Out = Path("output/survey"),
    ruleset: RulesetOption = "veyra-1",
    node_budget: Budget = 10**6,
    workers: Processes = None,
    engine: Where = EngineName.local,
    scheduler: Scheduler = None,
    as_json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Of random boards, tell how many can be cleared, with how few Adds, and how the panel fares.

    Run again to go on, with more boards or sizes, too.
    """
    import shlex
    import sys

    from number_match.boards import parse_ruleset
    from number_match.config import RunConfig
    from number_match.survey import run_survey
    from number_match.survey_boards import Survey
    from number_match.survey_figures import heading, tables

    if (engine is EngineName.dask) != (scheduler is not None):
        raise UserError("--engine dask and --scheduler ADDRESS (tcp://host:8786) go together; give both or neither")
    asked = Survey(
        tuple(sorted(set(sizes or SIZES))),
        boards,
        max_adds,
        playouts,
        seed,
        parse_ruleset(ruleset),
        node_budget=node_budget,
    )
    run = RunConfig(engine=engine.value, workers=workers, scheduler=scheduler)
    how = {"out": out, "workers": workers, "engine": engine.value, "scheduler": scheduler}
    again = f"{asked.command} {shlex.join(flag_words(how))}"
    with resumable(again):
        folder = Path(run_folder(out))
        figures = run_survey(asked, folder, run, say=sayer(quiet), bars=not quiet and sys.stderr.isatty())
    if as_json:
        typer.echo(figures.write_ndjson(), nl=False)
        return
    typer.echo("\n\n".join([heading(asked), *(table.plain() for table in tables(asked, figures))]))
