// The board on the page: cells to tap, the links drawn over them, rows that collapse and digits that arrive.
//
// The elements always stand for the board that was shown last: what still moves is a shadow of the one before, without
// a role or an index, so that the next tap never waits for an animation.

import { classOf, emptiedRows, parsePair } from "./rules.js";
import { draw, make } from "./dom.js";

const PLACE = ["row", "column"];

const CLEAR = 0.33; // how far from the middle of a cell its links end, so that they leave the digit to be read

/**
 * The strokes of a link between cells i < j, as [x1, y1, x2, y2] in cells. A wrap leaves at the right and comes in at
 * the left.
 */
export function strokes(width, i, j, link) {
  const [x1, y1, x2, y2] = [i % width, Math.floor(i / width), j % width, Math.floor(j / width)].map(
    (place) => place + 0.5,
  );
  if (link === "wrap")
    return [
      [x1 + CLEAR, y1, width + 0.1, y1],
      [-0.1, y2, x2 - CLEAR, y2],
    ];
  const long = Math.hypot(x2 - x1, y2 - y1);
  const [dx, dy] = [((x2 - x1) / long) * CLEAR, ((y2 - y1) / long) * CLEAR];
  return [[x1 + dx, y1 + dy, x2 - dx, y2 - dy]];
}

export class BoardView {
  /** Draws into `root`; `onTap(position)` is called for a cell that is clicked, tapped, or chosen by key. */
  constructor(root, onTap) {
    this.onTap = onTap;
    this.focus = 0;
    this.rows = [];
    this.grid = make("div", { class: "grid", role: "grid", "aria-label": "Board", "aria-describedby": "keys-short" });
    this.links = draw("svg", { class: "links", "aria-hidden": "true", preserveAspectRatio: "none" });
    root.replaceChildren(this.grid, this.links);
    this.grid.addEventListener("click", (event) => this.tapped(event.target.closest("[data-at]")));
    this.grid.addEventListener("keydown", (event) => this.pressed(event));
    this.grid.addEventListener("focusin", (event) => this.moveFocus(Number(event.target.dataset.at), false));
  }

  /** Show a board as it is, without a movement. */
  show(board) {
    this.start(board);
    this.rows = this.rowsOf(board.cells, 0);
    this.grid.replaceChildren(...this.rows);
    this.number();
  }

  /** Show the board after a pair was removed: the two cells fade, then rows without an active cell close up. */
  showPair(before, after, action) {
    const pair = parsePair(action);
    const cells = pair.map((cell) => this.cell(cell));
    const gone = emptiedRows(before, ...pair).map((row) => this.rows[row]);
    this.start(after);
    for (const cell of cells) {
      const shadow = make("span", { class: "key shadow", "aria-hidden": "true" }, cell.textContent);
      this.paint(cell, 0);
      cell.append(shadow);
      shadow.addEventListener("animationend", () => shadow.remove());
    }
    this.rows = this.rows.filter((row) => !gone.includes(row));
    gone.forEach(collapse);
    this.number();
  }

  /** Show the board after an Add: the copies arrive one after another. */
  showAdd(before, after) {
    const old = before.cells.length;
    this.start(after);
    const unfinished = this.rows.at(-1)?.children.length % this.board.ruleset.width ? this.rows.pop() : null;
    unfinished?.remove();
    const rows = this.rowsOf(after.cells.slice(this.rows.length * after.ruleset.width), this.rows.length);
    this.rows.push(...rows);
    this.grid.append(...rows);
    this.number();
    after.cells.forEach((_, at) => {
      if (at < old) return;
      this.cell(at).classList.add("arriving");
      this.cell(at).style.setProperty("--late", Math.min(at - old, 40));
    });
  }

  /** Mark cells: {selected: [at], hint: [at], next: [at], blocking: [at]}. */
  mark(marks) {
    for (const row of this.rows) {
      for (const cell of row.children) {
        const at = Number(cell.dataset.at);
        for (const kind of ["selected", "hint", "next", "blocking"])
          cell.classList.toggle(kind, Boolean(marks[kind]?.includes(at)));
        cell.setAttribute("aria-selected", String(Boolean(marks.selected?.includes(at))));
      }
    }
  }

