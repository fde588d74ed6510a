// The slider over the log: a histogram of its events, the moment that is shown, and what moves it.

import { Latest, get, getList } from "./api.js";
import { button, count, counted, el, moment, printable, say, svg } from "./dom.js";
import { keep, listParameters, state } from "./state.js";

const width = 1000, height = 48;

export class Timeline {
  shown = { sequence: 0, time: null };
  #app; #root; #columns = []; #histogram = null; #moves = new Latest(); #playing = false; #types = new Map();
  #parts = {}; #range = ""; #dragged = null; #hoverTimer = 0; #growTimer = 0;

  constructor(app, root) {
    this.#app = app;
    this.#root = root;
    const parts = this.#parts;
    parts.bars = svg("path", { class: "bars" });
    parts.zoomed = svg("rect", { class: "zoomed", y: 0, height, width: 0 });
    parts.picture = svg("svg", {
      viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true",
    }, parts.bars, parts.zoomed);
    parts.thumb = el("div", { class: "thumb" });
    parts.tip = el("div", { class: "tip", role: "tooltip", hidden: true });
    parts.slider = el("div", {
      class: "slider", role: "slider", tabindex: "0", "aria-label": "Moment", "aria-valuemin": "0",
      "aria-valuemax": "0", "aria-valuenow": "0",
      onpointerdown: (event) => this.#press(event), onpointermove: (event) => this.#hover(event),
      onpointerup: (event) => this.#release(event), onpointercancel: () => { this.#dragged = null; },
      onpointerleave: () => this.#leave(), onkeydown: (event) => this.#key(event),
    }, parts.picture, parts.thumb);
    parts.labels = el("div", { class: "labels", "aria-hidden": "true" }, el("span"), el("span"), el("span"));
    parts.play = button("▶", () => this.togglePlay(), { "aria-label": "Play", title: "Play (Space)" });
    parts.speed = el("select", { "aria-label": "Changes a second" },
      [1, 2, 5, 10, 30, 100].map((rate) => el("option", { value: String(rate), selected: rate === 5 }, `${rate}/s`)));
    parts.jump = el("input", {
      type: "text", placeholder: "yesterday, 2026-11-20 18:00, 4711", "aria-label": "Jump to a time or a sequence",
      spellcheck: "false", autocomplete: "off",
    });
    parts.where = el("output", { class: "where" });
    parts.problem = el("span", { class: "problem", role: "alert" });
    const control = (label, title, action) => button(label, action, { "aria-label": title, title });
    root.append(parts.slider, parts.tip, parts.labels, el("div", { class: "controls" },
      el("span", { class: "group" },
        control("|◀", "To the begin of the log", () => this.go({ at: "0" })),
        control("◀◀", "To the append before that changes this list ([)", () => this.step("previous")),
        control("◀", "One append back (,)", () => this.step("back")),
        parts.play,
        control("▶|", "One append on (.)", () => this.step("append")),
        control("▶▶", "To the next append that changes this list (])", () => this.step("next")),
        control("head", "To the head, and follow it (h)", () => this.toHead()),
        parts.speed),
      parts.where,
      el("form", { class: "group", onsubmit: (event) => { event.preventDefault(); this.#jump(); } },
        parts.jump, el("button", {}, "Jump")),
      el("span", { class: "group" },
        control("+", "Zoom in", () => this.zoom(0.5)), control("−", "Zoom out", () => this.zoom(2)),
        control("all", "The whole log (0)", () => this.zoom(Infinity))), parts.problem));
  }

  get isLive() { return state.at === ""; }

  // MARK: The histogram

  /** Draws what the address says. */
  async update(changes) {
    const range = `${state.after}..${state.through}`;
    if (this.#histogram === null || range !== this.#range) await this.#load();
    if (changes === null || "at" in changes || this.shown.time === null) {
      if (this.#app.view?.name !== "list") await this.#look();
    }
    this.#place();
  }

  async #load() {
    this.#range = `${state.after}..${state.through}`;
    let histogram;
    try {
      histogram = await get("histogram", { after: state.after, through: state.through, columns: 200 });
    } catch { return; }
    this.#histogram = histogram;
    this.#columns = histogram.columns;
    this.#types.clear();
    const n = this.#columns.length;
    const counts = this.#columns.map((column, i) => column.sequence - this.#before(i));
    const top = Math.sqrt(Math.max(1, ...counts));
    this.#parts.bars.setAttribute("d", counts.map((number, i) => {
      if (number === 0) return "";
      const high = Math.max(2, (height - 2) * Math.sqrt(number) / top);
      const wide = width / n;
      return `M${(i * wide).toFixed(2)} ${height}v${-high.toFixed(2)}h${Math.max(1, wide * 0.86).toFixed(2)}v${high.toFixed(2)}z`;
    }).join(""));
    const labels = this.#parts.labels.children;
    const times = n === 0 ? ["", "", ""] : [histogram.time, this.#columns[n >> 1].time, this.#columns[n - 1].time];
    times.forEach((time, i) => { labels[i].textContent = time ? moment(time) : ""; });
    this.#parts.slider.setAttribute("aria-valuemin", String(histogram.after ?? 0));
    this.#parts.slider.setAttribute("aria-valuemax", String(this.#end));
    this.#place();
  }

  #before(i) { return i === 0 ? this.#histogram.after : this.#columns[i - 1].sequence; }
  get #end() { return this.#columns.at(-1)?.sequence ?? 0; }

  /** The share of the width at which a sequence is. */
  #share(sequence) {
    const n = this.#columns.length;
    if (n === 0 || sequence <= this.#histogram.after) return 0;
    let [low, high] = [0, n - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#columns[middle].sequence >= sequence) high = middle; else low = middle + 1;
    }
    const [before, after] = [this.#before(low), this.#columns[low].sequence];
    return Math.min(1, (low + (after > before ? (sequence - before) / (after - before) : 1)) / n);
  }

  #sequence(share) {
    const n = this.#columns.length;
    if (n === 0) return 0;
    const i = Math.min(n - 1, Math.max(0, Math.floor(share * n)));
    const part = Math.min(1, Math.max(0, share * n - i));
    return this.#before(i) + Math.round(part * (this.#columns[i].sequence - this.#before(i)));
  }

  #place() {
    const { sequence, time } = this.shown;
    const parts = this.#parts;
    parts.thumb.style.left = `${this.#share(sequence) * 100}%`;
    const text = `seq ${count(sequence)} · ${moment(time)}`;
    parts.where.replaceChildren(el("span", {}, text),
      el("span", { class: this.isLive ? "live" : "past" }, this.isLive ? "live" : "the past"));
    parts.slider.setAttribute("aria-valuenow", String(sequence));
    parts.slider.setAttribute("aria-valuetext", text);
  }

