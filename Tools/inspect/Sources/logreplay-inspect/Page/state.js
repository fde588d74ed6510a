// What is shown, as the address has it: everything after the #, which is never sent to the program.

/** The views, in the order of their tabs. */
export const views = ["list", "compare", "events", "counts", "store"];
const lists = ["sort"];
const names = [
  "table", "view", "section", "order", "where", "sort", "columns", "at", "after", "through", "line", "row", "event",
  "from", "to", "stream", "category", "type", "grep", "filter", "by", "every", "sum", "since", "until",
];

/** The state of the page; `change` sets some of it, and the address. */
export const state = { show: "list", sort: [] };
const listeners = [];

export function listen(listener) { listeners.push(listener); }

function read() {
  const [show, query] = location.hash.slice(1).split("?", 2);
  const pairs = new URLSearchParams(query ?? "");
  for (const name of names) state[name] = lists.includes(name) ? pairs.getAll(name) : pairs.get(name) ?? "";
  state.show = views.includes(show) ? show : "list";
}

/** The address of the state with some changes. */
export function address(changes = {}) {
  const next = { ...state, ...changes };
  const pairs = new URLSearchParams();
  for (const name of names) {
    for (const value of [next[name]].flat()) if (value !== "" && value !== undefined) pairs.append(name, value);
  }
  return `#${next.show}${pairs.size ? `?${pairs}` : ""}`;
}

/** Changes the state, as a new entry of the history. */
export function change(changes) {
  const next = address(changes);
  if (next === address()) return;
  written();
  history.pushState(null, "", next);
  Object.assign(state, changes);
  for (const listener of listeners) listener(changes);
}

let timer = 0;

/** The address is as it should be. */
function written() {
  clearTimeout(timer);
  timer = 0;
}

/** Only writes the address: a little later, since browsers allow some twenty changes a second. */
export function keep(changes) {
  Object.assign(state, changes);
  timer ||= setTimeout(() => {
    written();
    history.replaceState(null, "", address());
  }, 150);
}

export function begin() {
  read();
  addEventListener("popstate", () => {
    written();
    read();
    for (const listener of listeners) listener(null);
  });
}

/** The parameters that define the list. */
export function listParameters() {
  const { table, view, section, order, where, sort } = state;
  return view ? { view, table } : { table, section, order: section ? order : "", where, sort };
}
