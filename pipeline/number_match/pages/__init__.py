"""A template, styles and scripts come in, one self-contained HTML page goes out: what preview and report share.

A page opens from disk and loads nothing. Its content policy names the one style and the one script in it by their
hashes, so that whatever else a text from outside might smuggle in neither runs nor loads.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup


def source(package: str, name: str) -> str:
    """A text file that lies in a package."""
    return files(package).joinpath(name).read_text("utf-8")


def render(template: str, *, style: str, script: str, **values: object) -> str:
    """The page of a Jinja template, with style, script, their hashes, and values, escaped unless they are Markup."""
    style, script = f"\n{THEME}\n{style}", f"\n{script}"
    digests = {"style_hash": _digest(style), "script_hash": _digest(script)}
    return _JINJA.from_string(template).render(values, style=Markup(style), script=Markup(script), **digests)


def embedded(value: object) -> Markup:
    """JSON to stand in a `<script type="application/json">`: no markup can begin or end in it."""
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))


def _digest(text: str) -> str:
    """The hash by which a content policy knows an inline script or style."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


_JINJA = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)

THEME = source(__name__, "theme.css")
"""The colours in both lights, and the plain ground on which both pages stand."""

COLOURS = dict(re.findall(r"--([a-z0-9-]+): (?:light-dark\()?(#[0-9a-f]{6})", THEME))
"""The colours by name, as they are in a light room."""
