"""The benchmarks still run, at sizes that say nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parent / "bench"


@pytest.mark.soak
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("start", "--times 1"),
        ("stages", "--workers 2"),
        ("solver", "--boards 3"),
        ("players", "--boards 5"),
        ("assembly", "--puzzles 2000 --levels 2"),
        ("scaling", "--candidates 200 400 --workers 1 2"),
    ],
)
def test_a_benchmark_shows_its_tables_and_writes_them(name: str, arguments: str, tmp_path: Path) -> None:
    file = tmp_path / "made" / "tables.json"
    script = BENCH / f"{name}.py"
    ended = subprocess.run(
        [sys.executable, script, *arguments.split(), "--json", file], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended
    tables = json.loads(file.read_text("utf-8"))
    assert tables
    for title in tables:
        assert title in ended.stdout or title == "strata"
