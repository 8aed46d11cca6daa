"""What a run survives: killed workers, kill -9, Ctrl-C, a cluster that loses a worker, clocks and environments of all
kinds. Disks have a file of their own, `test_disks.py`."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from conftest import Command
from number_match.config import RunConfig
from number_match.config_files import load
from number_match.engine import ATTEMPTS, WorkersDied, open_engine
from number_match.errors import UserError
from number_match.jobs import work
from number_match.plan import Plan
from number_match.store import Store
from test_run import TINY, process

pytestmark = pytest.mark.usefixtures("no_page")
TWO = RunConfig(engine="local", workers=2)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY.replace('engine = "inline"', 'engine = "local"\nworkers = 2'), encoding="utf-8")
    return path


def strays(folder: Path) -> list[str]:
    """Files in a run folder that are no part of it."""
    known = {"run.json", "pack.json", "pack.client.json", "report.html", ".lock", ".owner"}
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in known]
    return [path.name for path in files if path.suffix not in (".parquet", ".png") or path.name.startswith(".draft")]


# workers


def square(number: int) -> int:
    return number * number


def fail(number: int) -> int:
    raise ValueError(f"no {number}")


def die_once(job: tuple[str, int]) -> int:
    """Kill the worker at the first try."""
    mark = Path(job[0])
    if job[1] == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return job[1]


def die(number: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("name", ["inline", "local"])
def test_every_job_is_done_once(name: str) -> None:
    with open_engine(RunConfig(engine=name, workers=2)) as engine:  # type: ignore[arg-type]
        assert sorted(engine.each(square, range(20))) == [(n, n * n) for n in range(20)]


def test_an_exception_comes_through() -> None:
    with open_engine(TWO) as engine, pytest.raises(ValueError, match="no 1"):
        list(engine.each(fail, [1]))


def test_the_jobs_of_a_killed_worker_are_done_by_another(tmp_path: Path) -> None:
    jobs = [(str(tmp_path / "mark"), number) for number in range(8)]
    with open_engine(TWO) as engine:
        assert sorted(result for _, result in engine.each(die_once, jobs)) == list(range(8))
    assert (tmp_path / "mark").exists()


def test_a_job_that_kills_every_worker_stops_the_run() -> None:
    with open_engine(TWO) as engine, pytest.raises(WorkersDied, match=f"killed {ATTEMPTS} times"):
        list(engine.each(die, [1]))


def test_a_worker_has_kernels_compiled_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be on another machine than the run, beside others that begin at the same time."""
    (tmp_path / "tiny.toml").write_text(TINY, encoding="utf-8")
    config = load([tmp_path / "tiny.toml"], (), {"out": str(tmp_path / "run")})
    plan, store = Plan(config, tmp_path / "run"), Store(tmp_path / "run")
    store.prepare()
    asked: list[list[str]] = []
    monkeypatch.setattr("number_match.kernels.prepare", lambda parts, say: asked.append(list(parts)))
    source = next(plan.generate(plan.base()))
    for job in (source, plan.validate(source), plan.screen(plan.validate(source), "random")):
        work(job)
    assert asked == [["adds"], ["playouts"]]
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(UserError, match="file system that all workers share"):
        work(source)


# the whole run


def start(tiny: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "number_match", "run", "-c", str(tiny), "-o", str(out), *more],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for(out: Path, pattern: str, running: subprocess.Popen[Any]) -> None:
    """Wait until a process has written a file."""
    until = time.monotonic() + 120
    while not list(out.glob(pattern)) and running.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    assert list(out.glob(pattern))


def end_of(running: subprocess.Popen[str]) -> str:
    """Wait for a process and its children, and return what it said."""
    _, said = running.communicate(timeout=60)
    return said


def kill_until_done(tiny: Path, out: Path, times: int, rng: random.Random) -> None:
    """Kill a run (its parent process only) at random moments, go on each time, and let it end."""
    for _ in range(times):
        running = start(tiny, out)
        workers: list[psutil.Process] = []
        until = time.monotonic() + rng.uniform(0.2, 6)
        while time.monotonic() < until and running.poll() is None:
            workers = psutil.Process(running.pid).children(recursive=True) or workers
            time.sleep(0.05)
        running.kill()
        end_of(running)
        _, alive = psutil.wait_procs(workers, timeout=30)
        assert not alive, "workers outlive their parent"
    process("run", "-c", tiny, "-o", out)


