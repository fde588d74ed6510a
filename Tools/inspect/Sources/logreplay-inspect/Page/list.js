// The list as sections and items, of which only the lines on the screen exist.

import { Latest, getList } from "./api.js";
import { button, count, counted, el, printable, say, textOf, valueSpan } from "./dom.js";
import { change, keep, listParameters, state } from "./state.js";
import { QueryForm } from "./query.js";

const rowHeight = 30;
/** Browsers draw nothing far below this, so a longer list is scrolled in proportion. */
const heightMax = 6_000_000;
const ahead = 25;
const columnMax = 12;
const marks = { insert: ["+", "inserted"], move: ["↕", "moved"], update: ["~", "changed"], delete: ["−", "deleted"] };

export class ListView {
  #app; #form; #parts = {}; #list = null; #offset = 0; #window = []; #elements = new Map(); #marks = new Map();
  #columns = []; #widths = new Map(); #active = 0; #fetches = new Latest(); #grows = new Latest(); #frame = 0;
  #loaded = "";

  constructor(app, root) {
    this.#app = app;
    const parts = this.#parts;
    root.append(el("h2", { class: "unseen" }, "List"));
    this.#form = new QueryForm(app, root);
    parts.summary = el("p", { class: "summary" });
    parts.outline = el("select", { "aria-label": "Go to a section", onchange: () => {
      this.#toLine(Number(parts.outline.value));
      parts.scroll.focus();
    } });
    parts.columns = el("details", { class: "columns" }, el("summary", {}, "Columns"));
    parts.bar = el("div", { class: "bar" }, parts.summary, parts.outline, parts.columns);
    parts.head = el("div", { class: "row head", role: "row" });
    parts.rows = el("div", { class: "rows", role: "rowgroup" });
    parts.scroll = el("div", {
      class: "scroll", role: "grid", tabindex: "0", "aria-label": "Rows", "aria-readonly": "true",
      onscroll: () => this.#scrolled(), onkeydown: (event) => this.#key(event),
    }, el("div", { class: "heads", role: "rowgroup" }, parts.head), parts.rows);
    root.append(parts.bar, parts.scroll);
    parts.outline.hidden = true;
    this.#drawHead();
    this.#observer = new ResizeObserver(() => this.#scrolled());
    this.#observer.observe(parts.scroll);
    this.#load();
  }

  #observer;

