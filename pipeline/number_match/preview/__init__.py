"""A pack comes in, one playable HTML page goes out: `preview.html`, which opens from disk and needs no network.

The page is `page.html` with `style.css`, the modules of `MODULES` and the pack written into it. The modules are ordinary
JavaScript modules that import one another; here they are joined into one by leaving out the imports, in an order in which
each stands behind those it needs. The rules exist in rules.js a third time; tests/test_preview.py holds them to rules.py.

Everything in a pack is text from outside. It enters the page as JSON in which no markup can end or begin, the page writes
it as text alone, and the page's content policy lets nothing run or load but what was written here.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from string import Template
from typing import Any

MODULES = ("rules.js", "game.js", "dom.js", "record.js", "board.js", "levels.js", "desk.js", "app.js")

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./[a-z]+\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:const|function|class|async) )", re.MULTILINE)


def page(pack: dict[str, Any]) -> str:
    """The page of a pack, given as the JSON object of DESIGN.md section 5 (checked by the loader of models.py)."""
    script = "\n" + modules(MODULES)
    style = "\n" + source("style.css")
    return Template(source("page.html")).substitute(
        title=html.escape(pack["title"] or pack["pack_id"]),
        style=style,
        style_hash=_digest(style),
        script=script,
        script_hash=_digest(script),
        pack=json.dumps(page_data(pack), separators=(",", ":")).replace("<", "\\u003c"),
    )


def page_data(pack: dict[str, Any]) -> dict[str, Any]:
    """What the page needs of a pack: every Stage with its puzzle's fields in it, and none of the provenance but a line."""
    puzzles = {puzzle["id"]: puzzle for puzzle in pack["puzzles"]}
    generator = pack.get("generator") or {}
    return {
        **{key: pack.get(key) for key in ("pack_id", "pack_version", "content_hash", "ruleset")},
        "generator": " ".join(str(generator[key]) for key in ("name", "version") if key in generator),
        "reference": pack.get("scoring", {}).get("reference"),
        "levels": [
            {
                "id": level["id"],
                "title": level.get("title", ""),
                "stages": [_stage(stage, puzzles[stage["puzzle"]]) for stage in level["stages"]],
            }
            for level in pack["levels"]
        ],
    }


def _stage(stage: dict[str, Any], puzzle: dict[str, Any]) -> dict[str, Any]:
    shown = {key: puzzle[key] for key in ("board", "min_adds", "par", "family") if puzzle.get(key) is not None}
    return shown | {key: stage[key] for key in ("id", "puzzle", "adds", "difficulty", "solution") if key in stage}


def modules(names: tuple[str, ...]) -> str:
    """These JavaScript modules as one, without their imports and exports, each under its name."""
    return "\n".join(f"// ---- {name}\n\n{_EXPORT.sub('', _IMPORT.sub('', source(name)))}" for name in names)


def source(name: str) -> str:
    """A file of this package."""
    return files(__name__).joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    """The hash by which a content policy knows an inline script or style."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