  /** The log has grown. */
  grow() {
    if (this.isLive && this.#app.view?.name !== "list") this.#look();
    if (state.through || this.#growTimer) return;
    this.#growTimer = setTimeout(() => { this.#growTimer = 0; this.#load(); }, 1000);
  }

  // MARK: Moving

  /** Shows another moment: `at` a point, or a `step` from the one that is shown. Returns the answer, nothing if a newer
   * move has taken its place. */
  async go({ at, step, animates = false }) {
    let answer;
    this.#setBusy(1);
    await this.#moves.run(async () => {
      const parameters = { at: step ? String(this.shown.sequence) : at, step, whole: "1" };
      this.#parts.problem.textContent = "";
      try {
        answer = this.#app.view?.name === "list"
          ? await this.#app.view.show(parameters, animates)
          : await getList(this.#app.store, { ...listParameters(), ...parameters, count: 0 });
      } catch (error) {
        this.#parts.problem.textContent = printable(error.what ?? error.message);
        this.pause();
        return;
      }
      this.#shows(answer, !step && (at === "" || at === "head"));
    });
    this.#setBusy(-1);
    return answer;
  }

  #busy = 0;

  #setBusy(more) {
    this.#busy += more;
    this.#root.setAttribute("aria-busy", String(this.#busy > 0));
  }

