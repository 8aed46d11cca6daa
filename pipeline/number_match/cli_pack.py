"""The commands about packs. Thin: each calls one plain function and prints what it returns."""

import typer

app = typer.Typer()
