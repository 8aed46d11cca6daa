"""A pack comes in, one playable HTML page goes out: `preview.html`, which opens from disk and needs no network.

The page is `page.html` with `style.css`, the modules of `MODULES` and the pack written into it. The modules are
ordinary JavaScript modules that import one another; here they are joined into one by leaving out the imports, in an
order in which each stands behind those it needs. The rules exist in rules.js a third time; tests/seeing holds them to
rules.py.

Everything in a pack is text from outside. It enters the page as JSON in which no markup can begin or end, the page
writes it as text alone, and the page's content policy lets nothing run or load but what was written here.
"""

from __future__ import annotations

import re
from typing import Any

from number_match.errors import UserError
from number_match.models import ClientPack, ClientStage, Pack, Puzzle
from number_match.pages import embedded, render, source
from number_match.rules import Board, IllegalAction, NotationError, Ruleset, RulesetError, replay

MODULES = ("rules.js", "game.js", "dom.js", "words.js", "record.js", "board.js", "levels.js", "desk.js", "app.js")

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./[a-z]+\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|function|class|async) )", re.MULTILINE)


def page(pack: Pack | ClientPack) -> str:
    """The page of a pack, or of a client file (which holds no solutions and no playouts).

    Raises:
        UserError: a Stage cannot be played: its puzzle is missing, or its board or solution is against the rules.
    """
    return render(
        source(__name__, "page.html"),
        style=source(__name__, "style.css"),
        script=modules(MODULES),
        title=pack.title or pack.pack_id,
        pack=embedded(page_data(pack)),
    )


def page_data(pack: Pack | ClientPack) -> dict[str, Any]:
    """What the page needs: every Stage with its puzzle's fields in it. Raises UserError as `page` does."""
    puzzles = {puzzle.id: puzzle for puzzle in pack.puzzles}
    try:
        ruleset = pack.ruleset.rules()
    except RulesetError as error:
        raise UserError(f"{pack.pack_id}: {error}") from None
    return {
        "pack_id": pack.pack_id,
        "pack_version": pack.pack_version,
        "content_hash": pack.content_hash,
        "ruleset": pack.ruleset.model_dump(include={"id", "width", "row", "column", "diagonal", "wrap"}),
        "generator": f"{pack.generator.name} {pack.generator.version}" if isinstance(pack, Pack) else None,
        "reference": pack.scoring.reference if isinstance(pack, Pack) else None,
        "levels": [
            {
                "id": level.id,
                "title": level.title,
                "stages": [_stage(stage, puzzles.get(stage.puzzle), ruleset) for stage in level.stages],
            }
            for level in pack.levels
        ],
    }


def _stage(stage: ClientStage, puzzle: Puzzle | None, ruleset: Ruleset) -> dict[str, Any]:
    if puzzle is None:
        raise UserError(f"Stage {stage.id}: the pack holds no puzzle {stage.puzzle}")
    fields = {
        **puzzle.model_dump(include={"min_adds", "par", "family"}),
        **stage.model_dump(include={"id", "puzzle", "adds", "difficulty", "solution"}),
    }
    try:
        board = Board.parse(puzzle.board, ruleset).with_adds(stage.adds)
        cleared = replay(board, fields.get("solution", ())).cleared
    except (NotationError, IllegalAction) as error:
        raise UserError(f"Stage {stage.id}: {error}; `number-match verify` says more") from None
    if "solution" in fields and not cleared:
        raise UserError(f"Stage {stage.id}: the solution does not clear the board; `number-match verify` says more")
    return fields | {"board": board.text}


def modules(names: tuple[str, ...]) -> str:
    """These JavaScript modules as one, without their imports and exports, each under its name."""
    return "\n".join(f"// ---- {name}\n\n{_EXPORT.sub('', _IMPORT.sub('', source(__name__, name)))}" for name in names)
