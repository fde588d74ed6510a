// The details beside the view: one row with all its versions, or one event in full.

import { get } from "./api.js";
import { button, count, counted, el, failureBox, json, moment, printable, textOf, valueSpan } from "./dom.js";
import { address, change, state } from "./state.js";

const panel = () => document.getElementById("panel");
let asked = 0;

export function closePanel() {
  if (!state.row && !state.event) return;
  change({ row: "", event: "" });
  document.querySelector(".scroll, #content")?.focus();
}

/** Shows what the address says: nothing, a row or an event. */
export async function showPanel(app) {
  const { row, event } = state;
  const mine = ++asked;
  const aside = panel();
  aside.hidden = !row && !event;
  document.body.classList.toggle("with-panel", !aside.hidden);
  if (aside.hidden) return aside.replaceChildren();
  const close = button("×", closePanel, { class: "close", "aria-label": "Close the details" });
  const title = el("h2", { tabindex: "-1" }, printable(row || `Event ${event}`));
  aside.replaceChildren(el("div", { class: "panel-head" }, title, close));
  title.focus();
  try {
    const content = row ? await rowContent(app, row) : await eventContent(app, event);
    if (mine === asked) aside.append(...content);
  } catch (error) {
    if (mine === asked) aside.append(failureBox(error));
  }
}

const cut = (row) => [row.slice(0, row.indexOf("/")), row.slice(row.indexOf("/") + 1)];

async function rowContent(app, row) {
  const [table, id] = cut(row);
  const answer = await get("row", { table, id });
  const fields = Object.entries(answer.fields);
  const versions = answer.versions.slice().reverse();
  return [
    el("h3", {}, "Fields, and which event gave each its value"),
    fields.length === 0 ? el("p", {}, "The row does not exist at the head.") : el("div", { class: "wide-table", tabindex: "0", role: "group", "aria-label": "Fields" },
      el("table", {},
        el("thead", {}, el("tr", {}, ["field", "value", "since"].map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, fields.map(([name, field]) => el("tr", {},
          el("th", { scope: "row" }, printable(name)),
          el("td", { class: "long" }, valueSpan(field.value)),
          el("td", {}, momentLink(app, field.sequence, field.time), " ", eventLink(field.sequence, field.type))))))),
    el("h3", {}, counted(versions.length, "version") + (versions.length === 500 ? ", the last ones" : "")),
    el("ol", { class: "versions" }, versions.map((version) => versionItem(app, version))),
  ];
}

function versionItem(app, version) {
  const changes = Object.entries(version.changes);
  const isHere = version.sequence <= app.timeline.shown.sequence;
  return el("li", { class: isHere ? "" : "later" },
    el("p", {}, momentLink(app, version.sequence, version.time), " ", eventLink(version.sequence, version.type),
      version.exists ? "" : el("span", { class: "mark deleted" }, " − no row"),
      isHere ? "" : el("span", { class: "warning" }, " after the moment that is shown")),
    version.problem ? el("p", { class: "warning" }, printable(version.problem)) : null,
    changes.length === 0 ? el("p", { class: "quiet" }, "no field changed") : changedFields(changes),
    dataOf(version));
}

/** What an event says beside its payload: the append, its id, and the metadata with what caused it. */
function dataOf(event) {
  const metadata = event.metadata && typeof event.metadata === "object" ? Object.entries(event.metadata) : [];
  return el("p", { class: "quiet" },
    `append ${event.append[0]}…${event.append[1]}`, event.id ? `, id ${printable(event.id).slice(0, 120)}` : "",
    metadata.map(([name, value]) => [", ", el("a", {
      href: address({ show: "events", row: "", event: "", grep: "", filter: `metadata.${quoted(name)} == ${literal(value)}` }),
      title: "All events with this",
    }, `${printable(name)}: ${printable(textOf(value)).slice(0, 80)}`)]));
}

function quoted(name) { return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : "`" + name + "`"; }
function literal(value) { return value !== null && typeof value === "object" ? "null" : json(value); }

/** Old and new values of fields, as in a review. */
export function changedFields(changes) {
  return el("div", { class: "review" }, changes.map(([name, sides]) => el("div", { class: "field-change" },
    el("span", { class: "field-name" }, printable(name)),
    "old" in sides ? el("del", {}, el("span", { class: "unseen" }, "was "), valueSpan(sides.old)) : el("span"),
    "new" in sides ? el("ins", {}, el("span", { class: "unseen" }, "is "), valueSpan(sides.new)) : el("span"))));
}

/** Goes to the moment of an event. */
export function momentLink(app, sequence, time) {
  return el("a", { href: address({ show: "list", at: String(sequence) }), onclick: (event) => {
    event.preventDefault();
    change({ show: "list", at: String(sequence) });
  }, title: `Show the list at ${count(sequence)}` }, moment(time));
}

export function eventLink(sequence, type) {
  return el("a", { href: address({ event: String(sequence), row: "" }), onclick: (event) => {
    event.preventDefault();
    change({ event: String(sequence), row: "" });
  }, title: `The event ${count(sequence)}` }, `${printable(type)} ${sequence}`);
}

export function rowLink(table, id) {
  const row = `${table}/${id}`;
  return el("a", { href: address({ row, event: "" }), onclick: (event) => {
    event.preventDefault();
    change({ row, event: "" });
  } }, printable(id));
}

async function eventContent(app, sequence) {
  const event = await get("event", { at: sequence });
  const [category, ...rest] = event.stream.split("/");
  const isDocument = ["$put", "$merge", "$delete"].includes(event.type);
  const facts = [
    ["time", momentLink(app, event.sequence, event.time)],
    event.given ? ["given time", moment(event.given)] : null,
    ["type", printable(event.type)],
    ["stream", el("span", {}, el("a", {
      href: address({ show: "events", stream: event.stream, row: "", event: "" }),
    }, printable(event.stream)), isDocument && rest.length ? el("span", {}, " – the row ", rowLink(category, rest.join("/"))) : "")],
    ["version", count(event.version)],
  ].filter(Boolean);
  return [
    el("dl", { class: "facts" }, facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    dataOf(event),
    el("h3", {}, "Metadata"), el("pre", { tabindex: "0" }, printable(json(event.metadata, 2), true)),
    el("h3", {}, event.erased ? "Payload: erased" : event.opaque ? "Payload: of a later version" : `Payload (${event.codec})`),
    el("pre", { tabindex: "0" }, printable(json(event.payload, 2), true)),
    el("p", { class: "group" },
      Number(sequence) > app.store.begin + 1 ? button("Event before", () => change({ event: String(Number(sequence) - 1) })) : "",
      Number(sequence) < app.head.sequence ? button("Event after", () => change({ event: String(Number(sequence) + 1) })) : ""),
  ];
}
