"""The preview as a player and a designer use it: every board on the page is compared with rules.py."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect
from typer.testing import CliRunner

from number_match import preview
from number_match.calibrate import Row, read_telemetry
from number_match.cli import app, run
from number_match.errors import UserError
from number_match.models import Pack, client_pack, pack_text
from number_match.rules import Board, Ruleset, class_counts, named

from .conftest import Opener
from .packs import EXAMPLE_BOARD, EXAMPLE_SOLUTION, example_pack, make_pack, puzzles, reskinned

EXAMPLE = Board.parse(f"{EXAMPLE_BOARD} +2")
WIDE, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}

READ_BOARD = """() => {
  const rows = [...document.querySelectorAll('#board .line:not(.leaving)')].map((row) => [...row.children]);
  return rows.map((cells) => cells.map((cell) => cell.dataset.digit.replace('0', '.')).join('')).join('/') || '-';
}"""


def shown(page: Page) -> str:
    """The board on the page with its Adds, in the notation; the positions and names of its cells must agree with it."""
    text = page.evaluate(READ_BOARD)
    cells = page.locator("#board .line:not(.leaving) [role=gridcell]")
    assert cells.evaluate_all("(all) => all.map((cell) => Number(cell.dataset.at))") == list(range(cells.count()))
    said = cells.evaluate_all("(all) => all.map((cell) => cell.getAttribute('aria-label').split(',')[0])")
    assert "".join("." if word == "hole" else word for word in said) == text.replace("/", "").replace("-", "")
    return f"{text} +{page.locator('#adds-left').inner_text()}"


def cell(page: Page, at: str | int) -> Locator:
    return page.locator(f'#board [data-at="{at}"]')


def click(page: Page, action: str) -> None:
    if action == "+":
        page.locator("#add").click()
    else:
        for at in action.split("-"):
            cell(page, at).click()


def press(page: Page, action: str) -> None:
    """The same with keys alone, from wherever the keyboard is on the board."""
    if action == "+":
        page.keyboard.press("a")
        return
    for at in map(int, action.split("-")):
        width = page.locator("#board .line").first.locator("> *").count()
        here = int(page.evaluate("document.activeElement.dataset.at"))
        page.keyboard.press("Home")
        for _ in range(abs(at // width - here // width)):
            page.keyboard.press("ArrowDown" if at > here else "ArrowUp")
        for _ in range(at % width):
            page.keyboard.press("ArrowRight")
        assert int(page.evaluate("document.activeElement.dataset.at")) == at
        page.keyboard.press("Enter")


def play(page: Page, board: Board, actions: tuple[str, ...], how: Any) -> Board:
    for action in actions:
        how(page, action)
        board = board.play(action)
        assert shown(page) == str(board)
    return board


@pytest.fixture(scope="module")
def html() -> str:
    return preview.page(example_pack())


# ------------------------------------------------------------------------------------------------------------- playing


def test_a_stage_is_played_to_the_end_with_clicks(open_page: Opener, html: str) -> None:
    with open_page(html) as page:
        assert shown(page) == str(EXAMPLE)
        assert play(page, EXAMPLE, EXAMPLE_SOLUTION, click).cleared
        expect(page.get_by_role("heading", name="Cleared")).to_be_visible()
        expect(page.locator("#message")).to_have_text("Cleared: 7 pairs, 1 Add: par with the fewest Adds.")
        page.get_by_role("button", name="Next Stage", exact=True).last.click()
        expect(page.locator("#stage-line")).to_contain_text("Stage 2 of 3")


def test_a_stage_is_played_to_the_end_with_keys(open_page: Opener, html: str) -> None:
    with open_page(html) as page:
        page.keyboard.press("Tab")  # the way to the board
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        while page.evaluate("!document.activeElement.dataset.at"):
            page.keyboard.press("Tab")
        assert play(page, EXAMPLE, EXAMPLE_SOLUTION, press).cleared
        assert page.evaluate("document.activeElement.textContent") == "Next Stage"
        page.keyboard.press("Enter")
        expect(page.locator("#stage-line")).to_contain_text("Stage 2 of 3")
        assert page.evaluate("document.activeElement.dataset.at") == "0", "the keyboard is on the new board"


def test_a_stage_is_played_to_the_end_by_touch_while_things_move(open_page: Opener, html: str) -> None:
    def tap(page: Page, action: str) -> None:
        if action == "+":
            page.locator("#add").tap()
        else:
            for at in action.split("-"):
                cell(page, at).tap()

    with open_page(html, has_touch=True, is_mobile=True, viewport=PHONE, reduced_motion="no-preference") as page:
        assert play(page, EXAMPLE, EXAMPLE_SOLUTION, tap).cleared
        expect(page.locator("#board .line")).to_have_count(0)  # rows that collapse go, in time
        expect(page.get_by_role("heading", name="Cleared")).to_be_visible()


def test_a_stage_is_replayed_to_the_end(open_page: Opener, html: str) -> None:
    boards = [EXAMPLE]
    for action in EXAMPLE_SOLUTION:
        boards.append(boards[-1].play(action))
    with open_page(html) as page:
        step, back = page.locator("#replay-step"), page.locator("#replay-back")
        step.click()
        for number, board in enumerate(boards):
            assert shown(page) == str(board)
            expect(page.locator("#replay-at")).to_have_value(str(number))
            if number < len(EXAMPLE_SOLUTION):
                action = EXAMPLE_SOLUTION[number]
                marked = page.locator("#board .cell.next").evaluate_all(
                    "(all) => all.map((cell) => cell.dataset.at).join('-')"
                )
                assert marked == ("" if action == "+" else action), "the coming pair is marked, and its link drawn"
                assert (page.locator("#board line.next").count() > 0) == (action != "+")
                step.click()
        expect(step).to_be_disabled()
        back.click()
        assert shown(page) == str(boards[-2])
        page.locator("#replay-at").fill("3")
        assert shown(page) == str(boards[3])
        cell(page, 0).click()
        assert shown(page) == str(boards[3]), "the replay is no game"
        page.locator("#leave-replay").click()
        assert shown(page) == str(EXAMPLE)


def test_on_a_phone_the_replay_is_at_hand_beside_a_tall_board(open_page: Opener) -> None:
    (board, solution), *_ = puzzles(1, seed=9, cells=60)
    with open_page(preview.page(make_pack([(board, solution)])), viewport=PHONE) as page:
        page.locator("#replay-step").click()
        for place in ("#board", "#replay-step"):
            expect(page.locator(place)).to_be_in_viewport()
        page.locator("#replay-at").fill(str(len(solution) - 1))
        expect(page.locator("#replay-step")).to_be_in_viewport()
        page.locator("#leave-replay").click()
        expect(page.locator("#add")).to_be_visible()


def test_the_replay_plays_and_pauses(open_page: Opener, html: str) -> None:
    with open_page(html) as page:
        page.clock.install()
        toggle = page.locator("#replay-play")
        toggle.click()
        page.clock.run_for(2500)
        expect(page.locator("#replay-at")).to_have_value("2")
        toggle.click()
        page.clock.run_for(5000)
        expect(page.locator("#replay-at")).to_have_value("2")
        toggle.click()
        page.clock.run_for(20000)
        expect(page.locator("#replay-at")).to_have_value("8")
        expect(toggle).to_have_attribute("aria-pressed", "false")
        assert shown(page) == "- +1"


ILLEGAL = {
    "digits": ("38", (0, 1), "3 and 8 do not match: equal, or 10 together."),
    "row": ("1239", (0, 3), "2 blocks the row."),
    "column": ("412345678/512345678/612345678", (18, 0), "5 blocks the column."),
    "diagonal": ("412345678/151234567/126", (0, 20), "5 blocks the diagonal."),
    "wrap": ("123456789/712345678", (2, 9), "4 blocks the wrap."),
    "apart": ("412345678/123456712/111111161", (0, 25), "4 and 6 match, but no line joins them."),
    "hole": ("4.4", (0, 1), "That is a hole."),
}


@pytest.mark.parametrize("kind", ILLEGAL)
def test_an_illegal_pair_says_why(open_page: Opener, kind: str) -> None:
    board, cells, reason = ILLEGAL[kind]
    with open_page(preview.page(without_solutions(board))) as page:
        for at in cells:
            cell(page, at).click()
        expect(page.locator("#message")).to_have_text(reason)
        assert shown(page) == f"{board} +0", "nothing was played"
        if "blocks" in reason:
            assert page.locator("#board .cell.blocking").inner_text() == reason[0]


def without_solutions(*boards: str, **fields: Any) -> Any:
    """A client file of these boards, whatever they are."""
    return client_pack(make_pack([(Board.parse(board), ()) for board in boards], **fields))


def test_stuck_is_told_and_undo_leads_out(open_page: Opener) -> None:
    with open_page(preview.page(without_solutions("1234..5../19 +0"))) as page:
        click(page, "9-10")
        expect(page.get_by_role("heading", name="Stuck")).to_be_visible()
        expect(page.locator("#message")).to_have_text("Stuck: 5 cells left, no pair and no Add.")
        page.locator("#ending").get_by_role("button", name="Undo").click()
        expect(page.get_by_role("heading", name="Stuck")).to_be_hidden()


def test_undo_redo_restart(open_page: Opener, html: str) -> None:
    with open_page(html) as page:
        board = play(page, EXAMPLE, EXAMPLE_SOLUTION[:3], click)
        for _ in range(3):
            page.locator("#undo").click()
        assert shown(page) == str(EXAMPLE)
        expect(page.locator("#undo")).to_be_disabled()
        page.locator("#redo").click()
        page.locator("#redo").focus()
        page.keyboard.press("y")
        page.keyboard.press("y")
        assert shown(page) == str(board)
        page.keyboard.press("Control+z")
        page.keyboard.press("Control+Shift+z")
        assert shown(page) == str(board)
        page.keyboard.press("u")
        click(page, "+")
        expect(page.locator("#redo")).to_be_disabled()
        page.locator("#restart").click()
        assert shown(page) == str(EXAMPLE)


def test_hints_lead_along_the_stored_solution_and_off_it_to_an_open_pair(open_page: Opener, html: str) -> None:
    with open_page(html) as page:
        board = EXAMPLE
        for action in EXAMPLE_SOLUTION:
            page.locator("#hint").click()
            if action == "+":
                expect(page.locator("#message")).to_have_text("Add now, as the stored solution does.")
            else:
                assert (
                    page.locator("#board .cell.hint").evaluate_all(
                        "(all) => all.map((cell) => cell.dataset.at).join('-')"
                    )
                    == action
                )
            board = play(page, board, (action,), click)
        page.locator("#restart").click()
        off = next(f"{i}-{j}" for i, j in EXAMPLE.pairs() if f"{i}-{j}" not in EXAMPLE_SOLUTION)
        board = play(page, EXAMPLE, (off,), click)
        page.locator("#hint").click()
        hinted = page.locator("#board .cell.hint").evaluate_all("(all) => all.map((cell) => Number(cell.dataset.at))")
        assert tuple(hinted) in board.pairs()
        expect(page.locator("#message")).to_contain_text("the stored solution does not come by here")


def test_a_pair_is_removed_by_the_link_that_is_drawn(open_page: Opener, html: str) -> None:
    with open_page(html) as page:
        page.get_by_label("Draw the open pairs").check()
        assert page.locator("#board line.open").count() == len(EXAMPLE.pairs()), "this board has no open wrap pair"
        click(page, "1-11")
        expect(page.locator("#message")).to_have_text("1 and 1 by the diagonal.")
        click(page, "2-12")
        expect(page.locator("#message")).to_have_text("6 and 6 by the diagonal.")


# what pressing these actions one after another shows, without waiting for anything
CLICK_THROUGH = f"""(actions) => actions.map((action) => {{
  const at = (position) => document.querySelector('#board [data-at="' + position + '"]');
  if (action === '+') document.querySelector('#add').click();
  else action.split('-').forEach((position) => at(position).click());
  return ({READ_BOARD})();
}})"""


def boards_after(board: Board, actions: tuple[str, ...]) -> list[str]:
    """The board after each action, by rules.py."""
    seen = []
    for action in actions:
        board = board.play(action)
        seen.append(board.text)
    return seen


def test_every_board_of_thirty_games_is_the_one_of_rules_py(open_page: Opener) -> None:
    """Clicked through faster than things move, so that what still moves is never taken for the board."""
    games = puzzles(30, seed=11)
    with open_page(preview.page(make_pack(games)), reduced_motion="no-preference") as page:
        for number, (board, solution) in enumerate(games):
            assert page.evaluate(CLICK_THROUGH, solution) == boards_after(board, solution)
            if number + 1 < len(games):
                page.locator("#next").click()


@pytest.mark.parametrize("ruleset", [named(width=5), named(wrap=False, width=12)], ids=lambda ruleset: ruleset.id)
def test_other_rulesets_play(open_page: Opener, ruleset: Ruleset) -> None:
    (board, solution), *_ = puzzles(1, seed=5, ruleset=ruleset)
    with open_page(preview.page(make_pack([(board, solution)]))) as page:
        assert page.evaluate(CLICK_THROUGH, solution) == boards_after(board, solution)
        expect(page.get_by_role("heading", name="Cleared")).to_be_visible()


# ------------------------------------------------------------------------------------------------------- the desk


def test_the_desk_tells_what_the_pack_holds(open_page: Opener, html: str) -> None:
    stage = example_pack().levels[0].stages[0]
    rate = stage.difficulty.players["casual"].passed[2] / 10000
    with open_page(html) as page:
        desk = page.locator("#desk")
        for text in (
            stage.id,
            stage.puzzle,
            EXAMPLE_BOARD,
            f"{stage.difficulty.score:.1f}, target {stage.difficulty.target:.1f}",
        ):
            expect(desk).to_contain_text(text)
        expect(desk.locator(".panel li").first).to_contain_text(f"{rate:.0%}")
        assert tuple(map(int, desk.locator(".classes b").all_inner_texts())) == class_counts(EXAMPLE)


def test_a_lost_board_is_called_lost(open_page: Opener) -> None:
    with open_page(preview.page(without_solutions("11345678 +0", "1122 +0"))) as page:
        expect(page.locator("#now")).to_contain_text("Lost: no Add is left and a class is odd.")
        page.locator("#next").click()
        expect(page.locator("#now")).to_contain_text("Row and wrap pairs alone clear this board")


def test_progress_is_kept_by_puzzle_and_exported_as_telemetry(open_page: Opener, html: str, tmp_path: Path) -> None:
    with open_page(html) as page:
        play(page, EXAMPLE, EXAMPLE_SOLUTION[:2], click)
        page.locator("#restart").click()  # one game given up
        play(page, EXAMPLE, EXAMPLE_SOLUTION, click)  # one cleared
        page.locator("#ending").get_by_role("button", name="Again").click()
        board = play(page, EXAMPLE, EXAMPLE_SOLUTION[:4], click)  # one left open
        page.reload()
        assert shown(page) == str(board)
        page.locator("#hint").click()  # with help, it will not count
        play(page, board, EXAMPLE_SOLUTION[4:], click)
        expect(page.locator("#record")).to_contain_text("1 of 2 games")
        expect(page.locator(".stage.done")).to_have_count(1)
        with page.expect_download() as download:
            page.get_by_role("button", name="Export as telemetry").click()
        saved = tmp_path / download.value.suggested_filename
        download.value.save_as(saved)
        told = json.loads(saved.read_text())
        stage = example_pack().levels[0].stages[0]
        assert saved.name == "example.telemetry.json"
        assert told == {
            "format": "number-match-telemetry",
            "format_version": 1,
            "pack_id": "example",
            "content_hash": example_pack().content_hash,
            "rows": [
                {
                    "stage": "L001-S01",
                    "puzzle": stage.puzzle,
                    "board": EXAMPLE_BOARD,
                    "allowance": 2,
                    "attempts": 2,
                    "clears": 1,
                    "helped_attempts": 1,
                    "helped_clears": 1,
                    "best_pairs": 7,
                    "best_adds": 1,
                    "par": 7,
                    "min_adds": 1,
                }
            ],
        }
        assert read_telemetry(saved, example_pack()) == [Row(stage.puzzle, allowance=2, attempts=2, clears=1)]


DAMAGED = [
    "{",
    "7",
    "[]",
    '{"game": {"actions": ["0-99", "x"], "at": 1}}',
    '{"game": {"actions": ["+", "+", "+", "+"], "at": 4}, "clears": -1, "best": {"pairs": "<b>"}}',
]


@pytest.mark.parametrize("held", DAMAGED)
def test_a_damaged_record_is_a_fresh_one(open_page: Opener, html: str, held: str) -> None:
    puzzle = example_pack().levels[0].stages[0].puzzle
    with open_page(html) as page:
        page.evaluate("([key, text]) => localStorage.setItem(key, text)", [f"number-match/puzzle/{puzzle}", held])
        page.reload()
        assert shown(page) == str(EXAMPLE)
        expect(page.locator("#record")).to_contain_text("0 of 0 games")


def test_a_browser_that_keeps_nothing_still_plays(open_page: Opener, html: str) -> None:
    forbid = (
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
    )
    with open_page(html, init_script=forbid) as page:
        play(page, EXAMPLE, EXAMPLE_SOLUTION, click)
        expect(page.locator("#record")).to_contain_text("1 of 1 game")
        expect(page.locator("#unkept")).to_be_visible()


def test_each_cleared_stage_tells_its_own_figures(open_page: Opener) -> None:
    pack = make_pack(puzzles(2, seed=15))
    with open_page(preview.page(pack)) as page:
        told = []
        for stage in pack.levels[0].stages:
            page.evaluate(CLICK_THROUGH, stage.solution)
            told.append(page.locator("#ending p").inner_text())
            page.locator("#next").evaluate("(button) => button.click()")
        for button, text in (("#previous", told[0]), ("#next", told[1])):
            page.locator(button).click()
            expect(page.locator("#ending p")).to_have_text(text)
        assert told[0] != told[1]


@pytest.mark.parametrize("address", ["#%", "#L999-S01", "#<b>"])
def test_an_address_of_nothing_leads_to_the_first_stage(open_page: Opener, html: str, address: str) -> None:
    with open_page(html, address=address) as page:
        expect(page.locator("#stage-line")).to_contain_text("Stage 1 of 3")


def test_an_address_leads_to_its_stage(open_page: Opener, html: str) -> None:
    with open_page(html, address="#L002-S02") as page:
        expect(page.locator("#stage-line")).to_contain_text("Stage 2 of 3")
        expect(page.locator("#stage-title")).to_have_text("Level 2")
        page.evaluate("location.hash = 'nowhere'")
        page.get_by_role("button", name="Level 1").click()
        page.get_by_role("button", name=re.compile("^L001-S03")).click()
        assert page.evaluate("location.hash") == "#L001-S03"


# ------------------------------------------------------------------------------------------ hostile and large packs

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script><!--",
    "<img src=x onerror='window.hacked = 1'>",
    "\"quoted\" & 'quoted' `${window.hacked = 1}` $title $script &lt;b&gt;",
    "‮שלום עולם‬ مرحبا",
    "long " * 99,
    "W" * 500,
]


def hostile_pack(title: str) -> Pack:
    """A pack with a Level of one Stage for each hostile title."""
    return make_pack(puzzles(len(HOSTILE), seed=4), per_level=1, title=title, level_titles=HOSTILE)


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_titles_are_text_and_fit(open_page: Opener, viewport: dict[str, int]) -> None:
    for text in HOSTILE[:2]:
        with open_page(preview.page(hostile_pack(text)), viewport=viewport) as page:
            assert page.locator("h1").text_content() == text
            assert page.title() == text
            for title in HOSTILE:
                assert page.locator("#stage-title").text_content() == title
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing runs off the side"
                page.locator("#next").evaluate("(button) => button.click()")
            assert page.locator(".level .title").all_text_contents() == HOSTILE
            assert page.evaluate("window.hacked") is None


def test_a_pack_of_a_thousand_stages_opens_and_plays_its_last(open_page: Opener) -> None:
    pack = make_pack(reskinned(EXAMPLE, EXAMPLE_SOLUTION, 1000), per_level=20)
    last = pack.levels[-1].stages[-1]
    with open_page(preview.page(pack)) as page:
        assert page.locator(".level").count() == 50
        assert page.locator(".stage").count() == 20, "only the open Level has its Stages on the page"
        page.locator(".level").last.click()
        page.get_by_role("button", name=re.compile(f"^{last.id}")).click()
        board = Board.parse(f"{pack.puzzles[-1].board} +{last.adds}")
        assert play(page, board, last.solution, click).cleared
        expect(page.locator("#next")).to_be_disabled()


def test_a_stage_that_cannot_be_played_is_refused() -> None:
    (board, solution), *_ = puzzles(1, seed=5)
    for broken, word in [(solution[:-1], "does not clear"), (("0-1", "0-1"), "action ")]:
        with pytest.raises(UserError, match=f"L001-S01: .*{word}"):
            preview.page(make_pack([(board, broken)]))
    with pytest.raises(UserError, match="holds no puzzle"):
        preview.page(make_pack([(board, solution)], puzzles=[]))


# ------------------------------------------------------------------------------------------------- for everybody


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing(open_page: Opener, html: str, viewport: dict[str, int], scheme: str) -> None:
    with open_page(html, viewport=viewport, color_scheme=scheme) as page:

        def check(state: str) -> None:
            results = Axe().run(page)
            assert not results.response["violations"], f"{state}: {results.generate_report()}"

        check("start")
        page.get_by_label("Draw the open pairs").check()
        page.get_by_label("Colour the classes").check()
        page.get_by_text("With every allowance").click()
        cell(page, 0).click()
        check("chosen, coloured")
        cell(page, 1).click()
        check("illegal")
        page.locator("#hint").click()
        check("hint")
        page.locator("#replay-step").click()
        check("replay")
        page.locator("#leave-replay").click()
        if viewport == PHONE:
            page.locator("#open-levels").click()
            check("levels")
            page.keyboard.press("Escape")
        page.locator("#open-help").click()
        check("help")
        page.keyboard.press("Escape")
        play(page, EXAMPLE, EXAMPLE_SOLUTION, click)
        check("cleared")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_light_can_be_changed_and_is_kept(open_page: Opener, html: str) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    with open_page(html, color_scheme="light") as page:
        light = page.evaluate(ground)
        page.get_by_role("button", name="Light or dark").click()
        dark = page.evaluate(ground)
        assert dark != light
        page.reload()
        assert page.evaluate(ground) == dark


def test_nothing_runs_but_what_was_written(open_page: Opener, html: str) -> None:
    """The content policy stops a script even where text had slipped into markup."""
    broken = html.replace("<noscript>", "<script>window.hacked = 1</script><noscript>")
    with pytest.raises(AssertionError, match="console error: Executing"), open_page(broken) as page:
        assert page.evaluate("window.hacked") is None


# ---------------------------------------------------------------------------------------------------- the command


def test_the_command_writes_the_page_beside_the_pack(tmp_path: Path) -> None:
    path = tmp_path / "pack.json"
    path.write_text(pack_text(example_pack()), encoding="utf-8")
    result = CliRunner().invoke(app, ["preview", str(path)])
    assert (result.exit_code, result.stdout) == (0, f"{tmp_path / 'preview.html'}\n")
    assert (tmp_path / "preview.html").read_text("utf-8") == preview.page(example_pack())


def test_mistakes_are_one_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pack.json"
    path.write_text(pack_text(example_pack()), encoding="utf-8")
    for arguments, word in [
        (["preview", str(tmp_path / "none.json")], "none.json"),
        (["preview", str(path), "-o", str(tmp_path / "no" / "x.html")], "cannot be written"),
    ]:
        assert run(arguments) == 2
        told = capsys.readouterr().err
        assert told.startswith("error: ")
        assert word in told
