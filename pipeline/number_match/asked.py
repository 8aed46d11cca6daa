"""What a pack was asked to be: its assembly block comes in, the slots that its Stages should fill go out.

The block is the `[assemble]` section of the config that made the pack. Packs from elsewhere, whose block says nothing
of Levels, are taken as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from number_match.assemble import Slot, slots
from number_match.complaints import complaints
from number_match.config import AssembleConfig, with_tuples
from number_match.models import Pack, document_of
from number_match.rules import MAX_ADDS


class Disagrees(Exception):
    """A block that cannot be read, or not be of this pack: what was found, and what was expected."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found, expected)
        self.found, self.expected = found, expected


@dataclass(frozen=True, slots=True)
class Asked:
    """The slots, which are for the Stages from number `first` (counted from 0) on: those before were there already.

    `fixed`: Stages kept from an earlier pack may stand where the slots' wishes would not have put them.
    """

    settings: AssembleConfig
    first: int
    slots: list[Slot]
    fixed: bool


def asked(pack: Pack) -> Asked | None:
    """What the block asks for, as many slots as there are Stages for them; None when it says nothing of Levels.

    Raises:
        Disagrees: see there.
    """
    block = document_of(pack.assembly)
    if "levels" not in block or "stages" not in block:
        return None
    known = {key: value for key, value in block.items() if key in AssembleConfig.model_fields}
    try:
        settings = AssembleConfig.model_validate(with_tuples(known))
    except ValidationError as error:
        what = complaints(error, AssembleConfig)[0].text
        raise Disagrees(what, "an assembly block that this version reads") from None
    before = block.get("levels_before", 0)
    if type(before) is not int or not 0 <= before <= len(pack.levels):
        raise Disagrees(f"levels_before {before}", f"0 to {len(pack.levels)}")
    first = sum(len(level.stages) for level in pack.levels[:before])
    count = sum(len(level.stages) for level in pack.levels) - first
    wanted = settings.levels * settings.stages
    if count != wanted:
        raise Disagrees(f"{count} Stages", f"{wanted}, as the assembly block says")
    return Asked(settings, first, slots(settings, settings.adds or (0, MAX_ADDS), before), "changes" in block)
