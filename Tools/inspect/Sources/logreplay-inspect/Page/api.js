// The program that this page is from: its answers, and that the store has grown.

import { el, count, parse } from "./dom.js";

/** An error that the program has explained. */
export class Failure extends Error {
  constructor(error) {
    super(error.what);
    Object.assign(this, error);
  }
}

/** Sent when the program does not answer, and when it does again. */
export const connection = new EventTarget();
let isConnected = null;

/** Sends `change` with what is wrong, or nothing if the program answers. */
function note(connected, why = "the program does not answer; waiting for it") {
  if (isConnected === connected) return;
  isConnected = connected;
  connection.dispatchEvent(new CustomEvent("change", { detail: connected ? "" : why }));
}

function query(parameters) {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") pairs.append(name, one);
    }
  }
  return pairs.toString();
}

/** Asks once. Throws a `Failure` that says what is wrong. */
export async function get(name, parameters = {}, signal = undefined) {
  let response, text;
  try {
    response = await fetch(`/api/${name}?${query(parameters)}`, { signal });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    note(false);
    throw new Failure({ what: "the program does not answer", next: "start it again; the page goes on by itself" });
  }
  if (response.status === 403) {
    isConnected = null;
    note(false, "the program was started again: open the address that it has printed");
    throw new Failure({ what: text.trim(), next: "open the address that the program has printed" });
  }
  note(true);
  if (response.ok) return parse(text);
  let explained;
  try { explained = parse(text).error; } catch { /* Not JSON. */ }
  throw new Failure(explained ?? { what: text.trim() || `status ${response.status}`, next: "load the page again" });
}

/** Asks for a list; while that takes long, says how far the replay is, and what would keep the past. */
export async function getList(store, parameters, signal = undefined) {
  let isOver = false;
  const busy = document.getElementById("busy");
  const watch = async () => {
    for (let delay = 400; !isOver; delay = 500) {
      await new Promise((resolve) => setTimeout(resolve, delay));
      if (isOver) return;
      const progress = await get("progress", parameters).catch(() => ({}));
      if (isOver) return;
      show(progress);
    }
  };
  const show = (progress) => {
    const bar = el("progress", { "aria-label": "replayed" });
    if (progress.of) { bar.max = progress.of; bar.value = progress.replayed; }
    busy.replaceChildren(el("span", {}, progress.of
      ? `Replaying: ${count(progress.replayed)} of ${count(progress.of)} events.` : "Working."), bar);
    if (!store.history) {
      busy.append(el("span", {}, "A history makes this a matter of milliseconds: "),
        el("code", {}, `logreplay checkpoint ${store.path} --history`));
    }
  };
  watch();
  try {
    return await get("list", parameters, signal);
  } finally {
    isOver = true;
    busy.replaceChildren();
  }
}

/** The program says something at least this often, in ms. */
const silenceMax = 15_000;

/** Follows the store: calls back with its head at once, and whenever that has moved. Goes on after an interruption. */
export function follow(callback) {
  let source, watchdog, sequence;
  const heard = () => {
    note(true);
    clearTimeout(watchdog);
    watchdog = setTimeout(again, silenceMax);
  };
  const again = async () => {
    source?.close();
    note(false);
    clearTimeout(watchdog);
    // What is wrong is in the answer: that the program was started again, for one.
    const isThere = await get("store").then(() => true, () => false);
    if (isThere) open(); else watchdog = setTimeout(again, 2000);
  };
  const open = () => {
    source = new EventSource("/api/feed");
    source.addEventListener("open", heard);
    source.addEventListener("error", again);
    source.addEventListener("head", (event) => {
      heard();
      const head = parse(event.data);
      if (head.sequence !== sequence) callback(head);
      sequence = head.sequence;
    });
    heard();
  };
  open();
}

/** Only the newest of several requests counts: one is under way, and one waits. */
export class Latest {
  #running = false;
  #next = null;

  run(work) {
    return new Promise((resolve) => {
      this.#next?.resolve(false);
      this.#next = { work, resolve };
      this.#go();
    });
  }

  async #go() {
    if (this.#running) return;
    this.#running = true;
    while (this.#next) {
      const { work, resolve } = this.#next;
      this.#next = null;
      await work();
      resolve(true);
    }
    this.#running = false;
  }
}