  leave() { this.#observer.disconnect(); cancelAnimationFrame(this.#frame); }

  // MARK: What is asked for

  update(changes) {
    this.#form.update();
    const wanted = JSON.stringify([listParameters(), state.columns]);
    if (wanted !== this.#loaded || (changes && "at" in changes) || changes === null) this.#load();
  }

  /** The log has grown. */
  grow() {
    if (state.at !== "" || !this.#hasTable) return;
    this.#grows.run(() => this.#app.timeline.go({ at: "", animates: true }));
  }

  get #hasTable() { return state.table !== "" || state.view !== ""; }

  async #load() {
    if (!this.#hasTable) {
      this.#parts.summary.replaceChildren(el("span", {}, "There is no table yet: the first row that is put makes one."));
      return;
    }
    this.#loaded = JSON.stringify([listParameters(), state.columns]);
    if (state.line !== "" && this.#list === null) this.#wantedLine = Number(state.line);
    this.#parts.rows.classList.add("stale");
    try {
      const answer = await this.show({ at: state.at, whole: "1" }, false, true);
      this.#app.timeline.note(answer.list);
    } catch { /* The form shows it. */ }
    this.#parts.rows.classList.remove("stale");
  }

  #wantedLine = null;

  /** Shows the list at a point. Throws what the program says of it. */
  async show(parameters, animates, isAnother = false) {
    const first = this.#wantedLine ?? this.#first;
    const since = animates && this.#list && !isAnother ? String(this.#list.sequence) : undefined;
    let answer;
    try {
      answer = await getList(this.#app.store, {
        ...listParameters(), ...parameters, fields: state.columns, since, ...this.#range(first),
      });
    } catch (error) {
      this.#form.fail(error);
      throw error;
    }
    this.#form.fail(null);
    this.#receive(answer, animates);
    if (this.#wantedLine !== null) {
      this.#toLine(this.#wantedLine);
      this.#wantedLine = null;
    }
    return answer;
  }

  #range(first) {
    const offset = Math.max(0, Math.floor(first) - ahead);
    return { offset, count: Math.min(400, this.#visibleCount + 2 * ahead) };
  }

  /** More lines of the list that is shown. */
  #more() {
    this.#fetches.run(async () => {
      const list = this.#list;
      try {
        const answer = await getList(this.#app.store, {
          ...listParameters(), at: String(list.sequence), fields: state.columns, ...this.#range(this.#first),
        });
        if (list !== this.#list) return;
        [this.#offset, this.#window] = [answer.list.offset, answer.list.window];
        this.#draw(false);
      } catch (error) { this.#form.fail(error); }
    });
  }

  // MARK: What came

  #receive(answer, animates) {
    const list = answer.list;
    this.#list = list;
    [this.#offset, this.#window] = [list.offset, list.window];
    this.#marks.clear();
    const deleted = [];
    for (const op of list.changes?.diff?.changes ?? []) {
      if (!marks[op.op]) continue;
      if (op.op === "delete") deleted.push(op.id);
      else this.#marks.set(op.id, { op: op.op, fields: op.op === "insert" ? {} : op.fields ?? {} });
    }
    this.#setColumns();
    this.#parts.rows.style.height = `${Math.min(heightMax, list.lines * rowHeight)}px`;
    this.#parts.scroll.setAttribute("aria-rowcount", String(list.lines + 1));
    this.#summarize(list);
    this.#setOutline(list);
    for (const id of deleted) this.#bury(`i${id}`, animates);
    this.#draw(animates);
  }

  #summarize(list) {
    const changes = list.changes;
    const parts = [counted(list.count, "row")];
    if (list.sections) parts.push(`in ${counted(list.sections, "section")}`);
    const words = [];
    if (changes) {
      for (const [name, op] of [["inserted", "insert"], ["deleted", "delete"], ["moved", "move"], ["updated", "update"]]) {
        if (changes[name]) words.push([marks[op][0], count(changes[name]), marks[op][1]]);
      }
    }
    this.#parts.summary.replaceChildren(el("span", {}, parts.join(" ")),
      ...words.map(([mark, number, word]) => el("span", { class: `mark ${word}` }, `${mark}${number} ${word}`)),
      list.partial ? el("span", { class: "warning" }, "inside of an append") : "",
      list.leftOut ? el("span", { class: "warning" }, `${counted(list.leftOut, "row")} left out: the sort or the section cannot show them`) : "");
    if (words.length > 0) say(words.map(([, number, word]) => `${number} ${word}`).join(", "));
  }

