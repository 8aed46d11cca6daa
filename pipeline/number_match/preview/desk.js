// The designer's desk beside the board: what the Stage is, how the panel fared, what is open now, and the record.

import { boardText, classCounts, isCleared, pairs, reducedWord } from "./rules.js";
import { wilson } from "./game.js";
import { draw, make, plural } from "./dom.js";

const CLASSES = ["1·9", "2·8", "3·7", "4·6", "5"];

const known = ({ lower, upper }) => (lower === upper ? String(lower) : `${lower} to ${upper ?? "?"}`);
const percent = (rate) => `${(100 * rate).toFixed(rate > 0 && rate < 0.0995 ? 1 : 0)}%`;

/** A list of facts: [[name, value], …], where a value is text or an element; null values are left out. */
function facts(rows) {
  return make(
    "dl",
    { class: "facts" },
    rows
      .filter(([, value]) => value !== null)
      .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
  );
}

/** What the pack says of a Stage. */
export function stageFacts(stage) {
  const { difficulty } = stage;
  return facts([
    ["Adds allowed", String(stage.adds)],
    ["Min Adds", known(stage.min_adds)],
    ["Par", stage.par ? `${known(stage.par)} ${stage.par.upper === 1 ? "pair" : "pairs"}` : null],
    ["Difficulty", `${difficulty.score.toFixed(1)}, target ${difficulty.target.toFixed(1)}`],
    ["Band", make("bdi", {}, difficulty.band)],
    ["Family", stage.family ? make("bdi", {}, stage.family) : null],
    ["Stage", make("code", {}, stage.id)],
    ["Puzzle", make("code", {}, stage.puzzle)],
    ["Board", make("code", { class: "board-text" }, stage.board)],
  ]);
}

/** Pass rate of every player at this Stage's allowance, with its interval, and a table of the other allowances. */
export function panel(stage, reference) {
  const players = Object.entries(stage.difficulty.players ?? {});
  if (!players.length) return make("p", { class: "quiet" }, "This pack holds no playouts.");
  const rows = players.map(([name, { passed, playouts }]) => {
    const count = passed[Math.min(stage.adds, passed.length - 1)];
    const [low, high] = wilson(count, playouts);
    const text = `${percent(count / playouts)} (${percent(low)} to ${percent(high)})`;
    const bar = draw(
      "svg",
      { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      draw("rect", { class: "rail", width: 100, height: 10 }),
      draw("rect", { class: "rate", width: (100 * count) / playouts, height: 10 }),
      draw("rect", { class: "interval", x: 100 * low, width: Math.max(0.6, 100 * (high - low)), y: 3, height: 4 }),
    );
    return make(
      "li",
      { title: `${count} of ${playouts} playouts; 95% interval ${percent(low)} to ${percent(high)}` },
      make(
        "span",
        { class: "who" },
        name,
        name === reference ? make("abbr", { title: "the reference player: the score follows from it" }, "ref") : null,
      ),
      bar,
      make("span", { class: "rate-text", "aria-label": text }, percent(count / playouts)),
    );
  });
  const allowances = players[0][1].passed.map((_, adds) => adds);
  const table = make(
    "table",
    {},
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("th", { scope: "col" }, "Adds"),
        allowances.map((adds) =>
          make("th", { scope: "col", class: adds === stage.adds ? "here" : false }, String(adds)),
        ),
      ),
    ),
    make(
      "tbody",
      {},
      players.map(([name, { passed, playouts }]) =>
        make(
          "tr",
          {},
          make("th", { scope: "row" }, name),
          allowances.map((adds) =>
            make(
              "td",
              { class: adds === stage.adds ? "here" : false },
              passed[adds] === undefined ? "" : percent(passed[adds] / playouts),
            ),
          ),
        ),
      ),
    ),
  );
  return make(
    "div",
    {},
    make("p", { class: "quiet" }, `Pass rate with ${plural(stage.adds, "Add")}`),
    make("ul", { class: "panel" }, rows),
    make(
      "details",
      {},
      make("summary", {}, "With every allowance"),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Pass rates by allowance" }, table),
    ),
  );
}

/** What is on the board now: open pairs, classes with their parity, the reduced word, and what follows from them. */
export function boardFacts(board) {
  const counts = classCounts(board);
  const odd = counts.filter((count) => count % 2).length;
  const word = board.ruleset.row && board.ruleset.wrap ? reducedWord(board).length : null;
  const classes = make(
    "ul",
    { class: "classes", "aria-label": "Active cells by class" },
    counts.map((count, n) =>
      make(
        "li",
        { class: `class-${n + 1}${count % 2 ? " odd" : ""}` },
        make("span", { class: "digits" }, CLASSES[n]),
        make("b", {}, String(count)),
        make("span", { class: "parity" }, count % 2 ? "odd" : "even"),
      ),
    ),
  );
  const lost = !board.adds && odd > 0;
  const news = isCleared(board)
    ? null
    : lost
      ? "Lost: no Add is left and a class is odd. Pairs take two of a class, so one cell of it stays."
      : word === 0
        ? "Row and wrap pairs alone clear this board: its reduced word is empty."
        : null;
  return make(
    "div",
    {},
    facts([
      ["Pairs open", String(pairs(board).length)],
      ["Active cells", String(counts.reduce((sum, count) => sum + count, 0))],
      ["Reduced word", word === null ? null : plural(word, "class", "classes")],
    ]),
    classes,
    news && make("p", { class: lost ? "news bad" : "news" }, news),
    make(
      "details",
      {},
      make("summary", {}, "As text"),
      make("code", { class: "board-text" }, `${boardText(board)} +${board.adds}`),
    ),
  );
}

/** The player's own record on this puzzle against par and min Adds. */
export function recordFacts(record, stage) {
  const { best } = record;
  const against = best && stage.par ? ` (par ${known(stage.par)}, min Adds ${known(stage.min_adds)})` : "";
  const helped = record.helped_attempts ? `${record.helped_clears} of ${record.helped_attempts}` : null;
  return facts([
    ["Cleared", `${record.clears} of ${plural(record.attempts, "game")}`],
    ["With help", helped],
    ["Best", best ? `${plural(best.pairs, "pair")}, ${plural(best.adds, "Add")}${against}` : "none yet"],
  ]);
}
