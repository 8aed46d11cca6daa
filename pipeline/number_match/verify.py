"""Packs checked again from nothing but themselves: a pack comes in, everything that is wrong with it goes out.

Three levels. `client`: what can be told of the game's client file. `quick`: all that follows from the pack by the plain
rules and by arithmetic (`verify_quick.py`). `full`: the solver and the panel do their work again, without a look at
what the pack says (`verify_full.py`). An older release, and the pack of a client file, can be held against it too.
"""

import json
import os
from collections.abc import Iterator

from number_match.diff import differences
from number_match.findings import Finding, Place, Verdict
from number_match.models import MAX_BYTES, ClientPack, Pack, PackError, client_pack, document_of, read_any
from number_match.verify_full import Progress, again
from number_match.verify_quick import quick
from number_match.words import interval


def verify(
    path: str | os.PathLike[str],
    *,
    full: bool = False,
    baseline: Pack | ClientPack | None = None,
    against: Pack | None = None,
    max_bytes: int = MAX_BYTES,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Check one file.

    Args:
        full: also solve and play everything again.
        baseline: an older release of the same pack, which this one must not contradict.
        against: for a client file, the pack that it was made from; it is checked too.
        workers: threads for the full level; by default as many as there are cores.
    """
    name = str(path)
    try:
        pack = read_any(path, max_bytes=max_bytes)
    except PackError as error:
        return Verdict(name, "", "nothing", unreadable=str(error))
    checked, notes = "quick", []
    findings = list(quick(pack, name))
    if isinstance(pack, ClientPack):
        checked = "client"
        if against is None:
            notes.append("a client file holds no solutions, bounds by the solver or counts: only the rest was checked")
        else:
            findings += _follows(pack, against, name)
            findings += quick(against, name)
            checked = "client against its pack"
    elif against is not None:
        notes.append("nothing was held against it: it is the whole pack, and not a client file")
    if baseline is not None:
        findings += _against_baseline(pack, baseline, name)
    whole = pack if isinstance(pack, Pack) else against
    if full and whole is not None:
        checked = "full" if whole is pack else "full, against its pack"
        more, remark = again(whole, name, workers=workers, progress=progress)
        findings += more
        notes += remark
    stages = tuple((stage.id, stage.puzzle) for level in pack.levels for stage in level.stages)
    return Verdict(name, pack.title, checked, stages, tuple(findings), tuple(notes))


def _against_baseline(pack: Pack | ClientPack, old: Pack | ClientPack, name: str) -> Iterator[Finding]:
    """What an earlier release of the same pack has against this one."""
    place = Place(name)
    if _whole_hash(pack, old) != _whole_hash(old, pack) and pack.pack_version <= old.pack_version:
        expected = f"above {old.pack_version}, since the contents changed"
        yield place.finding("version", pack.pack_version, expected)
    kept, now = set(pack.withdrawn), {puzzle.id: puzzle for puzzle in pack.puzzles}
    for gone in old.withdrawn:
        if gone not in kept:
            yield place.at(puzzle=gone).finding("withdrawn-kept", "no longer withdrawn", "withdrawn for good")
        if gone in now and gone not in kept:
            yield place.at(puzzle=gone).finding("withdrawn", "used again", "never used again")
    for before in old.puzzles:
        after = now.get(before.id)
        if after is None:
            continue
        if (after.board, pack.ruleset.rules().settings) != (before.board, old.ruleset.rules().settings):
            yield place.at(puzzle=before.id).finding("id-kept", after.board, before.board)
        elif after.min_adds.lower > before.min_adds.upper or after.min_adds.upper < before.min_adds.lower:
            bounds = [f"min Adds {interval(both.lower, both.upper)}" for both in (after.min_adds, before.min_adds)]
            yield place.at(puzzle=before.id).finding("id-kept", *bounds)


def _whole_hash(one: Pack | ClientPack, other: Pack | ClientPack) -> str:
    """What tells whether two releases have the same contents: of a client file beside a pack, the hash of its pack."""
    return one.source_hash if isinstance(one, ClientPack) and isinstance(other, Pack) else one.content_hash


def _follows(client: ClientPack, pack: Pack, name: str) -> Iterator[Finding]:
    """Whether a client file is what this version makes of the pack."""
    place = Place(name)
    if client.source_hash != pack.content_hash:
        yield place.finding("source", f"source_hash {client.source_hash}", f"{pack.content_hash}, the hash of the pack")
    found, expected = document_of(client), document_of(client_pack(pack))
    for key in ("content_hash", "source_hash"):
        del found[key], expected[key]
    for path, is_, should in differences(found, expected):
        yield place.finding("source", f"{path} {json.dumps(is_)}", json.dumps(should))