  /** Notes what is shown, and writes it into the address. */
  #shows(answer, isLive = false) {
    this.shown = { sequence: answer.list.sequence, time: answer.list.time };
    keep({ at: isLive ? "" : String(this.shown.sequence) });
    this.#place();
  }

  /** Finds out where a point is, for views that show no list. */
  async #look() {
    try {
      const { point } = await get("point", { at: state.at || "head" });
      this.shown = point;
      this.#place();
    } catch (error) { this.#parts.problem.textContent = printable(error.what ?? error.message); }
  }

  /** What the list shows, when it has loaded by itself. */
  note(list) {
    this.shown = { sequence: list.sequence, time: list.time };
    this.#place();
  }

  /** One append, or to the next or previous one that changes the list, however long the search. */
  async step(step) {
    this.pause();
    await this.#search(step);
  }

  async #search(step, isPlaying = () => true) {
    for (;;) {
      const answer = await this.go({ step, animates: true });
      if (!answer) return "stopped";
      if (answer.step !== "paused") {
        if (answer.step === "end") say(step === "next" || step === "append" ? "The head is reached." : "No change before.");
        return answer.step;
      }
      if (!isPlaying()) return "stopped";
    }
  }

  toHead() { this.pause(); return this.go({ at: "", animates: true }); }

  togglePlay() { if (this.#playing) this.pause(); else this.#play(); }

  pause() {
    this.#playing = false;
    this.#parts.play.textContent = "▶";
    this.#parts.play.setAttribute("aria-label", "Play");
  }

  async #play() {
    this.#playing = true;
    this.#parts.play.textContent = "❚❚";
    this.#parts.play.setAttribute("aria-label", "Pause");
    while (this.#playing) {
      const begin = performance.now();
      const ending = await this.#search("next", () => this.#playing);
      if (!this.#playing) return;
      if (ending === "end") await this.go({ at: "" });
      if (ending !== "found") break;
      const pause = 1000 / Number(this.#parts.speed.value) - (performance.now() - begin);
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    }
    this.pause();
  }

  focusJump() { this.#parts.jump.focus(); this.#parts.jump.select(); }

  #jump() {
    const at = this.#parts.jump.value.trim();
    if (at === "") return;
    this.pause();
    this.go({ at });
    this.#parts.jump.blur();
  }

  // MARK: Zooming

  /** Shows a part of the log around the moment: half of it, twice as much, or all. */
  zoom(factor) {
    const [after, end] = [this.#histogram?.after ?? 0, this.#end];
    const { begin = 0, head } = this.#histogram ?? {};
    if (factor === Infinity || end === after) return this.#setRange("", "");
    const length = Math.max(2, Math.round((end - after) * factor));
    if (length >= head.sequence - begin) return this.#setRange("", "");
    const middle = Math.min(Math.max(this.shown.sequence, after), end);
    const low = Math.min(Math.max(begin, Math.round(middle - length / 2)), head.sequence - length);
    this.#setRange(String(low), String(low + length));
  }

  #setRange(after, through) {
    keep({ after, through });
    this.#load();
  }

  // MARK: Pointer and keys

  #shareOf(event) {
    const box = this.#parts.slider.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  }

  #press(event) {
    if (event.button !== 0) return;
    this.pause();
    this.#parts.slider.setPointerCapture(event.pointerId);
    this.#dragged = { from: this.#shareOf(event), zooms: event.shiftKey };
    if (!event.shiftKey) this.#drag(event);
  }

  #drag(event) { this.go({ at: String(this.#sequence(this.#shareOf(event))) }); }

  #release(event) {
    const dragged = this.#dragged;
    this.#dragged = null;
    this.#parts.zoomed.setAttribute("width", 0);
    if (!dragged?.zooms) return;
    const [low, high] = [dragged.from, this.#shareOf(event)].sort((a, b) => a - b).map((share) => this.#sequence(share));
    if (high > low + 1) this.#setRange(String(low), String(high));
  }

  #hover(event) {
    if (this.#dragged?.zooms) {
      const [low, high] = [this.#dragged.from, this.#shareOf(event)].sort((a, b) => a - b);
      this.#parts.zoomed.setAttribute("x", low * width);
      this.#parts.zoomed.setAttribute("width", (high - low) * width);
      return;
    }
    if (this.#dragged) this.#drag(event);
    const n = this.#columns.length;
    if (n === 0) return;
    const share = this.#shareOf(event);
    const i = Math.min(n - 1, Math.floor(share * n));
    const tip = this.#parts.tip;
    const [before, after] = [this.#before(i), this.#columns[i].sequence];
    const lines = [el("strong", {}, counted(after - before, "event")),
      el("span", {}, `${moment(i === 0 ? this.#histogram.time : this.#columns[i - 1].time)} …`)];
    const types = this.#types.get(i);
    if (types) lines.push(...types);
    tip.replaceChildren(...lines);
    tip.hidden = false;
    const box = this.#parts.slider.getBoundingClientRect();
    tip.style.left = `${Math.min(Math.max(0, share * box.width - 90), Math.max(0, box.width - 240))}px`;
    clearTimeout(this.#hoverTimer);
    if (!types && after > before) this.#hoverTimer = setTimeout(() => this.#findTypes(i, before, after), 120);
  }

  async #findTypes(i, after, through) {
    const found = await get("types", { after, through }).catch(() => null);
    if (!found) return;
    const lines = found.types.slice(0, 6).map(({ type, events }) =>
      el("span", {}, `${printable(type)} ${count(events)}`));
    if (found.typeCount > 6) lines.push(el("span", {}, `${found.typeCount - 6} more types`));
    if (!found.whole) lines.push(el("span", {}, `of the first ${count(found.through - found.after)}`));
    this.#types.set(i, lines);
    if (!this.#parts.tip.hidden) this.#parts.tip.append(...lines.map((line) => line.cloneNode(true)));
  }

  #leave() {
    clearTimeout(this.#hoverTimer);
    this.#parts.tip.hidden = true;
  }

  #key(event) {
    const share = this.#share(this.shown.sequence);
    const moves = {
      ArrowLeft: () => this.step("back"), ArrowRight: () => this.step("append"),
      ArrowDown: () => this.step("previous"), ArrowUp: () => this.step("next"),
      PageUp: () => this.go({ at: String(this.#sequence(share + 0.05)) }),
      PageDown: () => this.go({ at: String(this.#sequence(share - 0.05)) }),
      Home: () => this.go({ at: "0" }), End: () => this.toHead(),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    moves[event.key]();
  }
}
