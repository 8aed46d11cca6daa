// Choosing: the pack's curve, a list of Levels, and the Stages of the Level that is open.

import { readRecord, wasCleared } from "./record.js";
import { draw, make, plural, title } from "./dom.js";

export class LevelList {
  /** `go(stage)` is called for a Stage that is chosen. */
  constructor(root, pack, go) {
    this.pack = pack;
    this.go = go;
    this.curve = make("div", { class: "curve-box" });
    this.items = pack.levels.map((level) => {
      const stages = make("ol", { class: "stages", id: `stages-${level.number}`, hidden: true });
      const cleared = make("span", { class: "cleared-count" });
      const head = make(
        "button",
        {
          class: "level",
          type: "button",
          "aria-expanded": "false",
          "aria-controls": stages.id,
          onclick: () => this.open(stages.hidden ? level : null),
        },
        make("span", { class: "level-id" }, level.id),
        title(level.title),
        cleared,
      );
      return { level, head, stages, cleared, element: make("li", {}, head, stages) };
    });
    root.append(
      this.curve,
      make(
        "ol",
        { class: "levels" },
        this.items.map((item) => item.element),
      ),
    );
    this.items.forEach((item) => this.count(item));
  }

  /** Open one Level, or none. Only the open one has its Stages on the page, so that large packs open at once. */
  open(level) {
    for (const item of this.items) {
      const open = item.level === level;
      item.head.setAttribute("aria-expanded", String(open));
      item.stages.hidden = !open;
      item.stages.replaceChildren(...(open ? level.stages.map((stage) => make("li", {}, this.button(stage))) : []));
    }
  }

  /** Show where the player is, and what was cleared. */
  show(stage) {
    this.current = stage;
    this.open(stage.level);
    this.items.forEach((item) => item.level === stage.level && this.count(item));
    this.curve.replaceChildren(curve(this.pack.stages, stage, this.go));
    this.items[stage.level.number].element.scrollIntoView({ block: "nearest" });
  }

  count({ level, cleared }) {
    const done = level.stages.filter((stage) => wasCleared(readRecord(stage.puzzle))).length;
    cleared.textContent = `${done}/${level.stages.length}`;
    cleared.classList.toggle("all", done === level.stages.length);
    cleared.setAttribute("aria-label", `${done} of ${plural(level.stages.length, "Stage")} cleared`);
  }

  button(stage) {
    const done = wasCleared(readRecord(stage.puzzle));
    const { band, score } = stage.difficulty;
    const name = [stage.id, band, plural(stage.adds, "Add"), done && "cleared"].filter(Boolean).join(", ");
    const heat = make("span", { class: "heat", "aria-hidden": "true" });
    heat.style.setProperty("--score", score);
    return make(
      "button",
      {
        class: `stage${done ? " done" : ""}`,
        type: "button",
        title: name,
        "aria-label": name,
        "aria-current": stage === this.current ? "true" : false,
        onclick: () => this.go(stage),
      },
      String(stage.number + 1),
      heat,
    );
  }
}

/** Every Stage's difficulty as a bar and its target as a tick, Levels parted by a gap; a click goes to the Stage. */
function curve(stages, current, go) {
  const [high, step] = [56, 4];
  const x = (stage) => stage.place * step + stage.level.number * step * 0.75;
  const wide = x(stages.at(-1)) + step;
  const y = (score) => high - 2 - (Math.max(0, Math.min(100, score)) / 100) * (high - 6);
  const bars = stages.map((stage) =>
    draw("rect", {
      class: stage === current ? "bar here" : "bar",
      x: x(stage) + 0.5,
      width: step - 1,
      y: y(stage.difficulty.score),
      height: high - y(stage.difficulty.score),
    }),
  );
  const ticks = stages.map((stage) =>
    draw("rect", { class: "tick", x: x(stage), width: step, y: y(stage.difficulty.target) - 0.5, height: 1 }),
  );
  const pick = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * wide - step / 2;
    go(stages.reduce((best, stage) => (Math.abs(x(stage) - at) < Math.abs(x(best) - at) ? stage : best)));
  };
  const text = `Difficulty of ${plural(stages.length, "Stage")}, 0 to 100; this one has ${current.difficulty.score}.`;
  const picture = draw(
    "svg",
    { viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img", "aria-label": text, onclick: pick },
    bars,
    ticks,
  );
  picture.style.maxWidth = `${wide * 4}px`; // a short pack makes a short curve, not fat bars
  return make(
    "figure",
    { class: "curve" },
    picture,
    make(
      "figcaption",
      {},
      make("span", { class: "swatch bar" }),
      "difficulty ",
      make("span", { class: "swatch tick" }),
      "target",
    ),
  );
}