def test_a_run_killed_anywhere_ends_as_if_it_had_not_been(tiny: Path, tmp_path: Path, whole: bytes) -> None:
    kill_until_done(tiny, tmp_path / "run", 3, random.Random(1))
    assert (tmp_path / "run" / "pack.json").read_bytes() == whole
    assert strays(tmp_path / "run") == []


@pytest.mark.soak
def test_fifty_kills(tiny: Path, tmp_path: Path, whole: bytes) -> None:
    """Ten runs of five kills each, so that there is always something left to kill."""
    for seed in range(10):
        out = tmp_path / f"run-{seed}"
        kill_until_done(tiny, out, 5, random.Random(seed))
        assert (out / "pack.json").read_bytes() == whole
        assert strays(out) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_says_how_to_go_on(tiny: Path, tmp_path: Path, whole: bytes, number: int, code: int) -> None:
    out = tmp_path / "run"
    running = start(tiny, out)
    wait_for(out, "candidates/*.parquet", running)
    os.killpg(running.pid, number) if number == signal.SIGINT else running.send_signal(number)  # as a terminal does
    said = end_of(running)
    assert running.returncode == code
    assert f"go on with: number-match run -c {tiny} -o {out}" in said
    assert "Traceback" not in said
    process("run", "-c", tiny, "-o", out)
    assert (out / "pack.json").read_bytes() == whole


# clocks and environments


