// How many rows there were in each group over time, as a plot; a step leads to its moment.

import { Latest, get } from "./api.js";
import { button, count, el, failureBox, field, moment, printable, svg, textOf } from "./dom.js";
import { change, state } from "./state.js";

const height = 320, seriesMax = 8;

export class CountsView {
  #app; #parts = {}; #requests = new Latest(); #loaded = ""; #answer = null; #width = 0;

  constructor(app, root) {
    this.#app = app;
    const parts = this.#parts;
    const text = (properties) => el("input", { type: "text", spellcheck: "false", autocomplete: "off", ...properties });
    parts.table = el("select", {});
    parts.by = text({ placeholder: "status, impact.level" });
    parts.every = el("select", {}, [["1h", "hour"], ["1d", "day"], ["1w", "week"], ["1mo", "month"]].map(
      ([value, label]) => el("option", { value }, label)));
    parts.sum = text({ placeholder: "a field with numbers" });
    parts.where = text({ placeholder: "status != 'Closed'", "data-search": true });
    parts.since = text({ placeholder: "the begin" });
    parts.until = text({ placeholder: "the head" });
    parts.problem = el("div", { class: "problems" });
    parts.plot = el("div", { class: "plot" });
    parts.table2 = el("div", { class: "wide-table fills", tabindex: "0", role: "region", "aria-label": "Numbers" });
    root.append(el("h2", { class: "unseen" }, "Counts over time"),
      el("form", { class: "query", "aria-label": "Counts", onsubmit: (event) => {
        event.preventDefault();
        this.#apply();
      }, onchange: () => this.#apply() },
      field("Table", parts.table), field("Groups by", parts.by), field("Every", parts.every), field("Add up", parts.sum),
      field("From", parts.since), field("To", parts.until),
      el("label", { class: "field wide" }, el("span", {}, "Filter"), parts.where),
      el("button", { class: "unseen" }, "Count")),
      parts.problem, parts.plot, parts.table2);
    this.#observer.observe(parts.plot);
    this.update();
  }

  /** Draws again in another width, so that text keeps its size. */
  #observer = new ResizeObserver(() => {
    if (this.#answer && this.#parts.plot.clientWidth !== this.#width) this.#draw(this.#answer);
  });

  leave() { this.#observer.disconnect(); }

  #apply() {
    const parts = this.#parts;
    change({
      table: parts.table.value, view: parts.table.value === state.table ? state.view : "", by: parts.by.value.trim(),
      every: parts.every.value, sum: parts.sum.value.trim(), where: parts.where.value.trim(),
      since: parts.since.value.trim(), until: parts.until.value.trim(),
    });
  }

  update(changes) {
    const parts = this.#parts;
    parts.table.replaceChildren(...this.#app.store.tables.map((name) =>
      el("option", { value: name, selected: name === state.table }, printable(name))));
    for (const name of ["by", "sum", "where", "since", "until"]) parts[name].value = state[name];
    if (!state.by && state.section && !changes) parts.by.value = state.section;
    parts.every.value = state.every || "1d";
    const wanted = JSON.stringify([parts.table.value, ...["by", "every", "sum", "where", "since", "until"].map((name) => parts[name].value)]);
    if (wanted === this.#loaded) return;
    this.#loaded = wanted;
    this.#load();
  }

