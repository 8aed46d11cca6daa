"""What is wrong with a pack: findings come in, text for people, JSON, JUnit XML and GitHub annotations go out."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from xml.etree import ElementTree

from number_match.formats import VerifyFormat
from number_match.words import counted, printable, shortened, shown

RULES = {
    # the file
    "content-hash": "content_hash is the sha256 of the canonical JSON of the rest",
    "ruleset-name": "a known ruleset id stands for its settings",
    "source": "a client file follows from the pack that it was made from",
    # puzzles
    "board": "a board is legal under the ruleset, written canonically, and holds a digit",
    "puzzle-id": "a puzzle's id follows from the ruleset and the board",
    "canonical": "canonical follows from the ruleset and the board up to renaming classes",
    "unique-id": "an id is given once",
    "duplicate": "no two puzzles are the same up to renaming classes",
    "withdrawn": "a withdrawn puzzle does not come back",
    "min-adds": "min Adds fits its own bounds, the parity of the classes and the solution",
    "par": "par fits its own bounds, the parity of the classes and the solution",
    # Levels and Stages
    "level-id": "Level ids are unique",
    "stage-id": "a Stage's id names its place",
    "puzzle-reference": "a Stage's puzzle is in the pack",
    "puzzle-used-once": "every puzzle is used by exactly one Stage",
    "puzzle-order": "puzzles stand in order of first use",
    "allowance": "a Stage allows at least min Adds, and no more than was measured",
    "solution": "the solution clears the board within the allowance, replayed by the plain rules",
    # difficulty
    "bands": "bands rise from 0 and are named once",
    "panel": "every Stage has the counts of every player of the panel, for every allowance",
    "counts": "counts lie between 0 and the playouts, and are 0 below min Adds",
    "score": "the score follows from the counts",
    "band": "the band follows from the score",
    "target": "the target is the one that the curve gives",
    "assembly": "the Stages are those that the assembly asked for",
    # against an older release
    "version": "a changed pack has a higher pack_version",
    "withdrawn-kept": "what was withdrawn stays withdrawn",
    "id-kept": "a puzzle id never changes its meaning",
    # the full level
    "solver": "the solver finds the same bounds, or ones that fit them",
    "playouts": "the report playouts give the same counts again",
    "pass-rate": "fresh playouts agree with the counts",
}
"""Every rule that a finding can name."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule, where, and both values. A note is worth knowing and breaks no rule."""

    pack: str
    rule: str
    found: str
    expected: str
    level: str = ""
    stage: str = ""
    puzzle: str = ""
    note: bool = False

    def __str__(self) -> str:
        place = " ".join(part for part in (self.stage or self.level, self.puzzle) if part)
        kind = "note: " if self.note else ""
        return f"{self.pack}: {kind}{place and place + ': '}{self.rule}: found {self.found}, expected {self.expected}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a pack a check is; makes findings about it."""

    pack: str
    level: str = ""
    stage: str = ""
    puzzle: str = ""

    def at(self, **deeper: str) -> "Place":
        """The place further inside: a level, a stage, a puzzle."""
        return replace(self, **deeper)

    def finding(self, rule: str, found: object, expected: object, *, note: bool = False) -> Finding:
        """A rule of `RULES` broken here, with what was found and what was expected."""
        assert rule in RULES, rule
        return Finding(self.pack, rule, _short(found), _short(expected), self.level, self.stage, self.puzzle, note)


def _short(value: object, most: int = 400) -> str:
    return shortened(printable(value), most) if isinstance(value, str) else shown(value, most)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was checked of one file, and everything that was found."""

    pack: str
    title: str
    checked: str
    """`quick`, `full`, or `client` for the reduced level of a client file."""
    stages: tuple[tuple[str, str], ...] = ()
    """(Stage, puzzle) of every Stage, in order."""
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """Remarks about the whole check."""
    unreadable: str = ""
    """Why the file is not a pack at all; nothing else was checked then."""

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The findings that are not mere notes."""
        return tuple(finding for finding in self.findings if not finding.note)

    @property
    def exit_code(self) -> int:
        """0 clean, 1 findings, 2 not readable as a pack."""
        return 2 if self.unreadable else 1 if self.broken else 0


def written(verdicts: Sequence[Verdict], form: VerifyFormat) -> Iterator[str]:
    """The verdicts as lines of a format."""
    writers = {"text": as_text, "json": as_json, "junit": as_junit, "github": as_github}
    return writers[form](verdicts)


def as_text(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """For people: every finding of a pack, then a line about it as a whole."""
    for verdict in verdicts:
        yield from (str(finding) for finding in verdict.findings)
        yield from (f"{verdict.pack}: note: {note}" for note in verdict.notes)
        if verdict.unreadable:
            continue  # nothing was checked
        outcome = counted(len(verdict.broken), "finding") if verdict.broken else "clean"
        stages = counted(len(verdict.stages), "Stage")
        yield f"{verdict.pack}: {outcome} ({verdict.checked}, {stages}, {printable(verdict.title)})"


def as_json(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """One object a line for each pack."""
    for verdict in verdicts:
        record = {
            "pack": verdict.pack,
            "checked": verdict.checked,
            "stages": len(verdict.stages),
            "clean": verdict.exit_code == 0,
            "findings": [asdict(finding) for finding in verdict.findings],
            "notes": list(verdict.notes),
            "unreadable": verdict.unreadable or None,
        }
        yield json.dumps(record, ensure_ascii=False)


def as_junit(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """JUnit XML: a suite for each pack, a case for each Stage, and one for the pack as a whole."""
    root = ElementTree.Element("testsuites")
    for verdict in verdicts:
        cases: dict[str, list[Finding]] = {"pack": []}
        cases.update((stage, []) for stage, _ in verdict.stages)
        for finding in verdict.broken:
            cases[finding.stage if finding.stage in cases else "pack"].append(finding)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=verdict.pack,
            tests=str(len(cases)),
            failures=str(sum(map(bool, cases.values()))),
            errors=str(int(bool(verdict.unreadable))),
            skipped="0",
        )
        for name, found in cases.items():
            case = ElementTree.SubElement(suite, "testcase", classname=verdict.pack, name=name)
            if found:
                failure = ElementTree.SubElement(case, "failure", message=_xml(found[0].rule), type=_xml(found[0].rule))
                failure.text = _xml("\n".join(map(str, found)))
            elif verdict.unreadable and name == "pack":
                ElementTree.SubElement(case, "error", message=_xml(verdict.unreadable), type="unreadable")
    ElementTree.indent(root)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield ElementTree.tostring(root, encoding="unicode")


def _xml(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return "".join(char if char in "\t\n" or (char >= " " and char not in "\ufffe\uffff") else "�" for char in text)


def as_github(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Workflow commands that GitHub shows as annotations of the file."""
    for verdict in verdicts:
        if verdict.unreadable:
            yield f"::error file={_property(verdict.pack)},title=not a pack::{_data(verdict.unreadable)}"
        for finding in verdict.findings:
            kind = "notice" if finding.note else "error"
            title = f"{finding.stage or finding.level or 'pack'} {finding.rule}"
            yield f"::{kind} file={_property(finding.pack)},title={_property(title)}::{_data(str(finding))}"
        yield from (f"::notice file={_property(verdict.pack)}::{_data(note)}" for note in verdict.notes)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
