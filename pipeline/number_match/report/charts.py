"""The charts of the report: tables of a run come in, altair charts go out, and pictures of them.

Charts are drawn once, here, in the colours of theme.css as they are in a light room; the page recolours them by name in
the dark. Every chart is drawn at two widths, for desks and for phones. Marks carry a text that the page shows on hover.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from html import escape
from math import ceil
from typing import Any

import altair as alt
import polars as pl
from markupsafe import Markup

from number_match.pages import COLOURS

WIDE, NARROW = 1100, 330
FONT = "Inter, Liberation Sans, Arial, sans-serif"
USED = (
    *("ink", "soft", "rule", "card", "well", "accent", "low"),
    *("amber", "glow", "bad", "row", "column", "diagonal", "wrap"),
)
"""The colours, by name, that charts may have: each is another, so that a page can tell which one it recolours."""

# of a line for each player: a colour-blind safe hue and a dash, so that neither is needed alone
_LINES = [
    (COLOURS["row"], [1, 0]),
    (COLOURS["column"], [6, 3]),
    (COLOURS["diagonal"], [2, 2]),
    (COLOURS["wrap"], [8, 2, 2, 2]),
    (COLOURS["amber"], [4, 2]),
    (COLOURS["soft"], [1, 3]),
    (COLOURS["ink"], [10, 3]),
    (COLOURS["accent"], [3, 5]),
]
_MOST_PANELS = 20
_BIN = 5  # points of difficulty

Chart = alt.LayerChart | alt.VConcatChart | alt.HConcatChart | alt.FacetChart


@dataclass(frozen=True)
class Picture:
    """A chart at both widths, and what it says in a sentence."""

    name: str
    title: str
    text: str
    wide: Markup
    narrow: Markup


def picture(name: str, title: str, text: str, wide: Chart, narrow: Chart) -> Picture:
    """The chart as SVG."""
    return Picture(name, title, text, _svg(wide, f"{name}-w", text), _svg(narrow, f"{name}-n", text))


def png(chart: Chart) -> bytes:
    """The chart as a PNG at twice its size, on a light ground."""
    buffer = io.BytesIO()
    _dressed(chart, COLOURS["card"]).save(buffer, format="png", scale_factor=2)
    return buffer.getvalue()


def _dressed(chart: Chart, ground: str) -> Any:
    soft, ink, rule = COLOURS["soft"], COLOURS["ink"], COLOURS["rule"]
    axis = {
        "labelColor": soft,
        "titleColor": soft,
        "gridColor": rule,
        "tickColor": rule,
        "domainColor": rule,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    }
    legend = {
        "labelColor": ink,
        "titleColor": soft,
        "labelFontSize": 12,
        "titleFontWeight": "normal",
        "symbolSize": 160,
    }
    header = {"labelColor": ink, "labelFontSize": 12, "labelFontWeight": "bold", "title": None}
    config: dict[str, Any] = {
        "font": FONT,
        "background": ground,
        "axis": axis,
        "legend": legend,
        "header": header,
        "view": {"stroke": None},
        "text": {"color": ink},
        "aria": False,
    }
    return chart.properties(padding=4).configure(**config)


def _svg(chart: Chart, name: str, text: str) -> Markup:
    """SVG to stand in a page: named as a picture, its marks with a `<title>`, its ids its own."""
    buffer = io.StringIO()
    _dressed(chart, "transparent").save(buffer, format="svg")
    svg = buffer.getvalue()
    svg = re.sub(r'(id="|url\(#)(?=[\w-]+)', rf"\g<1>{name}-", svg)
    svg = re.sub(
        r'<(path|line|rect|text)([^>]*?) aria-label="([^"]*)"([^>]*?)/>', r"<\1\2\4><title>\3</title></\1>", svg
    )
    svg = re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", svg)
    width, height = re.findall(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"', svg)[0]
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(text)}" {size}>'
    return Markup(re.sub(r"^<svg[^>]*>", lambda _: opening, svg))


def _data(frame: pl.DataFrame) -> alt.InlineData:
    return alt.InlineData(values=frame.to_dicts())


def _counted(column: str, noun: str) -> pl.Expr:
    """`words.counted` of a column."""
    return pl.format("{} {}", column, pl.when(pl.col(column) == 1).then(pl.lit(noun)).otherwise(pl.lit(f"{noun}s")))


def _axis(title: str | None = None, **settings: Any) -> Any:
    return alt.Axis(title=title, **settings)


# ------------------------------------------------------------------------------------------------------------- curve


def curve(stages: pl.DataFrame, width: int) -> Chart:
    """Target and achieved difficulty with its interval, Stage by Stage; Levels as ground; Adds as a second strip."""
    last = stages.height
    frame = stages.with_columns(
        pl.format(
            "{}: difficulty {} ({} to {}), target {}, {}, {}",
            "stage",
            *(pl.col(key).round(1) for key in ("score", "low", "high", "target")),
            _counted("adds", "Add"),
            "band",
        ).alias("say"),
        (pl.col("number") - 0.5).alias("from"),
        (pl.col("number") + 0.5).alias("to"),
        (pl.col("distance").abs() > 5).alias("far"),
    ).select("stage", "number", "from", "to", "score", "low", "high", "target", "adds", "say", "far")
    levels = stages.group_by("level", maintain_order=True).agg(
        (pl.col("number").min() - 0.5).alias("from"), (pl.col("number").max() + 0.5).alias("to")
    )
    every = ceil(levels.height / max(1, width // 60))
    levels = levels.with_row_index("n").with_columns(
        ((pl.col("from") + pl.col("to")) / 2).alias("middle"),
        pl.when(pl.col("n") % every == 0).then("level").otherwise(pl.lit("")).alias("name"),
    )
    x = alt.X("from:Q", scale=alt.Scale(domain=[0.5, last + 0.5], nice=False), axis=None)
    at = alt.X("number:Q", axis=None)
    height = 300 if width > 600 else 220
    odd = levels.filter(pl.col("n") % 2 == 1)
    ground = alt.Chart(_data(odd)).mark_rect(fill=COLOURS["well"], opacity=0.6).encode(x=x, x2="to:Q")
    names = (
        alt.Chart(_data(levels))
        .mark_text(baseline="top", dy=5, fontSize=11, fill=COLOURS["soft"], limit=every * width / max(1, levels.height))
        .encode(x=alt.X("middle:Q", axis=None), y=alt.value(0), text="name:N")
    )
    base = alt.Chart(_data(frame))
    y = alt.Y("score:Q", scale=alt.Scale(domain=[0, 100]), axis=_axis("difficulty", tickCount=5))
    thick = max(1.5, min(7.0, 0.5 * width / last))
    target = base.mark_rule(stroke=COLOURS["amber"], strokeWidth=2).encode(x=x, x2="to:Q", y=alt.Y("target:Q"))
    bar = base.mark_rule(stroke=COLOURS["accent"], strokeWidth=thick, opacity=0.45)
    interval = bar.encode(x=at, y="low:Q", y2="high:Q")
    points = base.mark_point(filled=True, size=min(60.0, 10 + 0.8 * thick**2)).encode(
        x=at,
        y=y,
        color=_either("far", "bad", "accent"),
        shape=alt.condition("datum.far", alt.value("diamond"), alt.value("circle")),
    )
    hover = base.mark_rect(fill=COLOURS["card"], opacity=0, aria=True).encode(
        x=x, x2="to:Q", y=alt.value(0), y2=alt.value(height), description="say:N"
    )
    main = alt.layer(ground, names, target, interval, points, hover).properties(width=width - 60, height=height)
    most = max([1, *frame["adds"].to_list()])
    up = alt.Y("adds:Q", scale=alt.Scale(domain=[0, most]), axis=_axis("Adds", tickCount=min(most, 5), format="d"))
    adds = base.mark_rect(
        fill=COLOURS["low"], stroke=COLOURS["card"], strokeWidth=0.5 if last < 300 else 0, aria=True
    ).encode(x=x, x2="to:Q", y=up, y2=alt.datum(0), description="say:N")
    strip = alt.layer(adds).properties(width=width - 60, height=56)
    return alt.vconcat(main, strip, spacing=10)


def _either(flag: str, yes: str, no: str) -> Any:
    return alt.condition(f"datum.{flag}", alt.value(COLOURS[yes]), alt.value(COLOURS[no]))


# ------------------------------------------------------------------------------------------------------------ players


def pass_rates(stages: pl.DataFrame) -> pl.DataFrame:
    """The mean pass rate by Level (or span of Levels), player and allowance: level, player, adds, rate, say."""
    names = stages["level"].unique(maintain_order=True).to_list()
    span = ceil(len(names) / _MOST_PANELS)
    groups = [names[start : start + span] for start in range(0, len(names), span)]
    label = {name: group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}" for group in groups for name in group}
    rows = (
        stages.select(pl.col("level").replace_strict(label, return_dtype=pl.String), "players")
        .explode("players")
        .unnest("players")
        .select("level", "player", "playouts", "passed", pl.int_ranges(pl.col("passed").list.len()).alias("adds"))
        .explode("passed", "adds")
        .with_columns((pl.col("passed") / pl.col("playouts")).alias("rate"))
    )
    means = rows.group_by("level", "player", "adds", maintain_order=True).agg(
        pl.col("rate").mean(), pl.len().alias("n")
    )
    percent = (100 * pl.col("rate")).round(1)
    say = pl.format(
        "{}, {}: {}% with {} ({})", "level", "player", percent, _counted("adds", "Add"), _counted("n", "Stage")
    )
    return means.with_columns(say.alias("say"))


def players(rates: pl.DataFrame, width: int) -> Chart:
    """Pass rate by allowance, a line for every player, a panel for every Level; columns low and high give intervals."""
    names = rates["player"].unique(maintain_order=True).to_list()
    levels = rates["level"].unique(maintain_order=True).to_list()
    columns = min(len(levels), 5 if width > 600 else 2)
    hues = [_LINES[n % len(_LINES)][0] for n in range(len(names))]
    dashes = [_LINES[n % len(_LINES)][1] for n in range(len(names))]
    per_row = 0 if width > 600 else 3
    legend = alt.Legend(title=None, orient="top", symbolType="stroke", symbolStrokeWidth=2.5, columns=per_row)
    base = alt.Chart().encode(
        x=alt.X("adds:Q", axis=_axis("Adds allowed", tickMinStep=1, format="d")),
        y=alt.Y("rate:Q", scale=alt.Scale(domain=[0, 1]), axis=_axis("pass rate", format="%", tickCount=4)),
        color=alt.Color("player:N", scale=alt.Scale(domain=names, range=hues), legend=legend),
    )
    dashed = alt.StrokeDash("player:N", scale=alt.Scale(domain=names, range=dashes), legend=legend)
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=dashed)
    dots = base.mark_point(filled=True, size=36, aria=True).encode(description="say:N")
    bars = [base.mark_rule().encode(y=alt.Y("low:Q"), y2="high:Q")] if "low" in rates.columns else []
    each = (width - 60) / columns - (26 if width > 600 else 22)
    layered = alt.layer(lines, *bars, dots, data=_data(rates)).properties(width=each, height=120)
    return layered.facet(facet=alt.Facet("level:N", title=None, sort=levels), columns=columns, spacing=18)


# ------------------------------------------------------------------------------------------------- funnel, rejections


def funnel_counts(puzzles: pl.DataFrame, rejections: pl.DataFrame) -> pl.DataFrame:
    """From candidates to used: step, count, and what was lost on the way to it."""
    lost = dict(rejections.group_by("reason").len().sort("reason").iter_rows())
    count = puzzles.height + rejections.height
    rows = [("candidates", count, "")]
    for step, reasons in (
        ("distinct", ("duplicate", "excluded")),
        ("clearable", ("unclearable", "undecided", "failed")),
    ):
        found = [f"{lost[reason]:,} {reason}" for reason in reasons if lost.get(reason)]
        count -= sum(lost.get(reason, 0) for reason in reasons)
        rows.append((step, count, ", ".join(found)))
    scored = puzzles.filter(pl.col("scores").is_not_null()).height
    used = puzzles.filter(pl.col("stage").is_not_null()).height
    chosen = puzzles.filter(pl.col("stream") == "select").height
    rows += [("scored", scored, ""), ("near a slot", chosen, ""), ("used", used, "")]
    return pl.DataFrame(rows, schema=["step", "count", "lost"], orient="row")


def funnel(counts: pl.DataFrame, width: int) -> Chart:
    """A bar for each step, with its count and, where there is room, what was lost; a part of a wide page is enough."""
    width = min(width, 660)
    lost = pl.when((pl.col("lost") == "") | (width < 600)).then(pl.lit("")).otherwise(pl.format("  without {}", "lost"))
    frame = counts.with_columns(
        pl.format("{}{}", pl.col("count").map_elements(lambda n: f"{n:,}", return_dtype=pl.String), lost).alias("say")
    )
    most = max([1, *counts["count"].to_list()])
    axis = _axis(domain=False, ticks=False, labelPadding=8, labelFontSize=12)
    base = alt.Chart(_data(frame)).encode(y=alt.Y("step:N", sort=None, axis=axis))
    bars = base.mark_bar(fill=COLOURS["accent"], cornerRadiusEnd=4, height={"band": 0.62}).encode(
        x=alt.X("count:Q", axis=None, scale=alt.Scale(domain=[0, most * 1.9]))
    )
    words = base.mark_text(align="left", dx=8, fontSize=12, limit=width / 2).encode(x="count:Q", text="say:N")
    return alt.layer(bars, words).properties(width=width - 110, height=30 * counts.height)


def size_groups(cells: pl.Series, most: int = 18) -> list[int]:
    """Where groups of board sizes begin, so that there are at most so many."""
    sizes = sorted(cells.drop_nulls().unique().to_list())
    return sizes if len(sizes) <= most else sizes[:: ceil(len(sizes) / most)]


def _grouped(frame: pl.DataFrame, starts: list[int]) -> pl.DataFrame:
    """With `at`: where the group of a board's number of cells begins, and `size`: the sizes in it, as text."""
    at = pl.lit(starts[0] if starts else 0)
    for start in starts[1:]:
        at = pl.when(pl.col("cells") >= start).then(pl.lit(start)).otherwise(at)
    low, high = (end.over("at") for end in (pl.col("cells").min(), pl.col("cells").max()))
    size = pl.when(low == high).then(low.cast(pl.String)).otherwise(pl.format("{}–{}", low, high))
    return frame.with_columns(at.alias("at")).with_columns(size.alias("size"))


