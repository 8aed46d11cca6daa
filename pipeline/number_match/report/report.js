// The report reads without this: here a mark tells its text at once, tables sort, Stages are filtered, lights change.

const root = document.documentElement;

// ---- the light

const theme = document.getElementById("theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const { theme } = root.dataset;
  const dark = theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

// ---- the text of a mark, beside the pointer instead of after a while

const say = document.getElementById("say");
for (const title of document.querySelectorAll(".chart svg title")) {
  title.parentElement.dataset.say = title.textContent;
  title.remove();
}
document.addEventListener("pointermove", (event) => {
  const text = event.target.closest?.("[data-say]")?.dataset.say;
  say.hidden = !text;
  if (!text) return;
  say.textContent = text;
  const left = Math.min(event.clientX + 14, innerWidth - say.offsetWidth - 8);
  const above = event.clientY - say.offsetHeight - 12;
  say.style.left = `${Math.max(8, left)}px`;
  say.style.top = `${above < 8 ? event.clientY + 16 : above}px`;
});

// ---- tables that sort: numbers as numbers, and back with a second press

for (const table of document.querySelectorAll("table[data-sortable]")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) =>
    head.firstElementChild.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const numeric = head.classList.contains("number");
      const order = (a, b) =>
        numeric ? Number(value(a)) - Number(value(b)) : value(a).localeCompare(value(b), "en", { numeric: true });
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => (down ? order(b, a) : order(a, b))));
    }),
  );
}

// ---- Stages filtered, in the pictures and in the table alike

const form = document.getElementById("filters");
const items = [...document.querySelectorAll("[data-find]")];
const cards = document.querySelectorAll("#cards > li").length;
form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", filter);

function filter() {
  const words = form.querySelector("input").value.toLowerCase().split(/\s+/).filter(Boolean);
  const picks = [...form.querySelectorAll("select")].filter((select) => select.value);
  let left = 0;
  for (const item of items) {
    item.hidden = !(
      words.every((word) => item.dataset.find.includes(word)) &&
      picks.every((select) => item.dataset[select.dataset.filter] === select.value)
    );
    left += !item.hidden && item.localName === "li";
  }
  document.getElementById("shown").textContent = `${left === cards ? "" : `${left} of `}${cards} Stage${cards === 1 ? "" : "s"}`;
}
filter();
