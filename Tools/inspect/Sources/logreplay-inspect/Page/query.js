// The form that defines the list: table or kept list, sections, order, filter. Shared by the list and the comparison.

import { el, failureBox, field, printable } from "./dom.js";
import { change, state } from "./state.js";

export class QueryForm {
  #app; #parts = {};

  constructor(app, root) {
    this.#app = app;
    const parts = this.#parts;
    const text = (label, properties = {}) =>
      el("input", { type: "text", spellcheck: "false", autocomplete: "off", "aria-label": label, ...properties });
    parts.table = el("select", { onchange: () => this.#choose() });
    parts.section = text("Section by", { list: "fields", placeholder: "status" });
    parts.order = el("select", {}, [["", "by key"], ["key:desc", "by key, descending"], ["first", "by first item"],
      ["count", "by count"]].map(([value, label]) => el("option", { value }, label)));
    parts.sort = text("Sort", { placeholder: "time:desc, id" });
    parts.where = text("Filter", { "data-search": true, placeholder: "status == 'Open' && impact contains[c] 'high'" });
    parts.fields = el("datalist", { id: "fields" });
    parts.problem = el("div", { class: "problems" });
    parts.form = el("form", { class: "query", role: "search", "aria-label": "The list",
      onsubmit: (event) => { event.preventDefault(); this.#apply(); }, onchange: (event) => {
        if (event.target !== parts.table) this.#apply();
      } },
      field("Table", parts.table), field("Sections", parts.section), field("Their order", parts.order),
      field("Sort", parts.sort), el("label", { class: "field wide" }, el("span", {}, "Filter"), parts.where),
      parts.fields);
    root.append(parts.form, parts.problem);
    this.update();
  }

  /** Shows what the address says. */
  update() {
    const { tables, lists } = this.#app.store;
    const parts = this.#parts;
    const option = (value, label, selected) => el("option", { value, selected }, printable(label));
    parts.table.replaceChildren(
      ...tables.map((name) => option(`table ${name}`, name, !state.view && state.table === name)),
      ...lists.map(({ name, table }) =>
        option(`view ${name}`, `${name} (a kept list of ${table})`, state.view === name)));
    if (parts.table.options.length === 0) parts.table.append(option("", "no tables", true));
    for (const name of ["section", "order", "where"]) parts[name].value = state[name];
    parts.sort.value = state.sort.join(", ");
    const isKept = state.view !== "";
    for (const name of ["section", "order", "sort", "where"]) parts[name].disabled = isKept;
  }

  /** Names that the fields are completed with. */
  suggest(names) {
    this.#parts.fields.replaceChildren(...names.map((name) => el("option", { value: name })));
  }

  #choose() {
    const [kind, ...rest] = this.#parts.table.value.split(" ");
    const name = rest.join(" ");
    const table = kind === "view" ? this.#app.store.lists.find((list) => list.name === name).table : name;
    change({ table, view: kind === "view" ? name : "", section: "", order: "", sort: [], where: "", line: "", columns: "" });
  }

  #apply() {
    const parts = this.#parts;
    change({
      section: parts.section.value.trim(), order: parts.order.value, where: parts.where.value.trim(),
      sort: parts.sort.value.split(",").map((sort) => sort.trim()).filter(Boolean), line: "",
    });
  }

  fail(error) {
    this.#parts.problem.replaceChildren(...(error ? [failureBox(error)] : []));
    this.#parts.where.setAttribute("aria-invalid", String(error?.where === "--where"));
  }
}