  #setOutline(list) {
    this.#parts.outline.hidden = list.sections === 0;
    this.#parts.outline.replaceChildren(...list.outline.map((section) =>
      el("option", { value: String(section.line) },
        `${printable(textOf(section.section)).slice(0, 60)} (${count(section.count)})`)));
  }

  #setColumns() {
    const chosen = state.columns ? state.columns.split(",") : null;
    if (chosen) this.#columns = chosen;
    else {
      const known = new Set(this.#columns);
      const items = this.#window.filter((line) => line.fields);
      for (const line of items) for (const name of Object.keys(line.fields)) known.add(name);
      // A field that repeats the id says nothing.
      for (const name of known) if (items.length > 0 && items.every((line) => line.fields[name] === line.id)) known.delete(name);
      this.#columns = [...known].slice(0, columnMax);
      this.#form.suggest([...known]);
    }
    // A width is found once, so that nothing moves later.
    for (const name of ["", ...this.#columns]) {
      if (this.#widths.has(name)) continue;
      const longest = Math.max(name.length + 3, ...this.#window.filter((line) => line.fields).map((line) =>
        textOf(name === "" ? line.id : line.fields[name] ?? "").length));
      this.#widths.set(name, Math.min(36, Math.max(7, longest + 2)));
    }
    const template = ["1.6rem", ...["", ...this.#columns].map((name) => `${this.#widths.get(name)}ch`), "1fr"].join(" ");
    this.#parts.scroll.style.setProperty("--columns", template);
    this.#parts.scroll.setAttribute("aria-colcount", String(this.#columns.length + 2));
    this.#drawHead();
    this.#drawChooser();
  }

  #drawHead() {
    const sorted = new Map(state.sort.map((sort) => [sort.split(":")[0], sort.includes(":desc")]));
    const heading = (name, label) => {
      const isDescending = sorted.get(name);
      const order = isDescending === undefined ? "none" : isDescending ? "descending" : "ascending";
      const mark = { none: "", ascending: " ▲", descending: " ▼" }[order];
      return el("div", { role: "columnheader", "aria-sort": order },
        button(`${printable(label)}${mark}`, () => this.#sort(name, isDescending), { disabled: state.view !== "" }));
    };
    this.#parts.head.replaceChildren(
      el("div", { role: "columnheader" }, el("span", { class: "unseen" }, "Change")),
      heading("$id", "id"), ...this.#columns.map((name) => heading(name, name)));
  }

  /** Ascending, descending, not at all. */
  #sort(name, isDescending) {
    change({ sort: isDescending === undefined ? [name] : isDescending ? [] : [`${name}:desc`], line: "" });
  }

  #drawChooser() {
    const details = this.#parts.columns;
    const apply = () => {
      const names = [...details.querySelectorAll("input:checked")].map((input) => input.value);
      change({ columns: names.join(",") });
    };
    const known = [...new Set([...this.#columns, ...details.knownColumns ?? []])];
    details.knownColumns = known;
    details.replaceChildren(details.firstChild, el("div", { class: "chooser" },
      known.map((name) => el("label", {}, el("input", {
        type: "checkbox", value: name, checked: this.#columns.includes(name), onchange: apply,
      }), printable(name))), button("All", () => change({ columns: "" }))));
  }

  // MARK: Lines on the screen

  get #visibleCount() { return Math.max(10, Math.ceil(this.#parts.scroll.clientHeight / rowHeight)); }
  get #lines() { return this.#list?.lines ?? 0; }

  /** The line at the top, with its fraction. */
  get #first() {
    const { scrollTop, clientHeight } = this.#parts.scroll;
    const height = Math.min(heightMax, this.#lines * rowHeight);
    if (height < heightMax) return scrollTop / rowHeight;
    return scrollTop / (height - clientHeight + rowHeight) * (this.#lines - clientHeight / rowHeight + 1);
  }

  #scrolled() {
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      if (this.#list) this.#draw(false);
    });
  }

  #draw(animates) {
    const { scroll, rows } = this.#parts;
    const first = Math.max(0, this.#first);
    const top = scroll.scrollTop;
    const begin = Math.max(0, Math.floor(first) - 4);
    const end = Math.min(this.#lines, Math.ceil(first) + this.#visibleCount + 4);
    const isScaled = this.#lines * rowHeight > heightMax;
    rows.classList.toggle("moving", animates);
    const kept = new Set();
    let isWhole = true;
    for (let line = begin; line < end; line += 1) {
      const content = this.#window[line - this.#offset];
      if (content === undefined) isWhole = false;
      const key = content === undefined ? `l${line}` : "id" in content ? `i${content.id}` : `s${textOf(content.section)}`;
      kept.add(key);
      const y = isScaled ? top + (line - first) * rowHeight : line * rowHeight;
      this.#put(key, line, content, y);
    }
    for (const [key, element] of this.#elements) {
      if (kept.has(key)) continue;
      element.remove();
      this.#elements.delete(key);
    }
    if (!isWhole) this.#more();
    const line = Math.round(first);
    clearTimeout(this.#keepTimer);
    this.#keepTimer = setTimeout(() => {
      if (state.show === "list") keep({ line: line > 0 ? String(line) : "" });
    }, 300);
  }

  #keepTimer = 0;

  #put(key, line, content, y) {
    let element = this.#elements.get(key);
    const isNew = element === undefined;
    if (isNew) {
      element = el("div", { role: "row" });
      this.#elements.set(key, element);
    }
    element.id = `line-${line}`;
    element.setAttribute("aria-rowindex", String(line + 2));
    element.style.transform = `translateY(${y}px)`;
    const mark = content?.id === undefined ? undefined : this.#marks.get(content.id);
    const look = JSON.stringify([content, mark, this.#columns, line === this.#active]);
    if (element.look !== look) {
      element.look = look;
      this.#fill(element, line, content, mark);
    }
    if (isNew) this.#parts.rows.append(element);
  }

  #fill(element, line, content, mark) {
    const isActive = line === this.#active ? " active" : "";
    element.classList.value = "";
    if (content === undefined) {
      element.className = `row waiting${isActive}`;
      element.replaceChildren(el("div", { role: "gridcell" }, "…"));
    } else if (!("id" in content)) {
      element.className = `row section${isActive}`;
      element.replaceChildren(el("div", { role: "gridcell", "aria-colspan": String(this.#columns.length + 2) },
        valueSpan(content.section), el("span", { class: "count" }, count(content.count))));
    } else {
      const [sign, word] = mark ? marks[mark.op] : ["", ""];
      element.className = `row item${isActive}${mark ? ` marked ${word}` : ""}`;
      element.dataset.id = content.id;
      element.dataset.revision = String(content.revision);
      element.onclick = () => { this.#activate(line); this.#open(content.id); };
      element.replaceChildren(
        el("div", { role: "gridcell", class: "sign" }, sign, word ? el("span", { class: "unseen" }, word) : ""),
        el("div", { role: "rowheader", class: "id", title: printable(content.id) }, printable(content.id)),
        ...this.#columns.map((name) => el("div", {
          role: "gridcell", class: mark?.fields && name in mark.fields ? "changed" : "",
        }, name in content.fields ? valueSpan(content.fields[name]) : "",
        content.cut?.includes(name) ? "…" : "")));
    }
  }

  /** Takes a row out that is deleted: it fades where it was. */
  #bury(key, animates) {
    const element = this.#elements.get(key);
    if (!element) return;
    this.#elements.delete(key);
    if (!animates) return element.remove();
    element.classList.add("marked", "deleted");
    element.removeAttribute("data-id");
    element.removeAttribute("id");
    element.setAttribute("aria-hidden", "true");
    const sign = element.querySelector(".sign");
    if (sign) sign.textContent = marks.delete[0];
    setTimeout(() => element.remove(), 450);
  }

  // MARK: The active row

  #toLine(line) {
    const { scroll } = this.#parts;
    const isScaled = this.#lines * rowHeight > heightMax;
    scroll.scrollTop = isScaled
      ? line / (this.#lines - scroll.clientHeight / rowHeight + 1) * (heightMax - scroll.clientHeight + rowHeight)
      : line * rowHeight;
    this.#activate(line);
  }

  #activate(line) {
    this.#active = Math.min(Math.max(0, line), Math.max(0, this.#lines - 1));
    this.#parts.scroll.setAttribute("aria-activedescendant", `line-${this.#active}`);
    this.#draw(false);
  }

  #open(id) {
    const table = this.#list.table;
    change({ row: `${table}/${id}`, event: "" });
  }

  #key(event) {
    const page = Math.max(1, this.#visibleCount - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === "Enter") {
      const content = this.#window[this.#active - this.#offset];
      if (content && "id" in content) this.#open(content.id);
    } else if (event.key in steps) {
      const line = Math.min(Math.max(0, this.#active + steps[event.key]), this.#lines - 1);
      const first = this.#first;
      if (line < first) this.#toLine(line);
      else if (line >= first + this.#visibleCount - 2) this.#toLine(Math.max(0, line - this.#visibleCount + 3));
      this.#activate(line);
    } else return;
    event.preventDefault();
  }
}
