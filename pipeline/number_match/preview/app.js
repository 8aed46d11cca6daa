// The page: one Stage at a time, the player's game on it or the replay of its stored solution, and all beside it.

import { ADD, LINKS, activeCells, isCleared, isStuck, links, pairs, parseBoard, parsePair, whyNot } from "./rules.js";
import { Line, hint, tally } from "./game.js";
import { countGame, readRecord, storage, telemetry, writeRecord } from "./record.js";
import { BoardView } from "./board.js";
import { LevelList } from "./levels.js";
import { boardFacts, panel, recordFacts, stageFacts } from "./desk.js";
import { cleared, done, explain, hinted, progress } from "./words.js";
import { draw, make, plural, title } from "./dom.js";

const $ = (id) => document.getElementById(id);
const REPLAY_PACE = 1100; // milliseconds from one action to the next

const pack = readPack(JSON.parse($("pack").textContent));
const view = new BoardView($("board"), choose);
const list = new LevelList($("levels"), pack, (stage) => open(stage, true));

let stage; // the Stage that is open
let game; // the player's Line on it
let solution; // the stored solution's Line, or null
let record; // what is remembered of the puzzle
let helped = false; // a hint or the solution was looked at in this game
let counted = false; // this game is in the record already
let selected = null; // the cell that was chosen first
let marks = {}; // what else is marked: cells as hint or blocking; add, for the button
let replaying = false;
let timer = null; // of the replay, while it plays

/** Link Stages to their Levels and number both. */
function readPack(data) {
  data.levels.forEach((level, number) => {
    level.number = number;
    level.stages.forEach((item, n) => Object.assign(item, { number: n, level }));
  });
  data.stages = data.levels.flatMap((level) => level.stages);
  data.stages.forEach((item, place) => (item.place = place));
  return data;
}

// ---- opening a Stage

function open(next, byHand) {
  stop();
  stage = next;
  record = readRecord(stage.puzzle);
  const start = parseBoard(stage.board, pack.ruleset, stage.adds);
  solution = stage.solution ? new Line(start, stage.solution) : null;
  solution?.go(0);
  game = resume(start);
  replaying = false;
  selected = null;
  marks = {};
  $("ending").dataset.over = "";
  $("ending").hidden = true;
  if (location.hash !== `#${stage.id}`) history.replaceState(null, "", `#${stage.id}`);
  $("stage-title").replaceChildren(title(stage.level.title || stage.level.id));
  $("stage-line").replaceChildren(
    `Stage ${stage.number + 1} of ${stage.level.stages.length}`,
    make("bdi", { class: "badge" }, stage.difficulty.band),
  );
  $("stage").replaceChildren(stageFacts(stage));
  $("panel").replaceChildren(panel(stage, pack.reference));
  $("replay").hidden = !solution; // a client file holds none
  $("replay-at").max = solution?.actions.length ?? 0;
  $("previous").disabled = stage.place === 0;
  $("next").disabled = stage.place === pack.stages.length - 1;
  showLevels(false);
  list.show(stage);
  view.focus = 0;
  view.show(game.board);
  say("");
  refresh();
  if (byHand) view.take();
}

/** The game that was left on this puzzle, as far as it is legal here, or a fresh one. */
function resume(start) {
  helped = record.seen;
  counted = false;
  if (!record.game) return new Line(start);
  try {
    const line = new Line(start, record.game.actions);
    line.go(record.game.at);
    helped ||= record.game.helped === true;
    counted = record.game.counted === true;
    return line;
  } catch {
    return new Line(start); // not a game on this board, or with another allowance
  }
}

function remember() {
  record.game = { actions: game.actions, at: game.at, helped, counted };
  writeRecord(stage.puzzle, record);
}

// ---- playing