  #load() {
    this.#requests.run(async () => {
      const parts = this.#parts;
      const value = (name) => parts[name].value.trim();
      // Two points are a range, and one alone is its end.
      const [since, until] = [value("since"), value("until")];
      let answer;
      parts.plot.classList.add("stale");
      try {
        answer = await get("counts", {
          table: value("table"), by: value("by"), every: value("every"), sum: value("sum"), where: value("where"),
          from: since ? since : undefined, to: until || (since ? "head" : undefined),
        });
      } catch (error) {
        parts.problem.replaceChildren(failureBox(error));
        parts.plot.replaceChildren();
        parts.table2.replaceChildren();
        return;
      } finally { parts.plot.classList.remove("stale"); }
      parts.problem.replaceChildren();
      this.#draw(answer);
    });
  }

  #draw(answer) {
    this.#answer = answer;
    this.#width = this.#parts.plot.clientWidth;
    const steps = answer.steps;
    const width = Math.max(300, this.#parts.plot.clientWidth - 24);
    const key = (group) => group.group.map((value) => printable(textOf(value))).join(" · ") || "all";
    const number = (group) => answer.sum !== undefined ? Number(textOf(group.sum)) || 0 : group.count;
    const totals = new Map();
    for (const step of steps) {
      for (const group of step.groups) totals.set(key(group), (totals.get(key(group)) ?? 0) + Math.abs(number(group)));
    }
    const names = [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);
    const shown = names.slice(0, seriesMax);
    const series = shown.map((name) => steps.map((step) => {
      const group = step.groups.find((one) => key(one) === name);
      return group ? number(group) : 0;
    }));
    const low = Math.min(0, ...series.flat());
    const high = Math.max(1, ...series.flat());
    const x = (i) => steps.length < 2 ? width / 2 : 20 + i * (width - 40) / (steps.length - 1);
    const y = (value) => height - 24 - (value - low) / (high - low) * (height - 44);
    const lines = series.map((values, i) => svg("path", {
      class: `line line-${i}`, d: values.map((value, j) => `${j ? "L" : "M"}${x(j).toFixed(1)} ${y(value).toFixed(1)}`).join(""),
    }));
    const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
      const value = low + (high - low) * part;
      const label = svg("text", { x: 20, y: y(value) - 3, class: "axis" });
      label.textContent = count(Math.round(value));
      return svg("g", {}, svg("path", { class: "grid", d: `M20 ${y(value).toFixed(1)}H${width - 20}` }), label);
    });
    const cursor = svg("path", { class: "cursor", d: "" });
    const picture = svg("svg", {
      viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": `Counts by ${answer.every}; the numbers are in the table below`,
    }, ...grid, ...lines, cursor);
    const nearest = (event) => {
      const box = picture.getBoundingClientRect();
      const at = (event.clientX - box.left) / box.width * width;
      return Math.min(steps.length - 1, Math.max(0, Math.round((at - 20) / (width - 40) * (steps.length - 1))));
    };
    const tip = el("p", { class: "summary" });
    picture.addEventListener("pointermove", (event) => {
      if (steps.length === 0) return;
      const i = nearest(event);
      cursor.setAttribute("d", `M${x(i)} 10V${height - 20}`);
      tip.textContent = `${steps[i].local.slice(0, 16).replace("T", " ")}: ${shown.map((name, j) => `${name} ${count(series[j][i])}`).join(", ")}`;
    });
    picture.addEventListener("click", (event) => { if (steps.length > 0) this.#go(steps[nearest(event)]); });
    this.#parts.plot.replaceChildren(picture, tip, el("ul", { class: "legend" }, shown.map((name, i) =>
      el("li", {}, svg("svg", { viewBox: "0 0 24 8", "aria-hidden": "true" }, svg("path", { class: `line line-${i}`, d: "M0 4H24" })), name)),
    names.length > shown.length ? el("li", {}, `${names.length - shown.length} more groups, in the table`) : ""));
    const last = steps.slice(-400).reverse();
    const columns = names.slice(0, 30);
    this.#parts.table2.replaceChildren(el("table", {},
      el("thead", {}, el("tr", {}, ["step ends before", ...columns].map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, last.map((step) => el("tr", {},
        el("th", { scope: "row" }, button(moment(step.end), () => this.#go(step), { title: "The list at the end of this step" }),
          step.over ? "" : " (not over)"),
        columns.map((name) => {
          const group = step.groups.find((one) => key(one) === name);
          return el("td", { class: "number" }, group ? answer.sum !== undefined ? textOf(group.sum) : count(group.count) : "");
        }))))));
  }

  #go(step) { change({ show: "list", at: String(step.sequence), view: state.view }); }
}
