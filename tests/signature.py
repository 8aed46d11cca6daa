"""One number for how the solver behaves and one for the players: fixed boards under fixed budgets come in.

`make signature` prints both. A refactor leaves them alone. A change of behaviour changes them, and then the behaviour
version goes up (`SOLVER_BEHAVIOUR`, `SCORING_BEHAVIOUR`), since packs are stamped with it; `make signature KEEP=1`
writes the new numbers beside the old ones into data/signature.json, where a test compares them.
"""

import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from number_match.players import Player
from number_match.rules import Board, Ruleset
from number_match.simulate import SCORING_BEHAVIOUR, simulate
from number_match.solve import SOLVER_BEHAVIOUR, solve

DATA = Path(__file__).parent / "data"
KEPT = DATA / "signature.json"
NODES, PLAYOUTS, MAX_ADDS = 3_000, 40, 3


def boards() -> Iterator[Board]:
    """The fifty boards, each with its allowance and ruleset."""
    for line in (DATA / "signature_boards.tsv").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            ruleset, text = line.split("\t")
            yield Board.parse(text, Ruleset.parse(ruleset))


def solver_lines() -> Iterator[str]:
    """What the solver says of each board."""
    for board in boards():
        yield repr(solve(board, node_budget=NODES, memory_mib=64))


def scoring_lines() -> Iterator[str]:
    """How players of all kinds, which stay as they are when the default panel is tuned, fare with each board."""
    players = json.loads((DATA / "signature_players.json").read_text("utf-8"))
    for board in boards():
        for name, parameters in players.items():
            player = Player.model_validate(parameters)
            figures = simulate(board, player, name=name, max_adds=MAX_ADDS, playouts=range(PLAYOUTS), seed=1)
            yield f"{board} {name} {figures!r}"


def number(lines: Iterator[str]) -> str:
    """64 bits of the lines, in hex."""
    return sha256("\n".join(lines).encode()).hexdigest()[:16]


def signatures() -> dict[str, tuple[int, str]]:
    """For the solver and for the players: the behaviour version, and the number."""
    return {
        "solver": (SOLVER_BEHAVIOUR, number(solver_lines())),
        "scoring": (SCORING_BEHAVIOUR, number(scoring_lines())),
    }


def kept() -> dict[str, dict[str, str]]:
    """The numbers in the repository, by behaviour version."""
    found: dict[str, dict[str, str]] = json.loads(KEPT.read_text("utf-8"))
    return found


def main() -> None:
    """Print the signatures; with `--keep`, write those of a new behaviour version beside the others."""
    numbers = kept()
    for part, (behaviour, signature) in signatures().items():
        print(f"{part:<8} behaviour {behaviour}  {signature}")
        if "--keep" in sys.argv and numbers[part].setdefault(str(behaviour), signature) != signature:
            sys.exit(
                f"the {part} behaves differently under behaviour {behaviour}, which was kept already: raise the version"
            )
    if "--keep" in sys.argv:
        KEPT.write_text(json.dumps(numbers, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
