// Two points side by side: which rows differ in the list, and in which fields, as in a review.

import { Latest, get } from "./api.js";
import { button, count, counted, el, failureBox, field, printable, valueSpan } from "./dom.js";
import { change, listParameters, state } from "./state.js";
import { changedFields, rowLink } from "./panel.js";
import { QueryForm } from "./query.js";

const words = { insert: ["+", "inserted"], move: ["↕", "moved"], update: ["~", "changed"], delete: ["−", "deleted"] };
const pageSize = 100;

export class CompareView {
  #app; #form; #parts = {}; #requests = new Latest(); #diff = null; #shown = 0;

  constructor(app, root) {
    this.#app = app;
    const parts = this.#parts;
    const point = (label) => el("input", {
      type: "text", spellcheck: "false", autocomplete: "off", placeholder: "a time, a sequence, head", "aria-label": label,
    });
    parts.from = point("From");
    parts.to = point("To");
    root.append(el("h2", { class: "unseen" }, "Compare two points"));
    this.#form = new QueryForm(app, root);
    root.append(el("form", { class: "bar", onsubmit: (event) => { event.preventDefault(); this.#apply(); } },
      field("From", parts.from), field("To", parts.to), el("button", {}, "Compare"),
      button("Swap", () => change({ from: parts.to.value.trim(), to: parts.from.value.trim() })),
      button("The moment that is shown, and the head", () =>
        change({ from: String(app.timeline.shown.sequence), to: "head" }))));
    parts.summary = el("p", { class: "summary", role: "status" });
    parts.changes = el("div", { class: "changes", tabindex: "0", role: "region", "aria-label": "Changes" });
    root.append(parts.summary, parts.changes);
    this.update();
  }

  #apply() { change({ from: this.#parts.from.value.trim(), to: this.#parts.to.value.trim() }); }

  update() {
    this.#form.update();
    const parts = this.#parts;
    parts.from.value = state.from || state.at || "0";
    parts.to.value = state.to || "head";
    this.#requests.run(async () => {
      const [from, to] = [parts.from.value, parts.to.value];
      parts.summary.textContent = "Comparing.";
      try {
        this.#diff = await get("diff", { ...listParameters(), from, to });
        this.#form.fail(null);
      } catch (error) {
        parts.summary.textContent = "";
        parts.changes.replaceChildren(failureBox(error));
        return;
      }
      this.#show();
    });
  }

  #show() {
    const { diff, ...counts } = this.#diff;
    this.#parts.summary.replaceChildren(
      el("span", {}, `seq ${count(diff.from.sequence)} with ${counted(diff.from.count, "row")} → seq ${count(diff.to.sequence)} with ${counted(diff.to.count, "row")}`),
      ...[["inserted", "insert"], ["deleted", "delete"], ["moved", "move"], ["updated", "update"]].map(([name, op]) =>
        el("span", { class: `mark ${words[op][1]}` }, `${words[op][0]}${count(counts[name])} ${words[op][1]}`)),
      counts.shown < counts.changes ? el("span", { class: "warning" },
        `the first ${count(counts.shown)} of ${count(counts.changes)}; filter the list for fewer`) : "");
    this.#parts.changes.replaceChildren();
    this.#shown = 0;
    if (counts.changes === 0) this.#parts.changes.append(el("p", {}, "Nothing in this list differs."));
    this.#more();
  }

  #more() {
    const changes = this.#diff.diff.changes.filter((one) => words[one.op]);
    const { table } = this.#diff.diff;
    this.#parts.changes.querySelector(".more")?.remove();
    this.#parts.changes.append(...changes.slice(this.#shown, this.#shown + pageSize).map((one) => this.#item(one, table)));
    this.#shown = Math.min(changes.length, this.#shown + pageSize);
    if (this.#shown < changes.length) {
      this.#parts.changes.append(button(`More: ${count(changes.length - this.#shown)} are left`, () => this.#more(), { class: "more" }));
    }
  }

  #item(one, table) {
    const [sign, word] = words[one.op];
    const place = (position) => position ? `section ${position[0] + 1}, item ${position[1] + 1}` : "";
    const places = one.op === "move" ? `${place(one.from)} → ${place(one.to)}` : place(one.to ?? one.from);
    const fields = Object.entries(one.fields ?? {});
    return el("article", { class: `change ${word}` },
      el("h3", {}, el("span", { class: `mark ${word}` }, sign, el("span", { class: "unseen" }, word)), " ",
        rowLink(table, one.id), el("span", { class: "quiet" }, ` ${places}`)),
      one.op === "insert" || one.op === "delete"
        ? changedFields(fields.map(([name, value]) => [name, { [one.op === "insert" ? "new" : "old"]: value }]))
        : fields.length > 0 ? changedFields(fields) : null);
  }
}
