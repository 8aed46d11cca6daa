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
from number_match.models import read_pack

from .conftest import CHROMIUM, FLAGS, NO_CHROMIUM


def take(folder: Path, where: Path) -> None:
    """Write curve.png, preview.png and preview-phone.png."""
    if CHROMIUM is None:
        sys.exit(NO_CHROMIUM)
    report.write_report(folder)
    where.mkdir(exist_ok=True)
    shutil.copyfile(folder / "reports" / "curve.png", where / "curve.png")
    pack = read_pack(folder / "pack.json")
    level = pack.levels[len(pack.levels) // 2]
    stage = level.stages[len(level.stages) // 2]
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
            for action in stage.solution[: len(stage.solution) // 3]:
                if action == "+":
                    page.locator("#add").click()
                else:
                    for at in action.split("-"):
                        page.locator(f'#board [data-at="{at}"]').click()
            page.locator("#hint").click()
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_timeout(3500)  # until what was hinted at lies still
            page.screenshot(path=where / f"{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
