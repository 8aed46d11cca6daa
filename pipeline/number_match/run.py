"""The loop: a config comes in; stages are called, again where results ask for more, until the pack and its reports
stand.

    generate → validate → score (screen)     by shard, all known beforehand
    → assemble: shortlist → score (select) → assignment → score (report) → pack.json
    and, when Stages stay empty, a round of more candidates from the top

What is stored is kept, with the reason for whatever is made again; what is found damaged is made again. A run that was
ended at any moment goes on with the same command.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import rfc8785

from number_match import __version__
from number_match.config import Config
from number_match.difficulty import THOUSAND
from number_match.engine import Engine, Inline, open_engine
from number_match.jobs import Job, Maker, Receipt, Say, kept, warm_up
from number_match.order import take_order
from number_match.plan import (
    BEHAVIOURS,
    Batch,
    GenerateJob,
    Plan,
    PlayJob,
    top_up,
)
from number_match.store import DamagedShard, Store, differences
from number_match.words import counted, interval

if TYPE_CHECKING:
    from number_match.assemble import Assembly, Pool
    from number_match.figures import Figures

OUTPUTS = (
    "pack.json",
    "pack.client.json",
    *(f"reports/{name}.parquet" for name in ("puzzles", "stages", "levels", "rejections")),
)


class CannotFill(Exception):
    """The pack cannot be filled; the message is a table of the Stages that stay empty and of what was lacking."""


class MoreToDo(Exception):
    """A dry run has come to work that decides what follows."""


@dataclass
class Tally:
    """What was done for one stage."""

    kept: int = 0  # shards
    made: int = 0
    boards: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)

    def record(self) -> dict[str, Any]:
        """For run.json."""
        values = {"shards_kept": self.kept, "shards_made": self.made, "boards": self.boards}
        return values | {
            "seconds": round(self.seconds, 3),
            "cpu_seconds": round(self.cpu, 3),
            **dict(sorted(self.counts.items())),
        }


def run_hash(config: Config) -> str:
    """sha256 of all that decides pack.json and its reports: the config, the files it names, and the program."""
    return sha256(
        rfc8785.dumps({"config": config.hash(), "version": __version__, "behaviours": BEHAVIOURS})
    ).hexdigest()


def folder_of(config: Config) -> Path:
    """The run folder: `[run].out`, else output/PACK-ID."""
    return Path(config.run.out or f"output/{config.pack.id}")


def is_done(config: Config, store: Store) -> bool:
    """Whether the folder holds what this config makes, untouched."""
    record = store.read_record()
    if not record or record.get("state") != "done" or record.get("run_hash") != run_hash(config):
        return False
    outputs = record.get("outputs")
    return (
        isinstance(outputs, dict)
        and set(outputs) == set(OUTPUTS)
        and all(store.file_hash(name) == digest for name, digest in outputs.items())
    )


def run(config: Config, *, until: str = "run", dry_run: bool = False, say: Say, bars: bool = False) -> None:
    """Bring a run folder to what the config asks for, up to and including the stage `until` (`run` is all of it).

    Args:
        until: generate, validate, score, assemble (a pack without rounds of more candidates) or run.
        dry_run: say what would be done, do nothing.

    Raises:
        UserError: the config and the world do not fit: a file, the folder, another run in it.
        CannotFill: see there.
        WorkersDied, OSError: the work could not go on; what is finished is kept.
    """
    store = Store(folder_of(config))
    if until == "run" and is_done(config, store):
        say(f"{store.folder}: nothing to do; pack.json and reports are what this config makes (kept)")
        if not dry_run:
            return
        done, until = True, "score"  # the shards behind it can still be told about
    else:
        done = False
    plan = Plan(config, store.folder)
    if dry_run:
        try:
            Run(config, store, plan, Engine(Inline, 1), say, dry=True, done=done).go(until)
        except CannotFill as problem:
            say(str(problem))
        except DamagedShard:
            say("then as the shards ask that are made again")
        return
    store.prepare()
    with store.lock(), open_engine(config.run, say) as engine:
        this = Run(config, store, plan, engine, say, bars=bars)
        this.record("running")
        try:
            this.go(until)
        except CannotFill as problem:
            this.record("unfilled")
            if store.path("pack.json").exists():
                raise CannotFill(
                    f"{problem}\n{store.path('pack.json')} is still the one of an earlier config"
                ) from None
            raise
        except BaseException:
            with suppress(OSError):  # a full disk must not hide what stopped the run
                this.record("stopped")
            raise
        this.record("done" if until in ("run", "assemble") else "partial")


class Run(Maker):
    """One run, under way.

    Args:
        done: the pack stands already, and what is missing behind it is not needed.
    """

    def __init__(
        self,
        config: Config,
        store: Store,
        plan: Plan,
        engine: Engine,
        say: Say,
        *,
        bars: bool = False,
        dry: bool = False,
        done: bool = False,
    ) -> None:
        super().__init__(store, engine, say, bars=bars, dry=dry)
        self.config, self.plan, self.done = config, plan, done
        if done:
            self.remedy = "nothing needs it now"
        self.tallies: dict[str, Tally] = {}
        self.started = time.gmtime()
        self.begun = time.perf_counter()  # clocks on the wall are set back
        self.outputs: dict[str, str] = {}
        self.facts: dict[str, Any] = {}
        self.order = take_order(config)

    def record(self, state: str) -> None:
        """Write run.json."""
        import json

        content = {
            "state": state,
            "config": self.config.resolved(),
            "config_hash": self.config.hash(),
            "run_hash": run_hash(self.config),
            "version": __version__,
            "behaviours": BEHAVIOURS,
            "stages": {name: tally.record() for name, tally in self.tallies.items()},
            "facts": self.facts,
            "outputs": self.outputs,
            "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", self.started),
            "seconds": round(time.perf_counter() - self.begun, 3),
        }
        self.store.write_text("run.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    # ------------------------------------------------------------------------------------------------ making shards

    def make(self, stage: str, jobs: Sequence[Job], title: str = "") -> None:
        """Make those shards that are not there."""
        tally = self._tally(stage)
        missing = self.missing(jobs)
        tally.kept += len(jobs) - len(missing)
        if self.done:
            spare = f", {len(missing)} gone that nothing needs now" if missing else ""
            self.say(f"{title or stage}: {counted(len(jobs) - len(missing), 'shard')} kept{spare}")
        elif not any(isinstance(job, PlayJob) for job in jobs):  # of playouts it was said board by board
            self.say(_summary(title or stage, jobs, missing, self._reasons(missing)))
        if self.dry:
            return
        warm_up(missing, self.say)
        begun = time.perf_counter()
        with self.bar(title or stage, sum(job.boards for job in missing)) as bar:
            for job, receipt in self.made(missing):
                _count(tally, receipt)
                if stage == "validate":
                    bar.set_postfix_str(f"{tally.counts['clearable'] / max(1, tally.boards):.1%} clearable")
                bar.update(job.boards)
        tally.seconds += time.perf_counter() - begun

    def _reasons(self, missing: Iterable[Job]) -> dict[str, int]:
        """Why shards are stale that have others in their place, the keys that changed, and how many for each reason."""
        reasons: Counter[str] = Counter()
        stored: dict[str, dict[str, list[str]]] = {}  # by folder and label
        for job in missing:
            folder, label = job.request.folder, job.request.label
            if folder not in stored:
                by_label = stored[folder] = {}
                for name in self.store.shards(folder):
                    by_label.setdefault(_label(name), []).append(name)
            old = [what for name in stored[folder].get(label, []) if (what := self.store.request_of(name))]
            if old:
                changes = min((differences(what, job.request.what) for what in old), key=len)
                reasons["; ".join(changes) or "damaged"] += 1
        return dict(reasons.most_common())

    def _tally(self, stage: str) -> Tally:
        return self.tallies.setdefault(stage, Tally())

    def _say_speeds(self) -> None:
        """Seconds and boards a second of the stages that had something to do."""
        speeds = [
            f"{name} {tally.seconds:.1f} s ({tally.boards / tally.seconds:,.0f} boards/s)"
            for name, tally in self.tallies.items()
            if tally.boards and tally.seconds
        ]
        if speeds and not self.dry:
            self.say("  " + ", ".join(speeds))

    # ---------------------------------------------------------------------------------------------------- the loop

    def go(self, until: str) -> None:
        """All stages up to `until`."""
        batches = self.plan.base()
        rounds, empty = 0, 0
        while True:
            self._shards(batches, until)
            if until in ("generate", "validate", "score"):
                self._say_speeds()
                return
            begun, played = time.perf_counter(), self._tally("score").seconds
            try:
                if self.dry and any(not self.holds(job.request) for job in self.jobs.values()):
                    raise MoreToDo("")
                problem = self._attempt(batches)
            except MoreToDo as more:
                self._rest(str(more))
                return
            self._tally("assemble").seconds += time.perf_counter() - begun - (self._tally("score").seconds - played)
            left_empty = problem.slots if problem else 0
            if rounds:
                self.say(f"round {rounds}: {counted(empty - left_empty, 'Stage')} filled, {left_empty} still empty")
            if problem is None:
                if self.facts:
                    from number_match import outlook

                    self.say(outlook.summary(self.facts, self.store.path("pack.json")))
                    self._say_speeds()
                return
            left = self.config.assemble.topup.budget - sum(b.stop - b.start for b in batches if b.round)
            count = min(self.config.assemble.topup.candidates, left)
            rounds, empty = rounds + 1, problem.slots
            added = top_up(batches, problem.aims, count, rounds) if until == "run" and count > 0 else []
            if not added:
                raise CannotFill(problem.text)
            extra = counted(count, "more candidate")
            self.say(f"round {rounds}: {counted(empty, 'Stage')} empty; {extra}: {_batches_text(added)}")
            batches += added

    def _rest(self, known: str) -> None:
        """What a dry run says about work that depends on results; `known` is the last stream that it could count."""
        assemble, score = self.config.assemble, self.config.score
        stages = assemble.levels * assemble.stages
        candidates = sum(batch.stop - batch.start for batch in self.plan.base()) + assemble.topup.budget
        attempts = 1 + -(-assemble.topup.budget // assemble.topup.candidates)
        most = min(stages * assemble.shortlist * 8 * attempts, candidates)
        parts = []
        if known != "report":
            if assemble.topup.budget:
                parts.append(counted(assemble.topup.budget, "more candidate"))
            for stream, boards, players in (("select", most, self.plan.players), ("report", stages, score.panel)):
                parts.append(f"{stream} playouts for {counted(boards, 'board')} × {counted(len(players), 'player')}")
        self.say("then " + (f"as needed, at most: {'; '.join(parts)}; then " if parts else "") + "assembly")

    def _shards(self, batches: Sequence[Batch], until: str) -> None:
        """generate, validate and the screen, as far as wanted."""
        candidates: list[GenerateJob] = list(self.plan.generate(batches))
        self.make("generate", candidates)
        if until == "generate":
            return
        verdicts = [self.plan.validate(job) for job in candidates]
        self.make("validate", verdicts)
        if until == "validate":
            return
        screens = [self.plan.screen(job, player) for job in verdicts for player in self.plan.players]
        self.make("score", screens, "score (screen)")

    def _attempt(self, batches: Sequence[Batch]) -> Problem | None:
        """Assemble from these batches; write the pack when it is full, else tell what is lacking."""
        from number_match import outlook
        from number_match.figures import pool

        figures = self._figures(batches)
        screened = pool(figures, self.config, self.order, self.plan.players, "screen")
        wanted = self.order.wanted
        if not self.dry:
            self.say(outlook.chart(wanted, screened))
        tolerance = round(self.config.assemble.tolerance * THOUSAND)
        hopeless = outlook.unreachable(wanted, screened, tolerance)
        if hopeless:
            table = outlook.unfilled_table(wanted, screened, hopeless, tolerance, at_least=True)
            raise CannotFill(f"out of reach: {table}")
        decided, assembly, figures = self._fill(screened, figures)
        if not assembly.unfilled:
            self._report((decided, screened), assembly, figures)
            return None
        text = outlook.unfilled_table(wanted, screened, assembly.unfilled, tolerance)
        random = [family for name, family in self.plan.families.items() if name not in self.plan.texts]
        kinds = sorted((family.name, size) for family in random for size in family.sizes)
        empty = [wanted[number] for number in assembly.unfilled]
        return Problem(len(empty), text, outlook.aims(empty, screened, figures.usable, kinds, tolerance))

    def _figures(self, batches: Sequence[Batch]) -> Figures:
        """Everything stored about the candidates of these batches."""
        from number_match import generate, score, validate
        from number_match.figures import Figures

        candidates, verdicts = [], []
        screens: dict[str, list[pl.DataFrame]] = {player: [] for player in self.plan.players}
        wanted = ["puzzle", "playouts", "passed", "actions"]  # of all candidates; the rest is for those that are chosen
        for batch in batches:
            for job in self.plan.generate([batch]):
                table = self.read(job.request, generate.SCHEMA)
                candidates.append(table.with_columns(pl.lit(batch.round, pl.Int64).alias("round")))
                check = self.plan.validate(job)
                verdicts.append(self.read(check.request, validate.SCHEMA))
                for player, tables in screens.items():
                    screen = self.read(self.plan.screen(check, player).request, score.SCHEMA)
                    tables.append(screen.select(wanted))
        return Figures.of(candidates, verdicts, screens, self.order)

    def _fill(self, screened: Pool, figures: Figures) -> tuple[Pool, Assembly, Figures]:
        """Shortlist on the screen, decide on `select` playouts; longer lists while Stages stay empty and boards are
        left."""
        from number_match.assemble import assemble, shortlist
        from number_match.figures import pool

        settings, wanted = self.config.assemble, self.order.wanted
        noise = 98 * THOUSAND // isqrt(self.config.score.screen.playouts)  # at most: 1.96 standard deviations
        reach = round(settings.tolerance * THOUSAND) + noise
        count, before = settings.shortlist, -1
        while True:
            rows = sorted(set().union(*shortlist(wanted, screened, count, reach)))
            puzzles = [(screened.puzzles[row], screened.boards[row]) for row in rows]
            new = [pair for pair in puzzles if pair[0] not in self.order.known]
            figures = figures.with_stream("select", self.playouts("select", self.plan.players, new))
            decided = pool(figures, self.config, self.order, self.plan.players, "select")
            assembly = assemble(wanted, decided, settings)
            if not assembly.unfilled or len(rows) == before or count >= 8 * settings.shortlist:
                return decided, assembly, figures
            before, count = len(rows), count * 2

    def playouts(
        self, stream: str, players: Sequence[str], puzzles: Sequence[tuple[str, str]]
    ) -> dict[str, pl.DataFrame]:
        """The figures of a stream for these (puzzle, board), played where they are not stored: a table a player."""
        from number_match import score

        missing: list[Job] = []
        found: dict[str, list[pl.DataFrame]] = {player: [] for player in players}
        names = {puzzle for puzzle, _ in puzzles}
        for player in players:
            stored: set[str] = set()
            for request in self.plan.played(self.store, player, stream):
                try:
                    table = self.store.read(request, score.SCHEMA)
                except DamagedShard as damage:
                    self.say(f"damaged: {damage}; it is played again")
                    if not self.dry:
                        self.store.discard(damage.path)
                    continue
                found[player].append(table)
                stored.update(table["puzzle"])
            lacking = [pair for pair in puzzles if pair[0] not in stored]
            missing += self.plan.play(player, stream, lacking)
            if lacking:
                stored_boards = counted(len(puzzles) - len(lacking), "board")
                self.say(f"score ({stream}): {player}: {stored_boards} kept, {len(lacking)} to play")
        if missing:
            if self.dry:
                raise MoreToDo(stream)
            self.make("score", missing, f"score ({stream})")
            for job in missing:
                assert isinstance(job, PlayJob)
                found[job.player].append(self.read(job.request, score.SCHEMA))
        return {
            player: pl.concat(tables)
            .filter(pl.col("puzzle").is_in(names))
            .unique("puzzle", keep="first")
            .sort("puzzle")
            if tables
            else pl.DataFrame(schema=score.SCHEMA)
            for player, tables in found.items()
        }

    def _report(self, pools: tuple[Pool, Pool], assembly: Assembly, figures: Figures) -> None:
        """Play the `report` stream for what was chosen, then write the pack and the tables."""
        from number_match import outlook, release
        from number_match.models import client_pack, pack_text
        from number_match.tables import tables

        chosen = [(pools[0].puzzles[place.row], pools[0].boards[place.row]) for place in assembly.places if place]
        new = sorted(pair for pair in chosen if pair[0] not in self.order.known)
        figures = figures.with_stream("report", self.playouts("report", self.config.score.panel, new))
        if self.dry:
            self.say("assemble: from stored playouts; writes pack.json and reports")
            return
        pack = release.build(self.config, pools[0], assembly, figures, self.order)
        reports = tables(self.config, pack, pools, assembly, figures, self.order)
        for name, table in reports.items():
            self.store.write_report(name, table)
        self.store.write_text("pack.client.json", pack_text(client_pack(pack)))
        self.store.write_text("pack.json", pack_text(pack))
        self.outputs = {name: self.store.file_hash(name) or "" for name in OUTPUTS}
        tolerance, usable = self.config.assemble.tolerance, figures.usable.height
        self.facts = outlook.facts(reports["stages"], usable, figures.candidates.height, assembly, tolerance)
        self._tally("assemble").boards = len(pools[1])


@dataclass(frozen=True)
class Problem:
    """Stages that stay empty: how many, a table for people, and what candidates would help (weights by family and
    size)."""

    slots: int
    text: str
    aims: Mapping[tuple[str, int], int]


def _summary(title: str, jobs: Sequence[Job], missing: Sequence[Job], reasons: Mapping[str, int]) -> str:
    text = kept(title, jobs, missing)
    if stale := sum(reasons.values()):
        text += f": {stale} stale, {len(missing) - stale} missing"
    return text + "".join(f"\n    {reason} ({count})" for reason, count in list(reasons.items())[:5])


def _label(name: str) -> str:
    """The label in a shard's name."""
    return Path(name).stem.rpartition("-")[0]


def _count(tally: Tally, receipt: Receipt) -> None:
    tally.made += 1
    tally.boards += receipt.rows
    tally.cpu += receipt.cpu
    tally.counts.update(receipt.counts)


def _batches_text(batches: Sequence[Batch]) -> str:
    by_family: dict[str, list[Batch]] = {}
    for batch in batches:
        by_family.setdefault(batch.family, []).append(batch)
    parts = []
    for family, some in by_family.items():
        sizes = sorted({size for batch in some for size in batch.sizes})
        parts.append(f"{sum(b.stop - b.start for b in some)} {family} of {interval(sizes[0], sizes[-1])} cells")
    return ", ".join(parts)