/** A cell was tapped, clicked, or chosen by key. */
function choose(at) {
  if (replaying) return say("This is the replay. Go back to your game to play.");
  const { cells } = game.board;
  marks = {};
  if (!cells[at]) {
    selected = null;
    say("That is a hole.");
  } else if (selected === null) {
    selected = at;
    say(`${cells[at]} chosen.`);
  } else if (selected === at) {
    selected = null;
    say("");
  } else {
    const [i, j] = [Math.min(selected, at), Math.max(selected, at)];
    const reason = whyNot(game.board, i, j);
    if (!reason) return act(`${i}-${j}`);
    say(explain(reason, game.board, cells[selected], cells[at]), "bad");
    marks = { blocking: reason.blocks.map(({ cell }) => cell) };
    selected = reason.kind === "match" ? at : selected;
  }
  refresh();
}

/** Play an action that is known to be legal. */
function act(action) {
  const before = game.board;
  game.act(action);
  const after = game.board;
  selected = null;
  marks = {};
  move(before, after, action);
  say(done(before, after, action));
  finish(after);
  remember();
  refresh(action === ADD ? [] : [drawn(before, action, "played")]);
}

/** Let the board on the page do what the action did. */
function move(before, after, action) {
  if (action === ADD) view.showAdd(before, after);
  else view.showPair(before, after, action);
}

/** Count a game that was just cleared. */
function finish(board) {
  if (!isCleared(board) || counted) return;
  counted = true;
  countGame(record, { cleared: true, helped, used: tally(game.done) });
}

/** Forget what was chosen and marked. */
function letGo() {
  selected = null;
  marks = {};
  say("");
  refresh();
}

function addAction() {
  if (!replaying && game.board.adds && !isCleared(game.board)) act(ADD);
}

function travel(at) {
  if (replaying || at < 0 || at > game.actions.length) return;
  game.go(at);
  selected = null;
  marks = {};
  view.show(game.board);
  say(at < game.actions.length ? `Before action ${at + 1} of ${game.actions.length}.` : "");
  remember();
  refresh();
}

function restart() {
  if (replaying) return;
  if (game.actions.length && !counted) countGame(record, { cleared: false, helped, used: tally(game.done) });
  game = new Line(game.boards[0]);
  helped = record.seen;
  counted = false;
  selected = null;
  marks = {};
  view.show(game.board);
  say("A fresh game.");
  remember();
  refresh();
}

function showHint() {
  if (replaying) return;
  const found = hint(game.board, solution);
  if (!found)
    return say(isCleared(game.board) ? "The board is cleared." : "Nothing is left to play: undo, or restart.");
  const pair = found.action === ADD ? null : parsePair(found.action);
  helped = true;
  selected = null;
  marks = pair ? { hint: pair } : { add: true };
  say(hinted(game.board, found));
  remember();
  refresh(pair ? [drawn(game.board, found.action, "hint")] : []);
}

// ---- the replay

function replayTo(at) {
  const entering = !replaying;
  replaying = true;
  if (entering) {
    $("table").scrollIntoView({ block: "nearest" });
    record.seen = helped = true;
    selected = null;
    marks = {};
    say("");
    remember();
  }
  const from = solution.at;
  solution.go(at);
  if (!entering && solution.at === from + 1) move(solution.boards[from], solution.board, solution.actions[from]);
  else view.show(solution.board);
  if (solution.at === solution.actions.length) stop();
  refresh();
}

function playReplay() {
  if (timer) return stop();
  if (!replaying || solution.at === solution.actions.length) replayTo(0);
  timer = setInterval(() => replayTo(solution.at + 1), REPLAY_PACE);
  refresh();
}

function stop() {
  clearInterval(timer);
  timer = null;
}

function leaveReplay() {
  stop();
  replaying = false;
  solution.go(0);
  view.show(game.board);
  say("Your game again. Games on this puzzle count as helped from now on.");
  refresh();
}

// ---- showing

function drawn(board, action, kind) {
  const [i, j] = parsePair(action);
  return { i, j, link: links(board, i, j)[0], kind };
}

function say(text, kind = "") {
  $("message").textContent = text;
  $("message").className = `message ${kind}`;
}