def by_size(puzzles: pl.DataFrame, rejections: pl.DataFrame) -> pl.DataFrame:
    """Every candidate that the solver looked at: cells, verdict, nodes."""
    tried = rejections.filter(pl.col("verdict").is_not_null()).select("cells", "verdict", "nodes")
    return pl.concat([puzzles.select("cells", pl.lit("clearable").alias("verdict"), "nodes"), tried])


def verdicts(tried: pl.DataFrame, width: int) -> Chart:
    """Verdicts, and the nodes that they took, by the number of cells."""
    grouped = _grouped(tried, size_groups(tried["cells"], 18 if width > 600 else 8))
    counts = grouped.group_by("at", "size", "verdict").len("count").sort("at", "verdict")
    counts = counts.with_columns((pl.col("count") / pl.col("count").sum().over("at")).alias("share")).with_columns(
        pl.format("{} cells: {} {} ({}%)", "size", "count", "verdict", (100 * pl.col("share")).round(2)).alias("say")
    )
    nodes = (
        grouped.filter(pl.col("nodes") > 0)
        .group_by("at", "size")
        .agg(
            pl.col("nodes").quantile(0.5).alias("half"),
            pl.col("nodes").quantile(0.95).alias("most"),
            pl.col("nodes").max().alias("top"),
            pl.len().alias("boards"),
        )
        .sort("at")
        .with_columns(
            pl.format(
                "{} cells: median {} nodes, 95% within {}, most {} ({})",
                "size",
                *(pl.col(key).cast(pl.Int64) for key in ("half", "most", "top")),
                _counted("boards", "board"),
            ).alias("say")
        )
    )
    kinds = ["clearable", "unclearable", "undecided"]
    x = alt.X("size:N", sort=None, axis=_axis("cells", labelAngle=0))
    share = (
        alt.Chart(_data(counts))
        .mark_bar(aria=True)
        .encode(
            x=x,
            y=alt.Y("share:Q", axis=_axis("share of boards", format="%", tickCount=4), scale=alt.Scale(domain=[0, 1])),
            fill=alt.Fill(
                "verdict:N",
                scale=alt.Scale(domain=kinds, range=[COLOURS[key] for key in ("accent", "column", "glow")]),
                legend=alt.Legend(title=None, orient="top"),
            ),
            description="say:N",
        )
    )
    decades = [10**n for n in range(len(str(nodes["top"].max() or 1)) + 1)]
    y = alt.Y("half:Q", scale=alt.Scale(type="log"), axis=_axis("nodes", format="~s", values=decades))
    base = alt.Chart(_data(nodes)).encode(x=x)
    spread = base.mark_rule(strokeWidth=6, stroke=COLOURS["low"]).encode(y=y, y2="most:Q")
    tick = base.mark_tick(thickness=2, color=COLOURS["soft"], size=14, aria=True)
    top = tick.encode(y="top:Q", description="say:N")
    dot = base.mark_point(filled=True, size=50, color=COLOURS["accent"], aria=True)
    median = dot.encode(y="half:Q", description="say:N")
    wide = width > 600
    size = (width - 150) / 2 if wide else width - 70
    left = alt.layer(share).properties(width=size, height=200)
    right = alt.layer(spread, top, median).properties(width=size, height=200)
    return alt.hconcat(left, right, spacing=40) if wide else alt.vconcat(left, right, spacing=24)


