// One game on a Stage, without a page: the boards passed through, a place among them, and what is known to come next.

import { ADD, boardText, isCleared, pairs, play } from "./rules.js";

/** A line of play: boards[0], actions[0], boards[1], … and the place `at` that is looked at. */
export class Line {
  constructor(board, actions = []) {
    this.boards = [board];
    this.actions = [];
    this.at = 0;
    for (const action of actions) this.act(action);
  }

  get board() {
    return this.boards[this.at];
  }

  /** The actions up to the place that is looked at. */
  get done() {
    return this.actions.slice(0, this.at);
  }

  /** Play on from here; what had been undone is forgotten. Throws when the action is illegal. */
  act(action) {
    const next = play(this.board, action);
    this.boards.splice(this.at + 1, Infinity, next);
    this.actions.splice(this.at, Infinity, action);
    this.at += 1;
  }

  /** Look at place `at`, held within the line. */
  go(at) {
    this.at = Math.max(0, Math.min(at, this.actions.length));
  }
}

/** Pairs removed and Adds used by these actions. */
export function tally(actions) {
  const adds = actions.filter((action) => action === ADD).length;
  return { pairs: actions.length - adds, adds };
}

/**
 * What to play on this board: {action, sure}. Where the board lies on the stored solution the hint is its next action and
 * `sure` is true; elsewhere it is the pair whose cells are closest, or an Add. Null when there is nothing to play.
 */
export function hint(board, solution) {
  const here = solution
    ? solution.boards.findIndex((step) => step.adds <= board.adds && boardText(step) === boardText(board))
    : -1;
  if (here >= 0 && here < solution.actions.length) return { action: solution.actions[here], sure: true };
  const [closest] = pairs(board).sort(([a, b], [c, d]) => b - a - (d - c));
  if (closest) return { action: closest.join("-"), sure: false };
  return board.adds && !isCleared(board) ? { action: ADD, sure: false } : null;
}

/** Wilson's 95% interval of a pass rate: [low, high], as simulate.py has it. */
export function wilson(passed, playouts) {
  if (!playouts) return [0, 1];
  const z = 1.959963984540054;
  const rate = passed / playouts;
  const middle = rate + (z * z) / (2 * playouts);
  const half = z * Math.sqrt((rate * (1 - rate)) / playouts + (z * z) / (4 * playouts * playouts));
  const scale = 1 + (z * z) / playouts;
  return [Math.max(0, (middle - half) / scale), Math.min(1, (middle + half) / scale)];
}
