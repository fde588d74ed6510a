// Begins: what the store has, which view is shown, and the keys.

import { connection, follow, get } from "./api.js";
import { button, count, el, failureBox, printable } from "./dom.js";
import { begin, change, listen, state, views } from "./state.js";
import { Timeline } from "./timeline.js";
import { ListView } from "./list.js";
import { CompareView } from "./compare.js";
import { EventsView } from "./events.js";
import { CountsView } from "./counts.js";
import { StoreView } from "./store.js";
import { closePanel, showPanel } from "./panel.js";

const titles = { list: "List", compare: "Compare", events: "Events", counts: "Counts", store: "Store" };
const makers = { list: ListView, compare: CompareView, events: EventsView, counts: CountsView, store: StoreView };
const content = document.getElementById("content");
/** What all parts of the page know of the store. */
const app = { store: { tables: [], lists: [], head: { sequence: 0 } }, view: null, timeline: null, showPanel };

function tabs() {
  document.getElementById("tabs").replaceChildren(...views.map((view) =>
    el("a", { href: `#${view}`, "aria-current": state.show === view ? "page" : null, onclick: (event) => {
      event.preventDefault();
      change({ show: view, row: "", event: "" });
    } }, titles[view])));
}

function showView() {
  tabs();
  if (app.view?.name !== state.show) {
    app.view?.leave?.();
    content.replaceChildren();
    app.view = new makers[state.show](app, content);
    app.view.name = state.show;
  }
  document.body.dataset.view = state.show;
}

listen((changes) => {
  showView();
  app.view.update?.(changes);
  app.timeline.update(changes);
  if (changes === null || "row" in changes || "event" in changes) showPanel(app);
});

connection.addEventListener("change", (event) => {
  const line = document.getElementById("connection");
  line.textContent = event.detail || "connected";
  line.classList.toggle("gone", event.detail !== "");
});

// MARK: Theme

const themes = ["", "dark", "light"];
const remembered = () => { try { return localStorage.getItem("theme") ?? ""; } catch { return ""; } };
function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try { localStorage.setItem("theme", theme); } catch { /* Not allowed; it holds until the page is closed. */ }
}
setTheme(remembered());
document.getElementById("theme").addEventListener("click", () => {
  setTheme(themes[(themes.indexOf(remembered()) + 1) % themes.length]);
});

// MARK: Keys

const keys = [
  ["1 … 5", "the views: list, compare, events, counts, store"],
  ["/", "the filter, or the search"],
  ["Space", "play, or pause"],
  ["[ and ]", "to the append before, and after, that changes this list"],
  [", and .", "to the append before, and after, whatever it changes"],
  ["g", "jump to a time, a sequence, or any other point"],
  ["h", "to the head, and follow it"],
  ["+ - 0", "zoom in, out, and to the whole log"],
  ["↑ ↓ PageUp PageDown Home End", "in the list: the row"],
  ["Enter", "in the list: the row's versions"],
  ["m", "compare this moment with the head"],
  ["t", "dark, light, or as the system says"],
  ["Esc", "close the details"],
  ["?", "these keys"],
];

function help() {
  const dialog = document.getElementById("help");
  dialog.replaceChildren(
    el("h2", { id: "help-title" }, "Keys"),
    el("dl", {}, keys.map(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
    button("Close", () => dialog.close()));
  if (!dialog.open) dialog.showModal();
}
document.getElementById("keys").addEventListener("click", help);

const actions = {
  "?": help,
  "/": () => document.querySelector("[data-search]")?.focus(),
  " ": () => app.timeline.togglePlay(),
  "[": () => app.timeline.step("previous"),
  "]": () => app.timeline.step("next"),
  ",": () => app.timeline.step("back"),
  ".": () => app.timeline.step("append"),
  g: () => app.timeline.focusJump(),
  h: () => app.timeline.toHead(),
  "+": () => app.timeline.zoom(0.5),
  "=": () => app.timeline.zoom(0.5),
  "-": () => app.timeline.zoom(2),
  0: () => app.timeline.zoom(Infinity),
  m: () => change({ show: "compare", from: state.at || String(app.timeline.shown.sequence), to: "head" }),
  t: () => document.getElementById("theme").click(),
  Escape: () => closePanel(),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById("help").open) return;
  const isTyping = event.target.matches?.("input, select, textarea");
  if (isTyping && event.key !== "Escape") return;
  if (event.key === " " && event.target.matches?.("button, a, summary")) return;
  const tab = views[Number(event.key) - 1];
  const action = tab ? () => change({ show: tab }) : actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); content.focus(); });

// MARK: Begin

/** What the store is named, what is wrong with it, and its first table if none is chosen. */
function showStore() {
  const { path, tables, damage, head } = app.store;
  const name = printable(path.split("/").filter(Boolean).pop() ?? path);
  const heading = document.getElementById("name");
  heading.textContent = name;
  heading.title = printable(path);
  document.title = `${name} – ${count(head.sequence)} events`;
  document.getElementById("damage").textContent = damage
    ? `Damaged: ${printable(damage.what)}. What is before that is shown; see Store.` : "";
  if (!state.table && !state.view && tables.length > 0) state.table = tables[0];
}

async function start() {
  begin();
  app.timeline = new Timeline(app, document.getElementById("timeline"));
  tabs();
  try {
    app.store = await get("store");
  } catch (error) {
    content.replaceChildren(failureBox(error));
    setTimeout(start, 2000);
    return;
  }
  showStore();
  app.head = app.store.head;
  app.timeline.update(null);
  showView();
  showPanel(app);
  follow(async (head) => {
    app.head = head;
    if (app.store.tables.length === 0 && head.sequence > 0) {
      app.store = await get("store").catch(() => app.store);
      showStore();
      app.view.update?.(null);
    }
    app.timeline.grow();
    app.view.grow?.();
  });
}

start();
