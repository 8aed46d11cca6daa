"""The run folder: shards are found by their request, damage is found on reading, nothing is half-written."""

import io
import os
import signal
import subprocess
import sys
import textwrap
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from number_match.errors import UserError
from number_match.store import DamagedShard, Request, Store, differences

SCHEMA = pl.Schema({"puzzle": pl.String(), "passed": pl.List(pl.Int64)})
TABLE = pl.DataFrame({"puzzle": ["p-1", "p-2"], "passed": [[1, 2], []]}, schema=SCHEMA)
WHAT = {"behaviour": {"score": 1}, "score": {"players": {"casual": {"temperature": 0.8}}}}
REQUEST = Request("scores", "screen-casual-small-00000000", WHAT)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "run")
    store.prepare()
    return store


def test_a_shard_comes_back_as_it_was_written(store: Store) -> None:
    assert not store.holds(REQUEST)
    store.write(REQUEST, TABLE)
    assert store.holds(REQUEST)
    assert store.rows(REQUEST) == 2
    assert store.read(REQUEST, SCHEMA).equals(TABLE)
    assert [path.name for path in (store.folder / "scores").iterdir()] == [Path(REQUEST.name).name]


def test_another_request_does_not_find_it(store: Store) -> None:
    store.write(REQUEST, TABLE)
    other = Request("scores", REQUEST.label, {"behaviour": {"score": 2}, "score": WHAT["score"]})
    assert not store.holds(other)
    assert store.request_of(REQUEST.name) == WHAT
    assert store.shards("scores") == [REQUEST.name]


@pytest.mark.parametrize("cut", [0, 3, 200, -1, -9])
def test_a_truncated_shard_is_found(store: Store, cut: int) -> None:
    store.write(REQUEST, TABLE)
    path = store.folder / REQUEST.name
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DamagedShard, match="screen-casual"):
        store.read(REQUEST, SCHEMA)


def test_every_flipped_byte_is_found_before_a_parquet_reader_sees_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write(REQUEST, TABLE)
    path = store.folder / REQUEST.name
    whole = path.read_bytes()
    monkeypatch.setattr(pl, "read_parquet", None)
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x20]) + whole[place + 1 :])
        with pytest.raises(DamagedShard, match=r"bytes are not the ones|no readable footer|another request"):
            store.holds(REQUEST) and store.read(REQUEST, SCHEMA)


def test_a_shard_of_wrong_rows_is_found_though_its_bytes_are_whole(store: Store) -> None:
    store.write(REQUEST, TABLE)
    good = store.folder / REQUEST.name
    record = pl.read_parquet_metadata(good)["number-match"]
    buffer = io.BytesIO()
    TABLE.reverse().write_parquet(buffer, metadata={"number-match": record[:11] + "0" * 64 + record[75:]})
    data = buffer.getvalue()
    good.write_bytes(data.replace(b"0" * 64, sha256(data).hexdigest().encode(), 1))
    with pytest.raises(DamagedShard, match="rows are not the ones that were written"):
        store.read(REQUEST, SCHEMA)


def test_rows_of_another_table_under_the_same_name_are_found(store: Store) -> None:
    store.write(REQUEST, TABLE)
    other = Request("scores", "other", WHAT)
    store.write(other, TABLE.head(1))
    (store.folder / REQUEST.name).write_bytes((store.folder / other.name).read_bytes())
    assert store.read(REQUEST, SCHEMA).height == 1  # a whole shard of the same request: its rows are what it asks for
    wrong = Request("scores", "other", {"behaviour": {"score": 9}})
    store.write(wrong, TABLE)
    (store.folder / REQUEST.name).write_bytes((store.folder / wrong.name).read_bytes())
    with pytest.raises(DamagedShard, match="another request"):
        store.holds(REQUEST)


def test_drafts_of_a_killed_run_are_cleared_away(store: Store) -> None:
    draft = store.folder / "scores" / ".draft-17-x.parquet"
    draft.write_bytes(b"half")
    with store.lock():
        assert not draft.exists()


def test_a_second_run_is_refused_and_the_first_is_named(store: Store) -> None:
    with store.lock(), pytest.raises(UserError, match=f"in use by process {os.getpid()}"), Store(store.folder).lock():
        raise AssertionError("two runs in one folder")


def test_the_lock_of_a_killed_run_is_no_hindrance(store: Store) -> None:
    code = f"""
        import os, signal
        from pathlib import Path
        from number_match.store import Store
        with Store(Path({str(store.folder)!r})).lock():
            os.kill(os.getpid(), signal.SIGKILL)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert ended.returncode == -signal.SIGKILL
    with store.lock():
        assert (store.folder / ".owner").read_text().startswith(f"process {os.getpid()}")


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"run\.out.*cannot be written"):
        Store(tmp_path / "file" / "run").prepare()


def test_differences_are_told_key_by_key() -> None:
    new = {"behaviour": {"score": 2}, "score": {"players": {"casual": {"temperature": 0.6, "slip": 0.1}}}}
    assert differences(WHAT, new) == [
        "[behaviour].score 1 → 2",
        "[score].players.casual.slip nothing → 0.1",
        "[score].players.casual.temperature 0.8 → 0.6",
    ]