/** Bring everything on the page up to date; `extra` are links to draw for this moment. */
function refresh(extra = []) {
  const line = replaying ? solution : game;
  const { board } = line;
  const coming = replaying ? line.actions[line.at] : undefined;
  const next = coming && coming !== ADD ? parsePair(coming) : [];
  const open = $("show-pairs").checked ? pairs(board).map((pair) => drawn(board, pair.join("-"), "open")) : [];
  view.mark({ ...marks, selected: selected === null ? [] : [selected], next });
  view.drawLinks([...open, ...(next.length ? [drawn(board, coming, "next")] : []), ...extra]);
  view.tint($("tint").checked);
  showHud(line);
  showTools(board);
  showReplay();
  showEnding();
  $("now").replaceChildren(boardFacts(board));
  $("record").replaceChildren(recordFacts(record, stage));
  $("legend").hidden = !$("show-pairs").checked;
  $("unkept").hidden = storage.lasting;
}

function showHud(line) {
  const used = tally(line.done);
  const row = (name, value) => make("li", {}, make("span", {}, name), make("b", {}, String(value)));
  $("hud").replaceChildren(
    row("Cells", activeCells(line.board).length),
    row("Pairs", used.pairs),
    row("Par", stage.par?.upper ?? "–"),
    row("Adds used", `${used.adds} of ${stage.adds}`),
  );
}

function showTools(board) {
  $("add").disabled = replaying || !board.adds || isCleared(board);
  $("undo").disabled = replaying || game.at === 0;
  $("redo").disabled = replaying || game.at === game.actions.length;
  $("hint").disabled = replaying || isCleared(board);
  $("restart").disabled = replaying || game.actions.length === 0;
  $("adds-left").textContent = String(board.adds);
  $("adds-left").setAttribute("aria-label", `${board.adds} left`);
  $("add").classList.toggle("hint", Boolean(marks.add));
}

function showReplay() {
  $("ribbon").hidden = !replaying;
  document.body.classList.toggle("replaying", replaying);
  if (!solution) return;
  const text = progress(solution, replaying);
  $("replay-at").value = solution.at;
  $("replay-at").setAttribute("aria-valuetext", text);
  $("replay-line").textContent = text;
  $("replay-play").setAttribute("aria-pressed", String(Boolean(timer)));
  $("replay-start").disabled = $("replay-back").disabled = !replaying || solution.at === 0;
  $("replay-step").disabled = solution.at === solution.actions.length;
}

/** Tell that the board is cleared, or stuck, once. */
function showEnding() {
  const { board } = game;
  const over = replaying ? "" : isCleared(board) ? "cleared" : isStuck(board) ? "stuck" : "";
  if (over === $("ending").dataset.over) return;
  $("ending").dataset.over = over;
  $("ending").className = `ending ${over}`;
  $("ending").hidden = !over;
  $("ending").replaceChildren();
  if (!over) return;
  const next = pack.stages[stage.place + 1];
  const [heading, text, buttons] =
    over === "cleared"
      ? [
          "Cleared",
          cleared(stage, tally(game.done)),
          [next && ["Next Stage", () => open(next, true)], ["Again", restart]],
        ]
      : [
          "Stuck",
          `${plural(activeCells(board).length, "cell")} left, no pair and no Add.`,
          [
            ["Undo", () => travel(game.at - 1)],
            ["Restart", restart],
          ],
        ];
  const row = buttons.filter(Boolean).map(([name, onclick]) => make("button", { type: "button", onclick }, name));
  row[0].classList.add("main-button");
  const card = [medal(over), make("h3", {}, heading), make("p", {}, text), make("div", { class: "buttons" }, row)];
  $("ending").append(make("div", { class: "ending-card" }, card));
  say(`${heading}: ${text}`, "sr"); // it is there to be seen already
  list.show(stage);
  row[0].focus({ preventScroll: true });
}

function medal(kind) {
  const path = kind === "cleared" ? "m9 16.5 5 5 10-11" : "m10.5 10.5 11 11m0-11-11 11";
  return draw(
    "svg",
    { class: "medal", viewBox: "0 0 32 32", "aria-hidden": "true" },
    draw("circle", { cx: 16, cy: 16, r: 14 }),
    draw("path", { d: path }),
  );
}

