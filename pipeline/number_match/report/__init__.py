"""A finished run folder comes in; `report.html`, which reads from disk without a network, and its charts as PNG go out.

The page shows the pack's curve, the panel, what became of the candidates, the pool against the curve, every Stage with
its board, and where it all comes from. Charts are drawn beforehand, as SVG: the page reads without its script, which
only sorts, filters and shows the text of a mark. Titles, names and whatever else a folder holds are text from outside,
and are escaped as such.
"""

from hashlib import sha256
from pathlib import Path

# altair and polars are imported when a report is drawn, so that asking whether there is one costs nothing


def is_current(folder: Path) -> bool:
    """Whether report.html shows the run and the pack that are there."""
    try:
        return (folder / "report.html").read_bytes().endswith(_stamp(folder).encode())
    except OSError:
        return False


def _stamp(folder: Path) -> str:
    """The page's last line, which says what it was made from. Ages of files do not tell: clocks are set back."""
    digest = sha256(b"".join((folder / name).read_bytes() for name in ("run.json", "pack.json")))
    return f"<!-- made from run.json and pack.json, sha256 {digest.hexdigest()} -->\n"


def write_report(folder: Path) -> Path:
    """Write report.html into a run folder, and every chart as reports/NAME.png. Returns the page's path.

    Raises:
        UserError: it is no folder of a finished run, or a file of it is damaged.
        OSError: the folder cannot be written.
    """
    from number_match.files import write_bytes
    from number_match.report.charts import NARROW, WIDE, picture, png
    from number_match.report.folder import read_run
    from number_match.report.page import page
    from number_match.report.pictures import pictures

    run, stamp = read_run(folder), _stamp(folder)
    drawn = []
    for name, title, text, chart in pictures(run):
        write_bytes(folder / "reports" / f"{name}.png", png(chart(WIDE)))
        drawn.append(picture(name, title, text, chart(WIDE), chart(NARROW)))
    path = folder / "report.html"
    write_bytes(path, f"{page(run, drawn).rstrip()}\n{stamp}".encode())
    return path
