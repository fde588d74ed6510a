// Elements, and values as text. Nothing here makes markup of a value.

/** An element with properties and children. `on…` are listeners, `aria…` and `data…` attributes. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  set(element, properties);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const namespace = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name in element && typeof value !== "string" && name !== "list") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
}

/** A number that a double does not hold exactly, as it was written. */
export class Exact {
  constructor(text) { this.text = text; }
  toJSON() { return this.text; }
}

/** JSON in which numbers that would lose digits stay text. */
export function parse(text) {
  return JSON.parse(text, (key, value, context) =>
    typeof value === "number" && context?.source !== undefined && String(value) !== context.source
      ? new Exact(context.source) : value);
}

/** A value as JSON, with exact numbers as they were written. */
export function json(value, indent = 0, depth = 0) {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const parts = Array.isArray(value)
    ? value.map((item) => json(item, indent, depth + 1))
    : Object.entries(value).map(([name, item]) =>
      JSON.stringify(name) + (indent ? ": " : ":") + json(item, indent, depth + 1));
  if (parts.length === 0) return open + close;
  if (!indent) return open + parts.join(",") + close;
  const margin = "\n" + " ".repeat(indent * (depth + 1));
  return open + margin + parts.join("," + margin) + "\n" + " ".repeat(indent * depth) + close;
}

/** What a person reads of a value: strings as they are, everything else as JSON. */
export function textOf(value, indent = 0) {
  return typeof value === "string" ? value : json(value, indent);
}

/** Control characters, and those that turn the direction of text, as signs that can be seen. */
export function printable(text, keepsLines = false) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (sign) => {
    if (keepsLines && (sign === "\n" || sign === "\t")) return sign;
    const code = sign.codePointAt(0);
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** A span with a value: its class says what kind it is, and its direction is its own. */
export function valueSpan(value, indent = 0) {
  const kind = value === null ? "null" : value instanceof Exact ? "number" : typeof value;
  return el("span", { class: `value ${kind}`, dir: "auto" }, printable(textOf(value, indent), indent > 0));
}

const counts = new Intl.NumberFormat();
export function count(number) { return counts.format(number); }
export function counted(number, noun) { return `${count(number)} ${noun}${number === 1 ? "" : "s"}`; }

const two = (number) => String(number).padStart(2, "0");

/** A time of the log for people, in the local zone: to the second, in the order in which times sort. */
export function moment(time) {
  if (!time) return "before the first event";
  const date = new Date(time);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} `
    + `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function bytes(number) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (number >= 1000 && unit < 4) { number /= 1000; unit += 1; }
  return `${unit ? number.toFixed(number < 10 ? 1 : 0) : number} ${units[unit]}`;
}

/** An error for people: what happened, where, and what to do. The place in an expression is below its mark. */
export function failureBox(error) {
  return el("div", { class: "failure", role: "alert" },
    el("strong", {}, printable(error.what ?? String(error.message ?? error))),
    error.where ? el("span", {}, ` ${printable(error.where)}`) : null,
    error.next ? el("pre", { tabindex: "0" }, printable(error.next, true)) : null);
}

export function button(label, action, properties = {}) {
  return el("button", { type: "button", onclick: action, ...properties }, label);
}

/** A field with its label. */
export function field(label, input) {
  return el("label", { class: "field" }, el("span", {}, label), input);
}

export function say(text) { document.getElementById("said").textContent = text; }
