// What this browser remembers: one small record a puzzle, under the puzzle's id, so that it outlives a change of Levels.
//
// A game is counted once, when it is cleared or given up by a restart. Games in which a hint or the stored solution was
// looked at count as helped and are kept apart: they say nothing about difficulty.

const PREFIX = "number-match/puzzle/";
const FRESH = { attempts: 0, clears: 0, helped_attempts: 0, helped_clears: 0, seen: false, best: null, game: null };

/** Where records are kept: the browser's storage, or this page's memory where a browser refuses it or is full. */
export const storage = {
  lasting: true,
  memory: new Map(),
  get(key) {
    try {
      return this.memory.get(key) ?? localStorage.getItem(key);
    } catch {
      this.lasting = false;
      return null;
    }
  },
  set(key, text) {
    try {
      localStorage.setItem(key, text);
      this.memory.delete(key);
    } catch {
      this.lasting = false;
      this.memory.set(key, text);
    }
  },
};

const isCount = (value) => Number.isSafeInteger(value) && value >= 0;

/** The record of a puzzle. What storage holds is not trusted: what does not read as a record is a fresh one. */
export function readRecord(puzzle) {
  try {
    const held = JSON.parse(storage.get(PREFIX + puzzle)) ?? {};
    const record = { ...FRESH };
    for (const key of ["attempts", "clears", "helped_attempts", "helped_clears"])
      if (isCount(held[key])) record[key] = held[key];
    if (isCount(held.best?.pairs) && isCount(held.best?.adds))
      record.best = { pairs: held.best.pairs, adds: held.best.adds };
    record.seen = held.seen === true;
    if (Array.isArray(held.game?.actions) && isCount(held.game.at)) record.game = held.game;
    return record;
  } catch {
    return { ...FRESH };
  }
}

export function writeRecord(puzzle, record) {
  storage.set(PREFIX + puzzle, JSON.stringify(record));
}

export const wasCleared = (record) => record.clears + record.helped_clears > 0;

/** Count a finished game; `used` is its {pairs, adds}. Fewest Adds, then fewest pairs, is the best. */
export function countGame(record, { cleared, helped, used }) {
  const kind = helped ? "helped_" : "";
  record[`${kind}attempts`] += 1;
  if (!cleared) return;
  record[`${kind}clears`] += 1;
  const better =
    !record.best || used.adds < record.best.adds || (used.adds === record.best.adds && used.pairs < record.best.pairs);
  if (!helped && better) record.best = used;
}

/** The records of a pack as telemetry for `number-match calibrate`: one row a Stage played without help. */
export function telemetry(pack, stages) {
  const rows = stages.flatMap((stage) => {
    const { game: _game, seen: _seen, best, ...counts } = readRecord(stage.puzzle);
    if (!counts.attempts) return [];
    return [
      {
        stage: stage.id,
        puzzle: stage.puzzle,
        board: stage.board,
        allowance: stage.adds,
        ...counts,
        best_pairs: best?.pairs ?? null,
        best_adds: best?.adds ?? null,
        par: stage.par?.upper ?? null,
        min_adds: stage.min_adds.upper ?? null,
      },
    ];
  });
  return {
    format: "number-match-telemetry",
    format_version: 1,
    pack_id: pack.pack_id,
    content_hash: pack.content_hash,
    rows,
  };
}
