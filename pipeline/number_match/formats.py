"""The names of the forms in which commands write what they found; light, so that `--help` is quick."""

from enum import StrEnum


class VerifyFormat(StrEnum):
    """How findings are written."""

    text = "text"
    json = "json"
    junit = "junit"
    github = "github"


class DiffFormat(StrEnum):
    """How the changes between two packs are written."""

    text = "text"
    markdown = "markdown"
    json = "json"


class ExportFormat(StrEnum):
    """Other forms of a pack."""

    client = "client"
    ndjson = "ndjson"
    parquet = "parquet"
