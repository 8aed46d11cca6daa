// What the page says of a game, in words. Boards and actions come in, sentences go out.

import { ADD, LINKS, links, parsePair } from "./rules.js";
import { tally } from "./game.js";
import { plural } from "./dom.js";

/** Why the two cells that were chosen, with these digits, are no pair; `reason` is whyNot's. */
export function explain({ kind, blocks }, board, first, second) {
  if (kind === "match") return `${first} and ${second} do not match: equal, or 10 together.`;
  if (kind === "blocked")
    return `${blocks.map(({ cell, link }) => `${board.cells[cell]} blocks the ${link}`).join("; ")}.`;
  const line = board.ruleset.wrap ? "line" : LINKS.filter((link) => board.ruleset[link]).join(" or ");
  return `${first} and ${second} match, but no ${line} joins them.`;
}

/** What an action did. */
export function done(before, after, action) {
  if (action === ADD) {
    return `${plural(after.cells.length - before.cells.length, "digit")} added; ${plural(after.adds, "Add")} left.`;
  }
  const rows = ({ cells, ruleset }) => Math.ceil(cells.length / ruleset.width);
  const closed = rows(before) - rows(after);
  return `${named(before, action)}${closed ? `; ${plural(closed, "row")} closed up` : ""}.`;
}

/** An action before it is played: "4 and 6 by the diagonal". */
export function named(board, action) {
  if (action === ADD) return "Add";
  const [i, j] = parsePair(action);
  return `${board.cells[i]} and ${board.cells[j]} by the ${links(board, i, j)[0]}`;
}

/** A hint of game.js. */
export function hinted(board, { action, sure }) {
  if (action === ADD) return sure ? "Add now, as the stored solution does." : "No pair is open: Add.";
  const source = sure ? ", as in the stored solution" : ": open, but the stored solution does not come by here";
  return `${named(board, action)}${source}.`;
}

/** "7 pairs, 1 Add" */
export function amounts({ pairs, adds }) {
  return `${plural(pairs, "pair")}, ${plural(adds, "Add")}`;
}

/** How a cleared Stage went, against par and min Adds. */
export function cleared(stage, used) {
  if (!stage.par) return `${amounts(used)}.`;
  if (stage.par.upper === used.pairs && stage.min_adds.upper === used.adds)
    return `${amounts(used)}: par with the fewest Adds.`;
  return `${amounts(used)}; par is ${stage.par.upper} with ${plural(stage.min_adds.upper, "Add")}.`;
}

/** Where a replay stands; `line` is the solution's, and `on` whether it is shown. */
export function progress(line, on) {
  if (!on) return amounts(tally(line.actions));
  if (line.at === line.actions.length) return `Cleared after ${plural(line.at, "action")}`;
  return `${line.at} of ${line.actions.length}; next: ${named(line.board, line.actions[line.at])}`;
}