# ----------------------------------------------------------------------------------------------------- pool and curve


def supply(puzzles: pl.DataFrame, adds: tuple[int, int]) -> pl.DataFrame:
    """What the pool can offer: for every usable puzzle the bins of difficulty that its allowances reach.

    Columns puzzle, family, cells, bin (0 for scores from 0 up to 5, …), each bin of a puzzle once.
    """
    low, high = adds
    return (
        puzzles.filter(pl.col("scores").is_not_null())
        .with_columns(pl.int_ranges(pl.col("scores").list.len()).alias("adds"))
        .select("puzzle", "family", "cells", "min_adds_upper", "scores", "adds")
        .explode("scores", "adds")
        .filter(pl.col("adds").is_between(low, high) & (pl.col("adds") >= pl.col("min_adds_upper")))
        .with_columns((pl.col("scores").clip(0, 99.9) // _BIN).cast(pl.Int64).alias("bin"))
        .unique(["puzzle", "bin"], keep="first", maintain_order=True)
        .select("puzzle", "family", "cells", "bin")
    )


def against(offered: pl.DataFrame, stages: pl.DataFrame) -> pl.DataFrame:
    """For every bin of difficulty: puzzles that can stand there, Stages that want it, and whether that is thin."""
    wanted = (
        stages.select((pl.col("target").clip(0, 99.9) // _BIN).cast(pl.Int64).alias("bin"))
        .group_by("bin")
        .len("wanted")
    )
    held = offered.group_by("bin").len("puzzles")
    every = pl.DataFrame({"bin": range(100 // _BIN)})
    frame = every.join(held, on="bin", how="left").join(wanted, on="bin", how="left").fill_null(0).sort("bin")
    return frame.with_columns(
        (pl.col("puzzles") < 10 * pl.col("wanted")).alias("thin"),
        (pl.col("bin") * _BIN).alias("from"),
        ((pl.col("bin") + 1) * _BIN).alias("to"),
        ((pl.col("bin") + 0.5) * _BIN).alias("middle"),
    )


def pool(offered: pl.DataFrame, stages: pl.DataFrame, width: int) -> Chart:
    """Puzzles for each difficulty against the Stages that want it, and below it where families and sizes lie."""
    frame = against(offered, stages).with_columns(
        pl.format(
            "difficulty {} to {}: {} for {}", "from", "to", _counted("puzzles", "puzzle"), _counted("wanted", "Stage")
        ).alias("say"),
        pl.when(pl.col("wanted") > 0).then(pl.col("wanted").cast(pl.String)).otherwise(pl.lit("")).alias("asked"),
    )
    x = alt.X(
        "from:Q", scale=alt.Scale(domain=[0, 100], nice=False), axis=_axis("difficulty", tickCount=10, grid=False)
    )
    bars = alt.Chart(_data(frame)).encode(x=x, x2="to:Q")
    up = alt.Y("puzzles:Q", axis=_axis("puzzles", tickCount=4))
    columns = bars.mark_rect(aria=True, stroke=COLOURS["card"], strokeWidth=1).encode(
        y=up, y2=alt.datum(0), fill=_either("thin", "column", "low"), description="say:N"
    )
    asked = (
        alt.Chart(_data(frame))
        .mark_text(dy=-7, fontSize=10)
        .encode(x="middle:Q", y="puzzles:Q", text="asked:N", color=_either("thin", "column", "soft"))
    )
    lower = _families(offered, x, width)
    upper = alt.layer(columns, asked).properties(width=width - 36 - _label_room(width), height=170)
    return alt.vconcat(upper, lower, spacing=14)


def _label_room(width: int) -> int:
    """Pixels for the names of families."""
    return 120 if width > 600 else 76


def _families(offered: pl.DataFrame, x: Any, width: int) -> Chart:
    """How the puzzles of each family and size spread over difficulty, each row by itself."""
    kinds = pl.concat(
        [
            _grouped(some, size_groups(some["cells"], 3))
            for _, some in sorted(offered.group_by("family"), key=lambda group: str(group[0]))
        ]
        or [offered.with_columns(pl.lit("").alias("size"), pl.lit(0).alias("at"))]
    )
    counts = kinds.group_by("family", "at", "size", "bin").len("count").sort("family", "at", "bin")
    counts = counts.with_columns(
        (pl.col("count") / pl.col("count").max().over("family", "at")).alias("share"),
        pl.format("{} {}", "family", "size").alias("kind"),
        (pl.col("bin") * _BIN).alias("from"),
        ((pl.col("bin") + 1) * _BIN).alias("to"),
    )
    held = _counted("count", "puzzle")
    say = pl.format("{} of {} cells, difficulty {} to {}: {}", "family", "size", "from", "to", held)
    counts = counts.with_columns(say.alias("say"))
    rows = counts.select("family", "at").unique().height
    axis = _axis(domain=False, ticks=False, labelLimit=_label_room(width), labelFontSize=11)
    depth = alt.FillOpacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.05, 0.95]), legend=None)
    marks = alt.Chart(_data(counts)).mark_rect(fill=COLOURS["accent"], aria=True)
    cells = marks.encode(
        x=x, x2="to:Q", y=alt.Y("kind:N", sort=None, axis=axis), fillOpacity=depth, description="say:N"
    )
    return alt.layer(cells).properties(width=width - 36 - _label_room(width), height=max(1, rows) * 20)
