"""The one model of a player: its parameters come from the config."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Player(BaseModel):
    """Parameters of one player."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["random"] = "random"
    """`random`: a pair drawn evenly, an Add only when no pair is left."""


def default_panel() -> dict[str, Player]:
    """The players of a config that names none."""
    return {"random": Player(kind="random")}
