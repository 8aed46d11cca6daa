"""What a config asks to be made: the shards of generate, validate and score, each as a job that any process can do.

A job holds its request (what decides its rows; see `store.py`), and what is needed to make them. Jobs are chained by
their requests: the request of a validation shard contains the whole request of its candidates, and so on. All keys
are known before anything is made, which is what makes a dry run exact.

This file knows the stages by name and imports them only where a job is done, so that a plan costs neither numba nor
scipy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from number_match.assemble import ASSEMBLY_BEHAVIOUR
from number_match.config import PINNED, Config, Family, ScoreConfig
from number_match.generate import GENERATOR_BEHAVIOUR, read_boards
from number_match.jobs import Job
from number_match.rules import Board
from number_match.score import LOST_NODES, LOST_PLAYOUTS
from number_match.simulate import SCORING_BEHAVIOUR
from number_match.solve import SOLVER_BEHAVIOUR
from number_match.store import Request, Store

if TYPE_CHECKING:
    import polars as pl

BEHAVIOURS = {
    "generate": GENERATOR_BEHAVIOUR,
    "validate": SOLVER_BEHAVIOUR,
    "score": SCORING_BEHAVIOUR,
    "assemble": ASSEMBLY_BEHAVIOUR,
}
"""The versions of what the stages do; a higher one makes shards of the lower one stale."""


@dataclass(frozen=True)
class StageJob(Job):
    """One shard of a stage."""

    config: Config


@dataclass(frozen=True)
class GenerateJob(StageJob):
    """Candidates `numbers` of a family: of these sizes, or the given texts."""

    family: Family
    sizes: tuple[int, ...]
    numbers: range
    texts: tuple[str, ...] | None

    def table(self, store: Store) -> tuple[pl.DataFrame, dict[str, int]]:
        from number_match import generate

        rules = self.config.rules.parsed
        if self.texts is not None:
            return generate.given_boards(self.family.name, self.texts, self.numbers, rules), {}
        return generate.random_boards(self.family, self.sizes, self.numbers, rules, self.config.seed), {}

    @property
    def boards(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True)
class ValidateJob(StageJob):
    """Verdicts for a shard of candidates."""

    source: GenerateJob

    def table(self, store: Store) -> tuple[pl.DataFrame, dict[str, int]]:
        from number_match import generate, validate

        candidates = store.read(self.source.request, generate.SCHEMA)
        rules = self.config.rules
        table = validate.validate(candidates, rules.parsed, rules.max_adds, self.config.validation)
        verdicts = table.group_by("verdict").len().sort("verdict").iter_rows()
        return table, {**dict(verdicts), "nodes": int(table["nodes"].sum())}

    @property
    def kernels(self) -> tuple[str, ...]:
        return ("adds",)

    @property
    def boards(self) -> int:
        return self.source.boards


@dataclass(frozen=True)
class ScreenJob(StageJob):
    """Screen playouts of one player for the clearable boards of a validation shard."""

    source: ValidateJob
    player: str

    at_most = True

    def table(self, store: Store) -> tuple[pl.DataFrame, dict[str, int]]:
        import polars as pl

        from number_match import validate

        verdicts = store.read(self.source.request, validate.SCHEMA)
        return _play(self.config, verdicts.filter(pl.col("verdict") == "clearable"), self.player, "screen")

    @property
    def kernels(self) -> tuple[str, ...]:
        return ("playouts",)

    @property
    def boards(self) -> int:
        return self.source.boards


@dataclass(frozen=True)
class PlayJob(StageJob):
    """Playouts of one player and stream for boards that the assembly asks about."""

    player: str
    stream: str
    puzzles: tuple[tuple[str, str], ...]  # (puzzle, board)

    def table(self, store: Store) -> tuple[pl.DataFrame, dict[str, int]]:
        import polars as pl

        boards = pl.DataFrame(self.puzzles, schema=["puzzle", "board"], orient="row")
        return _play(self.config, boards, self.player, self.stream)

    @property
    def kernels(self) -> tuple[str, ...]:
        lost = _tells_lost(self.config.score, self.player, self.stream)
        return ("adds", "playouts") if lost else ("playouts",)

    @property
    def boards(self) -> int:
        return len(self.puzzles)


def _play(config: Config, boards: pl.DataFrame, player: str, stream: str) -> tuple[pl.DataFrame, dict[str, int]]:
    from number_match import score

    sampling = getattr(config.score, stream)
    rules, who = config.rules, config.score.players[player]
    lost = LOST_PLAYOUTS if _tells_lost(config.score, player, stream) else 0
    table = score.score(boards, rules.parsed, rules.adds, player, who, stream, sampling, config.seed, lost=lost)
    return table, {"playouts": int(table["playouts"].sum())}


def _tells_lost(score: ScoreConfig, player: str, stream: str) -> bool:
    """Whether figures tell how many playouts were lost on their way: the reported ones of the reference player."""
    return stream == "report" and player == score.reference


# -------------------------------------------------------------------------------------------------------------- plan


@dataclass(frozen=True, slots=True)
class Batch:
    """Candidates `start` to `stop` - 1 of a family, of these sizes, asked for in some round (0 is the base pool)."""

    family: str
    sizes: tuple[int, ...]
    start: int
    stop: int
    round: int = 0


class Plan:
    """The jobs of a config, in the run folder `folder`.

    Raises:
        UserError: a file of boards that the config names is not as expected.
    """

    def __init__(self, config: Config, folder: Path) -> None:
        self.config, self.folder = config, str(folder.absolute())  # workers may have been started elsewhere
        rules = config.rules.parsed
        self.families = {family.name: family for family in config.generate.families}
        self.texts: dict[str, tuple[str, ...]] = {
            family.name: tuple(read_boards(Path(family.file), f"generate.families[{position}].file", rules))
            for position, family in enumerate(config.generate.families)
            if family.file
        }
        pinned = [Board.parse(text, rules).text for text in config.assemble.pin.values() if not text.startswith("p-")]
        if pinned:
            self.families[PINNED] = Family(name=PINNED, file="[assemble.pin]")
            self.texts[PINNED] = tuple(pinned)

    @cached_property
    def players(self) -> list[str]:
        """The players whose playouts decide: those that make the score, and the one that the floor is about."""
        score, constraints = self.config.score, self.config.assemble.constraints
        wanted = list(score.blend)
        if constraints.floor is not None or any(level.floor is not None for level in self.config.assemble.level):
            wanted.append(constraints.floor_player or score.weakest)
        return list(dict.fromkeys(wanted))

    def base(self) -> list[Batch]:
        """The base pool: pinned boards, then every family with its share of the candidates."""
        random = [family for family in self.config.generate.families if family.name not in self.texts]
        counts = dict(
            zip(
                (f.name for f in random),
                portions(self.config.generate.candidates, [f.share for f in random]),
                strict=True,
            )
        )
        counts |= {name: len(texts) for name, texts in self.texts.items()}
        names = sorted(self.families, key=lambda name: name != PINNED)
        return [Batch(name, self.families[name].sizes, 0, counts[name]) for name in names if counts[name]]

    def generate(self, batches: Iterable[Batch]) -> Iterator[GenerateJob]:
        """The jobs of batches, cut at multiples of the shard size, so that more candidates leave old shards as they
        are."""
        size = self.config.run.shard_size
        for batch in batches:
            start = batch.start
            while start < batch.stop:
                stop = min((start // size + 1) * size, batch.stop)
                yield self._generate(batch, range(start, stop))
                start = stop

    def _generate(self, batch: Batch, numbers: range) -> GenerateJob:
        family = self.families[batch.family]
        what: dict[str, Any] = {
            "behaviour": {"generate": BEHAVIOURS["generate"]},
            "rules": {"ruleset": self.config.rules.parsed.settings},
            "numbers": [numbers.start, numbers.stop],
        }
        texts = None
        if batch.family in self.texts:
            texts = self.texts[batch.family][numbers.start : numbers.stop]
            what["generate"] = {"families": {family.name: {"boards": list(texts)}}}
        else:
            settings: dict[str, Any] = {
                "sizes": list(batch.sizes),
                "digits": list(family.digits),
                "parity": family.parity,
            }
            if family.equal_pairs is not None:
                settings["equal_pairs"] = family.equal_pairs
            what |= {"seed": self.config.seed, "generate": {"families": {family.name: settings}}}
        return GenerateJob(
            self.folder,
            Request("candidates", f"{batch.family}-{numbers.start:08}", what),
            self.config,
            family,
            batch.sizes,
            numbers,
            texts,
        )

    def validate(self, source: GenerateJob) -> ValidateJob:
        """The job that validates a shard of candidates."""
        what = _over(
            source.request.what,
            {
                "behaviour": {"validate": BEHAVIOURS["validate"]},
                "rules": {"max_adds": self.config.rules.max_adds},
                "validate": self.config.validation.model_dump(mode="json"),
            },
        )
        return ValidateJob(self.folder, Request("validation", source.request.label, what), self.config, source)

    def screen(self, source: ValidateJob, player: str) -> ScreenJob:
        """The job that places the boards of a validation shard by one player."""
        what = _over(source.request.what, self._scoring(player, "screen"))
        request = Request("scores", f"screen-{player}-{source.request.label}", what)
        return ScreenJob(self.folder, request, self.config, source, player)

    def _scoring(self, player: str, stream: str) -> dict[str, Any]:
        score = self.config.score
        what: dict[str, Any] = {
            "behaviour": {"score": BEHAVIOURS["score"]},
            "seed": self.config.seed,
            "rules": {"ruleset": self.config.rules.parsed.settings, "adds": list(self.config.rules.adds)},
            "score": {
                "stream": stream,
                stream: getattr(score, stream).model_dump(mode="json"),
                "players": {player: score.players[player].model_dump(mode="json")},
            },
        }
        if _tells_lost(score, player, stream):
            what["behaviour"]["validate"] = BEHAVIOURS["validate"]
            what["score"]["lost"] = {"playouts": LOST_PLAYOUTS, "nodes": LOST_NODES}
        return what

    def played(self, store: Store, player: str, stream: str) -> list[Request]:
        """The requests of stored shards that hold figures of this player and stream, made as this config would make
        them."""
        wanted = self._scoring(player, stream)
        found = []
        for name in store.shards("scores", f"{stream}-{player}-"):
            what = store.request_of(name)
            if what is not None and {key: value for key, value in what.items() if key != "puzzles"} == wanted:
                label = Path(name).stem.rpartition("-")[0]
                found.append(Request("scores", label, what))
        return [request for request in found if (store.folder / request.name).exists()]

    def play(self, player: str, stream: str, puzzles: Sequence[tuple[str, str]]) -> Iterator[PlayJob]:
        """Jobs for playouts of these (puzzle, board), in the order given; smaller than shards, for they last long."""
        size = max(1, self.config.run.shard_size // 10)
        for start in range(0, len(puzzles), size):
            some = tuple(puzzles[start : start + size])
            digest = sha256("\n".join(puzzle for puzzle, _ in some).encode()).hexdigest()
            what = self._scoring(player, stream) | {"puzzles": digest}
            request = Request("scores", f"{stream}-{player}-{digest[:8]}", what)
            yield PlayJob(self.folder, request, self.config, player, stream, some)


def _over(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Two requests as one, merged table by table."""
    merged = dict(under)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _over(merged[key], value) if both else value
    return merged


def portions(total: int, shares: Sequence[int]) -> list[int]:
    """A total in whole portions by shares; what is left over goes to the largest remainders, then to the first."""
    whole = sum(shares)
    counts = [total * share // whole for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda number: (-(total * shares[number] % whole), number))
    for number in by_remainder[: total - sum(counts)]:
        counts[number] += 1
    return counts


def next_numbers(batches: Iterable[Batch]) -> dict[str, int]:
    """The first number of each family that no batch has yet."""
    found: dict[str, int] = {}
    for batch in batches:
        found[batch.family] = max(found.get(batch.family, 0), batch.stop)
    return found


def top_up(batches: Sequence[Batch], aims: Mapping[tuple[str, int], int], count: int, number: int) -> list[Batch]:
    """A round of `count` more candidates: each (family, size) gets its part by the weight that `aims` gives it."""
    kinds = [kind for kind in sorted(aims) if aims[kind] > 0]
    nexts = next_numbers(batches)
    found = []
    for (family, size), amount in zip(kinds, portions(count, [aims[kind] for kind in kinds]), strict=True):
        if amount:
            start = nexts.get(family, 0)
            found.append(Batch(family, (size,), start, start + amount, number))
            nexts[family] = start + amount
    return found
