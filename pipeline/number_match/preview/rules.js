// The rules of DESIGN.md section 2, a third time: text comes in, boards, pairs and reasons come out. No page, no state.
//
// A board is {cells, adds, ruleset}: digits in reading order with 0 for a hole, the Adds left, and
// {width, row, column, diagonal, wrap}. Boards are never changed; every action makes a new one. The names are those of
// rules.py, and the tests hold the two together.

export const LINKS = ["row", "column", "diagonal", "wrap"];
export const ADD = "+";

/** Rule 2a: two digits match when they are equal or 10 together. */
export const matches = (a, b) => a === b || a + b === 10;

/** The class 1-5 of a digit: {1,9} {2,8} {3,7} {4,6} {5}. */
export const classOf = (digit) => Math.min(digit, 10 - digit);

/** Read "12..5..98/...3.7" with an allowance of `adds`; rows without an active cell collapse. */
export function parseBoard(text, ruleset, adds = 0) {
  const rows = text === "-" ? [] : text.split("/");
  const last = rows.length - 1;
  const sound = (row, at) =>
    /^[1-9.]+$/.test(row) && (at < last ? row.length === ruleset.width : row.length <= ruleset.width);
  if (!rows.every(sound)) throw new Error(`${text.slice(0, 80)} is no board of width ${ruleset.width}`);
  const kept = rows.filter((row) => /[1-9]/.test(row)).join("");
  return { cells: Array.from(kept, (glyph) => (glyph === "." ? 0 : Number(glyph))), adds, ruleset };
}

/** The board as packs hold it, without its Adds. */
export function boardText({ cells, ruleset }) {
  const rows = [];
  for (let start = 0; start < cells.length; start += ruleset.width) {
    rows.push(
      cells
        .slice(start, start + ruleset.width)
        .map((digit) => digit || ".")
        .join(""),
    );
  }
  return rows.join("/") || "-";
}

export const activeCells = (board) => board.cells.filter(Boolean);

/** Rule 6. */
export const isCleared = (board) => board.cells.every((digit) => !digit);
export const isStuck = (board) => !isCleared(board) && !board.adds && pairs(board).length === 0;

/** The positions after i along a link, in reading order; `step` is +1 or -1 for the two diagonals. */
function line({ cells, ruleset: { width } }, i, link, step) {
  const rowEnd = Math.min(i - (i % width) + width, cells.length);
  const found = [];
  if (link === "row") {
    for (let j = i + 1; j < rowEnd; j++) found.push(j);
  } else if (link === "column") {
    for (let j = i + width; j < cells.length; j += width) found.push(j);
  } else if (link === "diagonal") {
    let column = (i % width) + step;
    for (let j = i + width + step; column >= 0 && column < width && j < cells.length; j += width + step) {
      found.push(j);
      column += step;
    }
  } else if (cells.slice(i + 1, rowEnd).every((digit) => !digit)) {
    // wrap: the rest of the row is holes, so reading goes on at the start of the next row
    for (let j = rowEnd; j < Math.min(rowEnd + width, cells.length); j++) found.push(j);
  }
  return found;
}

/** Every line of the ruleset from i, as [link, positions]. */
function lines(board, i) {
  return LINKS.filter((link) => board.ruleset[link]).flatMap((link) =>
    (link === "diagonal" ? [1, -1] : [0]).map((step) => [link, line(board, i, link, step)]),
  );
}

/** The first active cell on each line from i, as [link, position]. */
function neighbours(board, i) {
  return lines(board, i)
    .map(([link, positions]) => [link, positions.find((j) => board.cells[j])])
    .filter(([, j]) => j !== undefined);
}

/** Rule 2b: the links that join active cells i < j with nothing but holes between, whatever their digits. */
export function links(board, i, j) {
  const joined = neighbours(board, i).filter(([, k]) => k === j);
  return [...new Set(joined.map(([link]) => link))];
}

/** Every pair [i, j] with i < j, each once, in order. */
export function pairs(board) {
  return board.cells.flatMap((digit, i) => {
    if (!digit) return [];
    const near = neighbours(board, i).map(([, j]) => j);
    return [...new Set(near)]
      .filter((j) => matches(digit, board.cells[j]))
      .sort((a, b) => a - b)
      .map((j) => [i, j]);
  });
}

/**
 * Why i-j is no pair, or null when it is one. `kind` is "hole", "match", "blocked" or "apart"; `blocks` lists, for each
 * link that would join the two, the first cell in between.
 */
export function whyNot(board, i, j) {
  const { cells, ruleset } = board;
  if (!cells[i] || !cells[j]) return { kind: "hole", blocks: [] };
  if (!matches(cells[i], cells[j])) return { kind: "match", blocks: [] };
  const blocks = [];
  for (const [link, positions] of lines(board, i)) {
    if (!positions.includes(j)) continue;
    const cell = positions.find((k) => cells[k]);
    if (cell === j) return null;
    blocks.push({ cell, link });
  }
  const nextRow = Math.floor(i / ruleset.width) + 1 === Math.floor(j / ruleset.width);
  if (!blocks.length && ruleset.wrap && nextRow) {
    blocks.push({ cell: cells.findIndex((digit, k) => k > i && digit), link: "wrap" });
  }
  return { kind: blocks.length ? "blocked" : "apart", blocks };
}

/** Rule 4: the rows, from above, that removing the pair i-j leaves without an active cell. */
export function emptiedRows({ cells, ruleset: { width } }, i, j) {
  const rows = [...new Set([i, j].map((cell) => Math.floor(cell / width)))].sort((a, b) => a - b);
  return rows.filter((row) =>
    cells
      .slice(row * width, (row + 1) * width)
      .every((digit, c) => !digit || row * width + c === i || row * width + c === j),
  );
}

/** Rules 3 to 5: the board after "i-j" or "+"; throws when the action is illegal. */
export function play(board, action) {
  if (action === ADD) {
    if (!board.adds || isCleared(board)) throw new Error(board.adds ? "the board is cleared" : "no Add is left");
    return { ...board, cells: [...board.cells, ...activeCells(board)], adds: board.adds - 1 };
  }
  const [i, j] = parsePair(action);
  const reason = whyNot(board, i, j);
  if (reason) throw new Error(`${action} is no pair on ${boardText(board)}: ${reason.kind}`);
  const gone = emptiedRows(board, i, j);
  const cells = board.cells
    .map((digit, k) => (k === i || k === j ? 0 : digit))
    .filter((_, k) => !gone.includes(Math.floor(k / board.ruleset.width)));
  return { ...board, cells };
}

/** Read "i-j" with i < j. */
export function parsePair(action) {
  const found = /^(0|[1-9]\d{0,8})-(0|[1-9]\d{0,8})$/.exec(action);
  if (!found || Number(found[1]) >= Number(found[2])) throw new Error(`${action} is no action`);
  return [Number(found[1]), Number(found[2])];
}

/** How many active cells each class 1-5 has, in that order. */
export function classCounts(board) {
  const counts = [0, 0, 0, 0, 0];
  for (const digit of activeCells(board)) counts[classOf(digit) - 1] += 1;
  return counts;
}

/** The classes in reading order after cancelling equal neighbours: empty when row and wrap pairs alone clear the board. */
export function reducedWord(board) {
  const word = [];
  for (const digit of activeCells(board)) {
    if (word.at(-1) === classOf(digit)) word.pop();
    else word.push(classOf(digit));
  }
  return word;
}
