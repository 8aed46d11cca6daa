"""A finished run folder comes in; `report.html`, which reads from disk without a network, and its charts as PNG go out.

The page shows the pack's curve, the panel, what became of the candidates, the pool against the curve, every Stage with
its board, and where it all comes from. Charts are drawn beforehand, as SVG: the page reads without its script, which
only sorts, filters and shows the text of a mark. Titles, names and whatever else a folder holds are text from outside,
and are escaped as such.
"""

from pathlib import Path

# altair and polars are imported when a report is drawn, so that asking whether there is one costs nothing


def is_current(folder: Path) -> bool:
    """Whether report.html is there and no older than what it shows."""
    try:
        made = (folder / "report.html").stat().st_mtime_ns
        return all(made >= (folder / name).stat().st_mtime_ns for name in ("pack.json", "run.json"))
    except OSError:
        return False


def write_report(folder: Path) -> Path:
    """Write report.html into a run folder, and every chart as reports/NAME.png. Returns the page's path.

    Raises:
        UserError: it is no folder of a finished run, or a file of it is damaged.
        OSError: the folder cannot be written.
    """
    from number_match.models import write_text
    from number_match.report.charts import NARROW, WIDE, picture, png
    from number_match.report.folder import read_run
    from number_match.report.page import page
    from number_match.report.pictures import pictures

    run = read_run(folder)
    drawn = []
    for name, title, text, chart in pictures(run):
        (folder / "reports" / f"{name}.png").write_bytes(png(chart(WIDE)))
        drawn.append(picture(name, title, text, chart(WIDE), chart(NARROW)))
    path = folder / "report.html"
    write_text(path, page(run, drawn))
    return path