def test_clocks_that_jump_and_files_of_any_age_change_nothing(
    command: Command, tmp_path: Path, whole: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock is set back and forth within a run, and what lies there comes from the future or from 1970."""
    config = tmp_path / "tiny.toml"
    config.write_text(TINY, encoding="utf-8")
    out = tmp_path / "run"
    jumps = random.Random(1)
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: jumps.uniform(0, 2**32))
        assert command("score", "-c", config, "-o", out).code == 0
        for path in out.rglob("*"):
            os.utime(path, (age := jumps.choice((0, 2**32)), age))
        outcome = command("run", "-c", config, "-o", out)
    assert outcome.code == 0
    assert [line for line in outcome.err.splitlines() if line.endswith("shards kept")] == [
        "generate: 7 shards kept",
        "validate: 7 shards kept",
        "score (screen): 7 shards kept",
    ]
    assert (out / "pack.json").read_bytes() == whole
    assert json.loads((out / "run.json").read_text("utf-8"))["seconds"] >= 0


# what is not ASCII cannot be named or printed
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "Etc/GMT+12", "PYTHONHASHSEED": "random"}


def environments() -> list[dict[str, str]]:
    """Every locale of the machine, with the time zones farthest apart and other hash seeds."""
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    wanted = [name for name in listed if name.startswith(("C", "de_DE", "tr_TR", "ja_JP", "ar_"))]
    zones = ["UTC", "Pacific/Kiritimati", "Etc/GMT+12", "XXX+3:30"]
    return [
        {"LC_ALL": name, "TZ": zones[number % 4], "PYTHONHASHSEED": str(number + 1)}
        for number, name in enumerate(wanted[:4])
    ]


WITHOUT_PAGE = "import number_match.report as r; r.is_current = lambda folder: True; import number_match.__main__"


def run_in(environment: dict[str, str], *arguments: object) -> subprocess.CompletedProcess[str]:
    how = ["-m", "number_match"] if environment is ASCII else ["-c", WITHOUT_PAGE]
    return subprocess.run(
        [sys.executable, *how, *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_hash_seed_locale_or_time_zone_changes_the_pack(command: Command, tmp_path: Path) -> None:
    """Nor do they keep a run from names and titles in other scripts."""
    config = tmp_path / "größe.toml"
    config.write_text('pack.title = "Größe, İstanbul, 例え"\n' + TINY, encoding="utf-8")
    assert command("run", "-c", config, "-o", tmp_path / "run").code == 0
    expected = {name: (tmp_path / "run" / name).read_bytes() for name in ("pack.json", "pack.client.json")}
    for number, environment in enumerate([*environments(), ASCII]):
        out = tmp_path / (f"läuft-{number}" if environment is not ASCII else "runs")
        ended = run_in(environment, "run", "-c", config, "-o", out, "--quiet")
        assert (ended.returncode, ended.stderr) == (0, ""), environment
        assert {name: (out / name).read_bytes() for name in expected} == expected, environment


def test_a_folder_that_the_environment_cannot_name_is_refused(tiny: Path, tmp_path: Path) -> None:
    named = tmp_path / "named.toml"
    named.write_text('run.out = "läuft"', encoding="utf-8")
    for words in (("-o", tmp_path / "läuft"), ("-c", named)):
        ended = run_in(ASCII, "run", "-c", tiny, *words)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert "LC_ALL=C.UTF-8" in ended.stderr
        assert "Traceback" not in ended.stderr


# a cluster


CLUSTER = """
    import os, signal, sys, threading, time
    from pathlib import Path
    from distributed import LocalCluster
    from number_match import cli

    def kill_one(cluster, out):
        while not list(Path(out).glob("candidates/*.parquet")):
            time.sleep(0.02)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        print("killed", flush=True)

    if __name__ == "__main__":
        config, out = sys.argv[1:]
        with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            threading.Thread(target=kill_one, args=(cluster, out), daemon=True).start()
            words = ["run", "-c", config, "-o", out, "--engine", "dask", "--scheduler", cluster.scheduler_address]
            code = cli.run(words)
        sys.exit(code or cli.run(["status", out]))  # the cluster is gone, and is not asked
"""


def test_a_dask_cluster_that_loses_a_worker_makes_the_same_pack(tiny: Path, tmp_path: Path, whole: bytes) -> None:
    pytest.importorskip("distributed")
    script = tmp_path / "cluster.py"
    script.write_text(textwrap.dedent(CLUSTER), encoding="utf-8")
    out = tmp_path / "run"
    ended = subprocess.run(
        [sys.executable, script, tiny, out], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended
    assert "killed" in ended.stdout
    assert "nothing to do" in ended.stdout
    assert (out / "pack.json").read_bytes() == whole


SCHEDULER = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
WORKER = ("--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny")


def dask(file: Path, part: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A part of a cluster, which finds the others by the scheduler's file."""
    words = [sys.executable, "-m", f"distributed.cli.dask_{part}", "--scheduler-file", str(file), *arguments]
    return subprocess.Popen(words, cwd=file.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_a_run_says_that_it_waits_for_workers_and_goes_on_when_they_come(
    tiny: Path, tmp_path: Path, whole: bytes
) -> None:
    pytest.importorskip("distributed")
    out, file = tmp_path / "run", tmp_path / "scheduler.json"
    cluster = [dask(file, "scheduler", *SCHEDULER)]
    try:
        wait_for(tmp_path, file.name, cluster[0])
        address = json.loads(file.read_text())["address"]
        waits = f"dask: the scheduler at {address} has no workers yet; waiting for them\n"

        def waiting() -> subprocess.Popen[str]:
            running = start(tiny, out, "--engine", "dask", "--scheduler", address)
            assert running.stderr is not None
            assert waits in iter(running.stderr.readline, "")
            return running

        running = waiting()
        running.send_signal(signal.SIGINT)
        said = end_of(running)
        assert running.returncode == 130
        assert "interrupted; what is finished is kept" in said
        assert "Traceback" not in said

        running = waiting()
        cluster.append(dask(file, "worker", *WORKER))
        said = end_of(running)
        assert running.returncode == 0
        assert waits not in said
    finally:
        for part in cluster:
            part.kill()
            part.wait()
    assert (out / "pack.json").read_bytes() == whole


@pytest.mark.soak
def test_a_scheduler_that_is_killed_stops_the_run(tiny: Path, tmp_path: Path, whole: bytes) -> None:
    pytest.importorskip("distributed")
    out, file = tmp_path / "run", tmp_path / "scheduler.json"
    scheduler, worker = dask(file, "scheduler", *SCHEDULER), dask(file, "worker", *WORKER)
    try:
        wait_for(tmp_path, file.name, scheduler)
        address = json.loads(file.read_text())["address"]
        running = start(tiny, out, "--engine", "dask", "--scheduler", address)
        wait_for(out, "candidates/*.parquet", running)
        scheduler.kill()
        said = end_of(running)
        assert running.returncode == 1
        assert said.splitlines()[-2:] == [
            "stopped: the scheduler of the cluster is gone",
            f"what is finished is kept; go on with: number-match run -c {tiny} -o {out} "
            f"--engine dask --scheduler {address}",
        ]
        assert "Traceback" not in said
    finally:
        for process_of_dask in (scheduler, worker):
            process_of_dask.kill()
            process_of_dask.wait()
    process("run", "-c", tiny, "-o", out)
    assert (out / "pack.json").read_bytes() == whole


def test_a_cluster_that_does_not_answer_is_named(command: Command, tiny: Path, tmp_path: Path) -> None:
    arguments = ("run", "-c", tiny, "-o", tmp_path / "run", "--engine", "dask")
    assert "address of a scheduler" in command(*arguments).complaint