function showLevels(on) {
  $("levels").classList.toggle("open", on);
  $("open-levels").setAttribute("aria-expanded", String(on));
  for (const part of [$("play"), $("desk")]) part.inert = on;
  if (on) $("close-levels").focus();
}

function closeLevels() {
  showLevels(false);
  $("open-levels").focus();
}

// ---- wiring

const KEYS = {
  a: addAction,
  "+": addAction,
  u: () => travel(game.at - 1),
  z: () => travel(game.at - 1),
  y: () => travel(game.at + 1),
  h: showHint,
};

$("play").addEventListener("keydown", (event) => {
  const key = event.key.toLowerCase();
  const command = event.ctrlKey || event.metaKey;
  if (event.altKey || !(key in KEYS) || (command && key !== "z" && key !== "y")) return;
  event.preventDefault();
  if (command && key === "z" && event.shiftKey) KEYS.y();
  else KEYS[key]();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || $("help").open) return;
  if ($("levels").classList.contains("open")) closeLevels();
  else if (replaying) leaveReplay();
  else letGo();
});
$("add").addEventListener("click", addAction);
$("undo").addEventListener("click", () => travel(game.at - 1));
$("redo").addEventListener("click", () => travel(game.at + 1));
$("hint").addEventListener("click", showHint);
$("restart").addEventListener("click", restart);
$("previous").addEventListener("click", () => open(pack.stages[stage.place - 1], true));
$("next").addEventListener("click", () => open(pack.stages[stage.place + 1], true));
$("replay-start").addEventListener("click", () => (stop(), replayTo(0)));
$("replay-back").addEventListener("click", () => (stop(), replayTo(solution.at - 1)));
$("replay-step").addEventListener("click", () => (stop(), replayTo(replaying ? solution.at + 1 : 0)));
$("replay-at").addEventListener("input", (event) => (stop(), replayTo(Number(event.target.value))));
$("replay-play").addEventListener("click", playReplay);
$("leave-replay").addEventListener("click", leaveReplay);
$("show-pairs").addEventListener("change", () => refresh());
$("tint").addEventListener("change", () => refresh());
$("open-levels").addEventListener("click", () => showLevels(true));
$("close-levels").addEventListener("click", closeLevels);
$("open-help").addEventListener("click", () => $("help").showModal());
$("export").addEventListener("click", () => {
  const text = JSON.stringify(telemetry(pack, pack.stages), null, 2);
  const link = make("a", {
    href: URL.createObjectURL(new Blob([text], { type: "application/json" })),
    download: `${pack.pack_id}.telemetry.json`,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
});
$("theme").addEventListener("click", () => {
  const { dataset } = document.documentElement;
  const dark = dataset.theme ? dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  dataset.theme = dark ? "light" : "dark";
  storage.set("number-match/theme", dataset.theme);
});
addEventListener("hashchange", () => openFromAddress());

function openFromAddress() {
  const found = pack.stages.find(({ id }) => `#${id}` === location.hash) ?? (stage ? null : pack.stages[0]);
  if (found && found !== stage) open(found, false);
}

const theme = storage.get("number-match/theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
const on = LINKS.filter((link) => pack.ruleset[link]);
$("legend").append(
  ...on.map((link) =>
    make(
      "li",
      {},
      draw(
        "svg",
        { viewBox: "0 0 3 1", "aria-hidden": "true" },
        draw("line", { class: `link ${link} open`, x1: 0.2, y1: 0.5, x2: 2.8, y2: 0.5 }),
      ),
      link,
    ),
  ),
);
$("help-links").textContent = on
  .map((link) => (link === "wrap" ? "from the end of one row to the start of the next" : `along a ${link}`))
  .join(", ");
$("provenance").textContent = [
  pack.pack_id,
  `version ${pack.pack_version}`,
  `ruleset ${pack.ruleset.id}`,
  pack.generator,
  pack.content_hash,
]
  .filter(Boolean)
  .join(" · ");
openFromAddress();
