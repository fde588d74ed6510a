// The store itself: what it has, what it takes, how far what is derived from it is, and a check.

import { get } from "./api.js";
import { button, bytes, count, counted, el, failureBox, moment, printable } from "./dom.js";

export class StoreView {
  #app; #parts = {}; #timer = 0; #left = false;

  constructor(app, root) {
    this.#app = app;
    const parts = this.#parts;
    parts.info = el("div", { class: "info" });
    parts.check = el("section", { class: "check", "aria-label": "Check" });
    root.append(el("div", { class: "page", tabindex: "0", role: "region", "aria-label": "The store" },
      el("h2", {}, printable(app.store.path)), parts.info, parts.check));
    this.#load();
    this.#showCheck({});
    this.#poll();
  }

  leave() { this.#left = true; clearTimeout(this.#timer); }
  grow() {}
  update() {}

  async #load() {
    try {
      const { info, problem } = await get("info");
      this.#parts.info.replaceChildren(...this.#content(info, problem));
    } catch (error) { this.#parts.info.replaceChildren(failureBox(error)); }
  }

  #content(info, problem) {
    const facts = (pairs) => el("dl", { class: "facts" }, pairs.filter(Boolean).map(([name, value]) =>
      [el("dt", {}, name), el("dd", {}, value)]));
    const { path } = this.#app.store;
    const parts = [];
    if (problem) parts.push(failureBox(problem));
    if (info.tornBytes) {
      parts.push(el("p", { class: "warning" }, `${counted(info.tornBytes, "byte")} of an unfinished write after the end; nothing that was acknowledged is lost.`));
    }
    parts.push(facts([
      ["events", info.last < info.first ? "none" : `${count(info.first)} … ${count(info.last)} in ${counted(info.appends, "append")}`],
      ["from", moment(info.firstTime)], ["to", moment(info.lastTime)],
      ["log", `${bytes(info.bytes)}, ${bytes(info.rawBytes)} before compression`],
      ["segments", `${count(info.segments)}, ${count(info.sealed)} sealed`],
      ["derived", `${bytes(info.derivedBytes)} of indexes, saved tables and histories, made from the log`],
      ["durability", info.durability ?? "unknown"], ["closed cleanly", info.clean ? "yes" : "no: a process writes, or ended without closing it"],
      ["chain", `${info.last}@${info.chain}`], ["uuid", info.uuid], ["format", info.format],
      info.datedLater ? ["clock", `${counted(info.datedLater, "append")} before the last is dated later`] : null,
    ]));
    const table = (title, heads, rows, none) => [el("h3", {}, title), rows.length === 0 ? el("p", {}, none)
      : el("div", { class: "wide-table", tabindex: "0", role: "group", "aria-label": title }, el("table", {},
        el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
        el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, i) =>
          el(i === 0 ? "th" : "td", { scope: i === 0 ? "row" : null, class: typeof cell === "number" ? "number" : "" },
            typeof cell === "number" ? count(cell) : cell))))))) ];
    parts.push(...table("Tables", ["table", "rows"], info.tables.map((one) => [printable(one.table), one.items]), "There are no tables."));
    parts.push(...table("Saved tables", ["name", "up to seq", "bytes"],
      info.checkpoints.map((one) => [printable(one.name), one.sequence, bytes(one.bytes)]),
      el("span", {}, "None, so a start folds the whole log. To save them: ", el("code", {}, `logreplay checkpoint ${path}`))));
    parts.push(...table("Histories", ["name", "up to seq", "events after it", "runs", "bytes"],
      info.histories.map((one) => [printable(one.name), one.sequence, one.lag, one.runs, bytes(one.bytes)]),
      el("span", {}, "None, so the past is replayed. To keep one: ", el("code", {}, `logreplay checkpoint ${path} --history`))));
    if (info.historyLists?.length) {
      parts.push(...table("Kept lists in the history", ["list", "table"], info.historyLists.map((one) => [printable(one.name), printable(one.table)]), ""));
    }
    parts.push(...table("Consumers", ["name", "events that wait", "set aside", "stopped at"],
      info.consumers.map((one) => [printable(one.name), one.lag, one.setAsideCount,
        one.stoppedAt ? `${count(one.stoppedAt)}: ${printable(one.error)}` : "no"]), "No consumer has a position in this store."));
    return parts;
  }

  // MARK: The check

  async #begin(depth) {
    await get("check", { depth }).then((answer) => this.#showCheck(answer), (error) => this.#failCheck(error));
    this.#poll();
  }

  #failCheck(error) { this.#parts.check.replaceChildren(failureBox(error)); }

  async #poll() {
    const answer = await get("check").catch(() => null);
    if (this.#left || answer === null) return;
    this.#showCheck(answer);
    if (answer.running) this.#timer = setTimeout(() => this.#poll(), 400);
  }

  #showCheck(answer) {
    const parts = [el("h3", {}, "Check"), el("p", { class: "group" },
      button("Quick: headers, and the last segment", () => this.#begin("quick"), { disabled: answer.running }),
      button("Full: every checksum, link and chain", () => this.#begin("full"), { disabled: answer.running }))];
    if (answer.running) parts.push(el("progress", { "aria-label": "checked", max: answer.of || 1, value: answer.done || 0 }));
    if (answer.error) parts.push(failureBox(answer.error));
    const report = answer.report;
    if (report) {
      const { segments, blocks, events } = report.checked;
      parts.push(el("p", { role: "status", class: report.ok ? "good" : "warning" },
        `${report.ok ? "ok" : counted(report.findings.length, "finding")}: ${counted(segments, "segment")}, ${counted(blocks, "block")}, ${counted(events, "event")}`));
      parts.push(...report.findings.map((finding) => el("article", { class: "finding" },
        el("h4", {}, `${finding.class}: ${printable(finding.what)}`),
        el("p", { class: "quiet" }, `${printable(finding.file)} at byte ${count(finding.offset)}`,
          finding.last >= finding.first ? `, events ${count(finding.first)} … ${count(finding.last)}` : ""),
        el("p", {}, `What to do: ${printable(finding.next)}`))));
    }
    this.#parts.check.replaceChildren(...parts);
  }
}
