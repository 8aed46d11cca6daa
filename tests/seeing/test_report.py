"""The report as a designer reads it, and what it says held against the tables it is made from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from number_match import report
from number_match.cli import run as command
from number_match.models import Pack
from number_match.pages import COLOURS
from number_match.report import charts
from number_match.report.folder import RunFolder, read_run
from number_match.report.page import drawing
from number_match.rules import Board, Ruleset
from number_match.store import Store

from .conftest import Opener
from .packs import make_pack, puzzles
from .runs import make_run
from .test_preview import HOSTILE, PHONE, WIDE, hostile_pack

PICTURES = ("curve", "players", "funnel", "verdicts", "pool")


@pytest.fixture(scope="module")
def pack() -> Pack:
    return make_pack(puzzles(12, seed=21), per_level=4)


@pytest.fixture(scope="module")
def folder(pack: Pack, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_run(tmp_path_factory.mktemp("run"), pack)
    report.write_report(made)
    return made


@pytest.fixture(scope="module")
def html(folder: Path) -> str:
    return (folder / "report.html").read_text("utf-8")


@pytest.fixture(scope="module")
def run(folder: Path) -> RunFolder:
    return read_run(folder)


# -------------------------------------------------------------------------------------------------------- the figures


def test_the_funnel_counts_every_candidate_once(run: RunFolder) -> None:
    counts = dict(charts.funnel_counts(run.puzzles, run.rejections).select("step", "count").iter_rows())
    lost = dict(run.rejections.group_by("reason").len().iter_rows())
    assert counts["candidates"] == run.puzzles.height + run.rejections.height == 87
    assert counts["candidates"] - counts["distinct"] == lost["duplicate"]
    assert counts["distinct"] - counts["clearable"] == lost["unclearable"] + lost["undecided"]
    assert counts["clearable"] == counts["scored"] == run.puzzles.height
    assert counts["used"] == 12


def test_pass_rates_are_the_means_of_the_stages(run: RunFolder, pack: Pack) -> None:
    rates = charts.pass_rates(run.stages)
    level = pack.levels[1]
    counts = [stage.difficulty.players["casual"] for stage in level.stages]
    expected = sum(count.passed[3] / count.playouts for count in counts) / len(counts)
    found = rates.filter(level=level.id, player="casual", adds=3)["rate"].to_list()
    assert found == [pytest.approx(expected)]
    assert rates.height == 3 * 2 * 6


def test_many_levels_share_panels(run: RunFolder) -> None:
    stages = pl.concat([run.stages.with_columns(level=pl.lit(f"L{n:03}")) for n in range(1, 51)])
    names = charts.pass_rates(stages)["level"].unique(maintain_order=True).to_list()
    assert (len(names), names[0], names[-1]) == (17, "L001 to L003", "L049 to L050")


def test_the_pool_counts_what_could_stand_there() -> None:
    schema = {"puzzle": pl.String(), "family": pl.String(), "cells": pl.Int64(), "min_adds_upper": pl.Int64()}
    pool = pl.DataFrame(
        [
            ("a", "x", 27, 1, [100.0, 42.0, 41.0, 12.0]),  # 42 and 41 fall into one bin
            ("b", "x", 27, 2, [100.0, 90.0, 44.9, 45.0]),  # needs two Adds, so that 90 is not on offer
            ("c", "x", 36, 1, None),  # never scored
        ],
        schema=schema | {"scores": pl.List(pl.Float64)},
        orient="row",
    )
    offered = charts.supply(pool, (1, 3))
    assert sorted(offered.select("puzzle", "bin").rows()) == [("a", 2), ("a", 8), ("b", 8), ("b", 9)]
    wanted = pl.DataFrame({"target": [42.0, 100.0]})
    frame = {row["from"]: row for row in charts.against(offered, wanted).iter_rows(named=True)}
    assert (frame[40]["puzzles"], frame[40]["wanted"], frame[40]["thin"]) == (2, 1, True)
    assert (frame[95]["puzzles"], frame[95]["wanted"], frame[95]["thin"]) == (0, 1, True)
    assert (frame[10]["puzzles"], frame[10]["wanted"], frame[10]["thin"]) == (1, 0, False)


def test_sizes_fall_into_few_groups() -> None:
    assert charts.size_groups(pl.Series([27, 27, 36])) == [27, 36]
    starts = charts.size_groups(pl.Series(range(10, 110)))
    assert len(starts) <= 18
    assert starts[0] == 10


def test_colours_of_charts_can_be_told_apart_by_the_page() -> None:
    values = [COLOURS[name] for name in charts.USED]
    assert len(set(values)) == len(values)


def test_every_chart_uses_the_colours_of_the_page(html: str) -> None:
    drawn = set(
        re.findall(
            r'(?:fill|stroke)="(#[0-9a-f]{3,6})"',
            "".join(re.findall(r'class="(?:wide|narrow)">.*?</div>', html, re.DOTALL)),
        )
    )
    assert drawn
    assert drawn <= {COLOURS[name] for name in charts.USED}


def test_the_charts_are_written_as_png_too(folder: Path) -> None:
    for name in PICTURES:
        data = (folder / "reports" / f"{name}.png").read_bytes()
        assert data.startswith(b"\x89PNG")
        assert int.from_bytes(data[16:20], "big") >= 1200, "twice as wide as on the page"


# ---------------------------------------------------------------------------------------------------------- the page


@pytest.mark.parametrize("javascript", [True, False], ids=["with JavaScript", "without"])
def test_the_page_shows_every_stage_and_chart(open_page: Opener, html: str, pack: Pack, javascript: bool) -> None:
    with open_page(html, java_script_enabled=javascript) as page:
        for name in PICTURES:
            expect(page.locator(f"#{name} .wide svg")).to_be_visible()
        cards, rows = page.locator("#cards > li"), page.locator("#stages tbody tr")
        assert (cards.count(), rows.count()) == (12, 12)
        for number, stage in enumerate(stage for level in pack.levels for stage in level.stages):
            shown = cards.nth(number)
            board = next(puzzle.board for puzzle in pack.puzzles if puzzle.id == stage.puzzle)
            assert stage.id in shown.inner_text()
            assert f"{stage.difficulty.score:.1f}" in shown.inner_text()
            assert "".join(shown.locator("svg text").all_text_contents()) == board.replace("/", "")
            rate = 100 * stage.difficulty.players["casual"].passed[stage.adds] / 10000
            assert f"{rate:.1f}" in rows.nth(number).inner_text()
        expect(page.locator("#provenance")).to_contain_text(pack.content_hash)
        assert page.locator("#filters").is_visible() == javascript


def test_a_mark_tells_its_stage(open_page: Opener, html: str, pack: Pack) -> None:
    stage = pack.levels[0].stages[0]
    with open_page(html) as page:
        mark = page.locator("#curve .wide [data-say]").first
        mark.hover()
        expect(page.locator("#say")).to_contain_text(f"{stage.id}: difficulty {stage.difficulty.score}")
        page.locator("h1").hover()
        expect(page.locator("#say")).to_be_hidden()


def test_without_javascript_a_mark_has_its_title(html: str, pack: Pack) -> None:
    for level in pack.levels:
        for stage in level.stages:
            assert f"<title>{stage.id}: difficulty {stage.difficulty.score}" in html


def test_the_table_sorts_numbers_as_numbers_and_back(open_page: Opener, html: str, run: RunFolder) -> None:
    with open_page(html) as page:
        head = page.get_by_role("columnheader", name="Difficulty").first
        scores = page.locator("#stages tbody tr td:nth-child(2)")
        head.get_by_role("button").click()
        assert [float(text) for text in scores.all_inner_texts()] == sorted(run.stages["score"].to_list())
        expect(head).to_have_attribute("aria-sort", "ascending")
        head.get_by_role("button").click()
        assert [float(text) for text in scores.all_inner_texts()] == sorted(run.stages["score"].to_list(), reverse=True)
        page.get_by_role("button", name="Stage", exact=True).click()
        first = page.locator("#stages tbody tr td:first-child").all_inner_texts()
        assert first == run.stages["stage"].to_list()


def test_filters_leave_the_same_stages_in_pictures_and_table(open_page: Opener, html: str, run: RunFolder) -> None:
    with open_page(html) as page:
        page.locator("[data-filter=level]").select_option("L002")
        assert page.locator("#cards > li:visible").count() == 4
        page.locator("[data-filter=band]").select_option("hard")
        wanted = run.stages.filter(level="L002", band="hard")["stage"].to_list()
        assert page.locator("#stages tbody tr:visible td:first-child").all_inner_texts() == wanted
        expect(page.locator("#shown")).to_have_text(f"{len(wanted)} of 12 Stages")
        page.locator("[data-filter=level]").select_option("")
        page.locator("[data-filter=band]").select_option("")
        page.get_by_label("Find").fill(f"opening {run.stages['puzzle'][7][:8].upper()}")
        assert page.locator("#cards > li:visible h3 > bdi").all_inner_texts() == [run.stages["stage"][7]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing_in_the_report(open_page: Opener, html: str, viewport: dict[str, int], scheme: str) -> None:
    with open_page(html, viewport=viewport, color_scheme=scheme) as page:
        page.get_by_text("The resolved config").click()
        results = Axe().run(page)
        assert not results.response["violations"], results.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "only tables scroll sideways"
        which = ".narrow" if viewport == PHONE else ".wide"
        assert (
            page.locator("figure svg:visible").count() == page.locator(f"figure {which} svg").count() == len(PICTURES)
        )


def test_charts_follow_the_light(open_page: Opener, html: str) -> None:
    bar = "getComputedStyle(document.querySelector('#funnel .wide [fill=\"#0f6f73\"]')).fill"
    with open_page(html, color_scheme="light") as page:
        light = page.evaluate(bar)
        page.get_by_role("button", name="Light or dark").click()
        assert page.evaluate(bar) != light


def test_text_from_outside_is_text(open_page: Opener, tmp_path: Path) -> None:
    text = HOSTILE[1]
    made = make_run(tmp_path / "run", hostile_pack(text), family=text, candidates=8)
    report.write_report(made)
    with open_page((made / "report.html").read_text("utf-8"), viewport=PHONE) as page:
        assert page.evaluate("window.hacked") is None
        assert page.locator("h1").text_content() == text
        assert page.locator("td.title").all_text_contents() == HOSTILE
        assert page.locator("#cards .small bdi").first.text_content() == text
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_board_is_drawn_cell_by_cell() -> None:
    drawn: dict[str, Any] = drawing(Board.parse("1.2/.3", Ruleset.parse("width=3")))
    assert (drawn["width"], drawn["height"]) == (30, 20)
    assert drawn["rows"] == [{"y": 7.3, "x": "5 25", "digits": "12"}, {"y": 17.3, "x": "15", "digits": "3"}]
    assert drawn["tiles"].count("M") == 3
    assert drawn["dots"] == "M15 5h0M5 15h0"


# -------------------------------------------------------------------------------------------------------- the command


def test_the_report_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["report", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder / 'report.html'}\n"
    assert report.is_current(folder)


SMALLEST = """
generate = { candidates = 12, families = [{ name = "small", cells = [4, 6] }] }
rules = { adds = [0, 2] }
score = { reference = "random", panel = ["random"], screen = { playouts = 20 }, report = { playouts = 20 } }
assemble = { levels = 1, stages = 2, tolerance = 100, curve = { start = 50, end = 50 } }
run = { engine = "inline" }
"""


def test_a_run_ends_with_its_report_and_draws_it_again_only_when_it_is_stale(tmp_path: Path) -> None:
    (tmp_path / "smallest.toml").write_text(SMALLEST)
    arguments = ["run", "-c", str(tmp_path / "smallest.toml"), "-o", str(tmp_path / "run"), "--quiet"]
    assert command(arguments) == 0
    page = tmp_path / "run" / "report.html"
    drawn = page.stat().st_mtime_ns
    assert command(arguments) == 0
    assert page.stat().st_mtime_ns == drawn, "nothing to do"
    page.unlink()
    assert command(arguments) == 0
    assert page.exists()


def test_what_is_no_finished_run_is_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(path: Path, *words: str) -> None:
        assert command(["report", str(path)]) == 2
        told = capsys.readouterr().err
        assert told.startswith("error: ")
        assert all(word in told for word in words), told

    refused(tmp_path / "nowhere", "nowhere", "run.json")
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    (unfinished / "run.json").write_text("{}")
    assert not report.is_current(unfinished)
    refused(unfinished, "pack.json", "goes on")
    (unfinished / "pack.json").write_bytes((folder / "pack.json").read_bytes())
    refused(unfinished, "reports/puzzles.parquet")
    (unfinished / "reports").mkdir()
    (unfinished / "reports" / "puzzles.parquet").write_bytes(b"PAR1 but no more")
    refused(unfinished, "reports/puzzles.parquet", "damaged")
    store = Store(unfinished)
    for name in ("puzzles", "stages", "levels", "rejections"):
        table = Store(folder).read_report(name)
        assert table is not None
        store.write_report(name, table.with_columns(later=pl.lit(1)))
    assert command(["report", str(unfinished)]) == 0, "columns of a later version are no matter"
    stages = Store(folder).read_report("stages")
    assert stages is not None
    store.write_report("stages", stages.with_columns(players=pl.lit("none")))
    refused(unfinished, "reports/stages.parquet", "no column players")
    store.write_report("levels", pl.DataFrame({"title": ["without its Level"]}))
    refused(unfinished, "reports/levels.parquet", "no column level")
