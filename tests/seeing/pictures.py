"""The README's pictures: a run folder comes in, the curve of its pack and the preview at play go out as PNG.

python -m seeing.pictures RUN_FOLDER WHERE, from tests/; `make pictures` does it for the release.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from number_match import preview, report
from number_match.models import Pack, Stage, read_pack
from number_match.rules import Board, parse_pair

from .conftest import CHROMIUM, FLAGS, NO_CHROMIUM


def take(folder: Path, where: Path) -> None:
    """Write curve.png, preview.png and preview-phone.png."""
    if CHROMIUM is None:
        sys.exit(NO_CHROMIUM)
    report.write_report(folder)
    where.mkdir(exist_ok=True)
    shutil.copyfile(folder / "reports" / "curve.png", where / "curve.png")
    pack = read_pack(folder / "pack.json")
    stage, actions = _moment(pack)
    with TemporaryDirectory() as scratch, sync_playwright() as playwright:
        html = Path(scratch) / "preview.html"
        html.write_text(preview.page(pack), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name, size, scheme in (("preview", (1280, 800), "light"), ("preview-phone", (390, 800), "dark")):
            context = browser.new_context(
                viewport={"width": size[0], "height": size[1]},
                device_scale_factor=2,
                color_scheme="dark" if scheme == "dark" else "light",
                reduced_motion="reduce",
            )
            page = context.new_page()
            page.goto(f"{html.as_uri()}#{stage.id}")
            for action in actions:
                targets = ["#add"] if action == "+" else [f'#board [data-at="{at}"]' for at in action.split("-")]
                for target in targets:
                    page.locator(target).click()
            page.mouse.move(0, 0)
            page.locator("#hint").evaluate("(button) => button.click()")
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_timeout(3500)  # until what was hinted at lies still
            page.screenshot(path=where / f"{name}.png")
            context.close()
        browser.close()


def _moment(pack: Pack) -> tuple[Stage, tuple[str, ...]]:
    """A Stage and the beginning of its solution, after which the longest diagonal pair of the pack is played."""
    boards = {puzzle.id: puzzle.board for puzzle in pack.puzzles}
    best = (-1, pack.levels[0].stages[0], tuple[str, ...]())
    for stage in (stage for level in pack.levels for stage in level.stages):
        board = Board.parse(boards[stage.puzzle], pack.ruleset.rules()).with_adds(stage.adds)
        for number, action in enumerate(stage.solution):
            if action != "+" and "diagonal" in board.links(*parse_pair(action)):
                i, j = parse_pair(action)
                rows = j // board.width - i // board.width
                if rows > best[0] and 18 <= board.active <= 40:
                    best = (rows, stage, stage.solution[:number])
            board = board.play(action)
    return best[1:]


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
