// The log: its events, the newest first, searched by stream, category, type, text or condition.

import { Latest, get } from "./api.js";
import { button, count, el, failureBox, field, json, moment, printable } from "./dom.js";
import { change, state } from "./state.js";
import { eventLink } from "./panel.js";

const names = ["stream", "category", "type", "grep", "filter"];
const lineMax = 2000;

export class EventsView {
  #app; #parts = {}; #requests = new Latest(); #next = undefined; #generation = 0; #begin = ""; #newest = 0;

  constructor(app, root) {
    this.#app = app;
    const parts = this.#parts;
    const text = (properties) => el("input", { type: "text", spellcheck: "false", autocomplete: "off", ...properties });
    parts.stream = text({ placeholder: "incident/1-*" });
    parts.category = text({ placeholder: "incident" });
    parts.type = text({ placeholder: "$put" });
    parts.grep = text({ placeholder: "a regular expression of its JSON", "data-search": true });
    parts.filter = text({ placeholder: "payload.status == 'Open' && metadata.user == 'ann'" });
    parts.fresh = button("", () => this.#load(), { hidden: true });
    parts.problem = el("div", { class: "problems" });
    parts.body = el("tbody");
    parts.more = button("Earlier events", () => this.#more());
    parts.note = el("p", { class: "summary", role: "status" });
    root.append(el("h2", { class: "unseen" }, "Events"),
      el("form", { class: "query", role: "search", "aria-label": "Events", onsubmit: (event) => {
        event.preventDefault();
        this.#apply();
      }, onchange: () => this.#apply() },
      field("Stream", parts.stream), field("Category", parts.category), field("Type", parts.type),
      field("Text", parts.grep), el("label", { class: "field wide" }, el("span", {}, "Condition"), parts.filter)),
      parts.problem, el("div", { class: "bar" }, parts.note, parts.fresh),
      el("div", { class: "wide-table fills", tabindex: "0", role: "region", "aria-label": "Events" },
        el("table", { class: "events" },
          el("thead", {}, el("tr", {}, ["seq", "time", "stream", "type", "payload"].map((name) => el("th", { scope: "col" }, name)))),
          parts.body), parts.more));
    this.update();
  }

  #apply() { change(Object.fromEntries(names.map((name) => [name, this.#parts[name].value.trim()]))); }

  update(changes) {
    for (const name of names) this.#parts[name].value = state[name];
    const begin = JSON.stringify([...names.map((name) => state[name]), state.at]);
    if (begin !== this.#begin || changes === null) {
      this.#begin = begin;
      this.#load();
    }
  }

  #load() {
    this.#generation += 1;
    this.#next = state.at === "" ? undefined : Number(state.at) + 1;
    this.#newest = this.#app.head.sequence;
    this.#parts.fresh.hidden = true;
    this.#parts.body.replaceChildren();
    this.#more();
  }

  /** The log has grown. */
  grow() {
    if (state.at !== "") return;
    const number = this.#app.head.sequence - this.#newest;
    this.#parts.fresh.hidden = number <= 0;
    this.#parts.fresh.textContent = `${count(number)} newer`;
  }

  #more() {
    const [generation, before] = [this.#generation, this.#next];
    this.#requests.run(async () => {
      const parts = this.#parts;
      let answer;
      // What is no longer asked for, or has come already, is not asked for again.
      if (generation !== this.#generation || before !== this.#next) return;
      try {
        answer = await get("events", {
          ...Object.fromEntries(names.slice(0, 4).map((name) => [name, state[name]])), where: state.filter,
          before, count: 100,
        });
        if (generation !== this.#generation) return;
      } catch (error) {
        parts.problem.replaceChildren(failureBox(error));
        parts.note.textContent = "";
        parts.more.hidden = true;
        return;
      }
      parts.problem.replaceChildren();
      parts.body.append(...answer.events.map((event) => this.#line(event)));
      while (parts.body.children.length > lineMax) parts.body.firstChild.remove();
      this.#next = answer.next;
      parts.more.hidden = answer.next === undefined;
      parts.note.textContent = answer.next === undefined
        ? `${count(parts.body.children.length)} events, down to the begin of the log`
        : `${count(parts.body.children.length)} events; searched down to seq ${count(answer.next)}`;
    });
  }

  #line(event) {
    const payload = event.beginning !== undefined ? `${event.beginning}…` : json(event.payload ?? null);
    return el("tr", { "data-sequence": String(event.sequence) },
      el("td", { class: "number" }, count(event.sequence)), el("td", { class: "time" }, moment(event.time)),
      el("td", { class: "long" }, printable(event.stream).slice(0, 200)),
      el("td", {}, eventLink(event.sequence, event.type)),
      el("td", { class: "long", dir: "auto" }, printable(payload).slice(0, 400)));
  }
}