  /** Draw links over the board: [{i, j, link, kind}], where kind is a class of style.css. */
  drawLinks(list) {
    const { width } = this.board.ruleset;
    this.links.setAttribute("viewBox", `0 0 ${width} ${Math.max(1, this.rows.length)}`);
    this.links.style.setProperty("--rows", this.rows.length);
    this.links.replaceChildren(
      ...list.flatMap(({ i, j, link, kind }) =>
        strokes(width, i, j, link).map(([x1, y1, x2, y2]) =>
          draw("line", { class: `link ${link} ${kind}`, x1, y1, x2, y2 }),
        ),
      ),
    );
  }

  tint(on) {
    this.grid.classList.toggle("tinted", on);
  }

  // ---- cells

  start(board) {
    this.held = this.grid.contains(document.activeElement);
    this.board = board;
    this.grid.parentElement.style.setProperty("--columns", board.ruleset.width);
    this.grid.setAttribute("aria-colcount", board.ruleset.width);
  }

  rowsOf(cells, firstRow) {
    const { width } = this.board.ruleset;
    const rows = [];
    for (let start = 0; start < cells.length; start += width) {
      rows.push(
        make(
          "div",
          { class: "line", role: "row" },
          cells.slice(start, start + width).map((digit) => this.paint(make("div", { role: "gridcell" }), digit)),
        ),
      );
    }
    return rows.map((row, n) => (row.setAttribute("aria-rowindex", firstRow + n + 1), row));
  }

  paint(cell, digit) {
    cell.className = digit ? `cell active class-${classOf(digit)}` : "cell hole";
    cell.dataset.digit = digit;
    cell.replaceChildren(make("span", { class: "key" }, digit ? String(digit) : ""));
    return cell;
  }

  cell(at) {
    const { width } = this.board.ruleset;
    return this.rows[Math.floor(at / width)]?.children[at % width];
  }

  /** Give every cell its position, its name and its place in the tab order. */
  number() {
    const { width } = this.board.ruleset;
    this.rows.forEach((row, r) => {
      row.setAttribute("aria-rowindex", r + 1);
      [...row.children].forEach((cell, c) => {
        const what = cell.dataset.digit === "0" ? "hole" : cell.dataset.digit;
        cell.dataset.at = r * width + c;
        cell.setAttribute("aria-label", `${what}, ${[r + 1, c + 1].map((n, k) => `${PLACE[k]} ${n}`).join(" ")}`);
        cell.tabIndex = -1;
      });
    });
    this.moveFocus(this.focus, false);
    if (this.held) this.take(); // the cell that had the keyboard may be gone
  }

  // ---- keys and taps

  tapped(cell) {
    if (cell) this.onTap(Number(cell.dataset.at));
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { width } = this.board.ruleset;
    const rowStart = this.focus - (this.focus % width);
    const steps = {
      ArrowLeft: this.focus - 1,
      ArrowRight: this.focus + 1,
      ArrowUp: this.focus - width,
      ArrowDown: this.focus + width,
      Home: rowStart,
      End: Math.min(rowStart + width, this.board.cells.length) - 1,
    };
    if (event.key in steps) this.moveFocus(steps[event.key], true);
    else if (event.key === "Enter" || event.key === " ") this.onTap(this.focus);
    else return;
    event.preventDefault();
  }

  /** Make `at` the one cell in the tab order; a place off the board is ignored when it was asked for by a key. */
  moveFocus(at, byKey) {
    const last = this.board.cells.length - 1;
    if (byKey && (at < 0 || at > last)) return;
    const before = this.cell(this.focus);
    if (before) before.tabIndex = -1;
    this.focus = Math.max(0, Math.min(at, last));
    const cell = this.cell(this.focus);
    if (!cell) return;
    cell.tabIndex = 0;
    if (byKey) cell.focus();
  }

  /** Put the keyboard on the board. */
  take() {
    this.cell(this.focus)?.focus({ preventScroll: true });
  }
}

/** Let a row that is no longer on the board close up, and go. */
function collapse(row) {
  row.setAttribute("aria-hidden", "true");
  row.removeAttribute("role");
  row.classList.add("leaving");
  for (const cell of row.children) {
    for (const name of ["data-at", "role", "aria-label", "aria-selected", "tabindex"]) cell.removeAttribute(name);
  }
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const height = `${row.getBoundingClientRect().height}px`;
  const moving = row.animate(
    [
      { height, opacity: 1 },
      { height: "0px", opacity: 0 },
    ],
    { duration: still ? 0 : 260, delay: still ? 0 : 200, easing: "ease-in-out", fill: "forwards" },
  );
  moving.finished.then(
    () => row.remove(),
    () => row.remove(),
  );
}
