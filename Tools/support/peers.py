#!/usr/bin/env python3
"""Runs the comparison of Tools/bench in turns: Strata, and what one would use instead, each piece of work in a process
of its own. Prints tables, and writes results.json and a plot for each group.

    peers.py --programs FOLDER --out FOLDER [--quick] [--only GROUP]... [OPTION]...
    peers.py --again FILE --out FOLDER [--page PAGE]     # tables and plots of a results.json, without running anything

In each round every program does each piece of work once, in one order in even rounds and in the opposite one in odd
rounds. What is said of a row is the median of its rounds; a ratio is the median of the ratios of the rounds.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

import peer_plots

# Events of the corpus are repeated until there are about this many.
EVENTS = {"full": 1_048_528, "quick": 120_000}
ROUNDS = {"full": 5, "quick": 3}
READS = {"full": 50_000, "quick": 4_000}
STREAMS = {"full": 1_000, "quick": 100}
APPENDS = {"full": 2_000, "quick": 300}
APPENDS_OF_MANY = {"full": 300, "quick": 100}
SECONDS_AT_MOST = {"full": 5, "quick": 1}
HOT = 10_000


@dataclass
class Row:
    """One program's way of doing a piece of work, and how it went in each round."""

    name: str
    library: str
    program: str
    words: list
    # Which of the stores that are made once it reads; empty if it makes one of its own.
    store: str = ""
    rates: list = field(default_factory=list)


@dataclass
class Panel:
    """One piece of work. The first row is what the others are compared with."""

    title: str
    unit: str
    rows: list
    # Whether less is better.
    is_size: bool = False


@dataclass
class Group:
    name: str
    title: str
    panels: list


def groups(mode, has_before):
    """What is measured, in the order in which it is shown."""
    native = ["RocksDB", "LMDB", "SQLite"]

    def peers(words, store=None):
        rows = [Row(name, name, "peers", [name.lower(), *words], store and name) for name in native]
        return rows + [Row("GRDB", "GRDB", "grdb", words, store and "GRDB")]

    def strata(name, words, store=""):
        return [Row(name, "Strata", "strata", words, store)] + (
            [Row(f"{name}, before", "before", "before", words, store and "before")] if has_before else [])

    def limit(name, work):
        return [Row(name, "limit", "strata", [work])]

    def reads(words):
        found = peers([*words, "--indexed"], store=True)
        return strata("Strata", words, "Strata") + found

    def bulk_limit():
        return limit("limit: LZ4, writes, one sync", "bulk-limit")

    indexed = [Row(f"{row.name}, streams indexed", row.library, row.program, row.words + ["--indexed"])
               for row in peers(["bulk"])]
    one = ["--each", str(APPENDS[mode])]
    many = ["--each", str(APPENDS_OF_MANY[mode])]
    return [
        Group("bulk", "Bulk append, 1,000 events a batch", [
            Panel("Buffered: one sync, at the end", "events/s",
                  strata("Strata, one task", ["bulk"]) + strata("Strata, 16 tasks", ["bulk", "--writers", "16"])
                  + peers(["bulk"]) + indexed + bulk_limit()),
            Panel("Synced: each batch is on disk before the next", "events/s",
                  strata("Strata, one task", ["bulk", "--synced"])
                  + strata("Strata, 16 tasks", ["bulk", "--synced", "--writers", "16"])
                  + peers(["bulk", "--synced"])
                  + [Row("RocksDB, 16 threads", "RocksDB", "peers", ["rocksdb", "bulk", "--synced", "--writers", "16"])]
                  + bulk_limit()),
        ]),
        Group("durable", "Appends of one event, each on disk before its writer continues", [
            Panel("One writer", "appends/s",
                  strata("Strata, a task", ["durable", *one])
                  + strata("Strata, a thread that blocks", ["durable", "--blocking", *one])
                  + peers(["durable", *one]) + [Row("limit: a write and its sync", "limit", "strata",
                                                    ["durable-limit", *one])]),
            Panel("64 writers", "appends/s",
                  strata("Strata, 64 tasks", ["durable", "--writers", "64", *many])
                  + strata("Strata, 512 tasks", ["durable", "--writers", "512", *many])
                  + peers(["durable", "--writers", "64", *many])),
        ]),
        Group("reads", "Random reads, of a store at rest", [
            Panel("An event by its sequence, anywhere", "events/s", reads(["read", "--each", str(READS[mode])])),
            Panel(f"An event by its sequence, among the last {HOT:,}", "events/s",
                  reads(["read", "--each", str(READS[mode]), "--hot", str(HOT)])),
            Panel("All events of a stream", "events/s", reads(["stream", "--each", str(STREAMS[mode])])),
        ]),
        Group("replay", "Every event of a store at rest, in order", [
            Panel("A full scan", "events/s", reads(["scan"]) + limit("limit: reads and LZ4", "scan-limit")),
        ]),
        Group("size", "Bytes on disk of a store at rest, with its index of streams", [
            Panel("An event", "bytes", [Row(name, name, "", [], name) for name in ["Strata", *native, "GRDB"]],
                  is_size=True),
        ]),
    ]


class Bench:
    """Runs pieces of work in a temporary folder."""

    def __init__(self, options):
        self.options = options
        self.mode = "quick" if options.quick else "full"
        self.folder = tempfile.mkdtemp(prefix="strata-bench-", dir=options.directory)
        self.programs = {
            "strata": [os.path.join(options.programs, "stratabench"), "peer-lane"],
            "peers": [os.path.join(options.programs, "peers")],
            "grdb": [os.path.join(options.programs, "EventLanes")],
            "before": [options.before, "peer-lane"],
        }
        self.events = os.path.join(self.folder, "events")
        self.count = 0
        self.sums = {}

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, words):
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)} ended with {done.returncode}")
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def export(self):
        """Writes the events to a file, and decides how often they are repeated."""
        words = [*self.programs["strata"], "export", "--events", self.events, "--store", "none"]
        self.call(words + (["--input", self.options.input] if self.options.input else []))
        lines = 0
        with open(self.events, "rb") as file:
            bytes_left = memoryview(file.read())[8:]
        while bytes_left:
            lengths = [int.from_bytes(bytes_left[at:at + 4], "little") for at in (0, 4)]
            bytes_left = bytes_left[8 + sum(lengths):]
            lines += 1
        wanted = self.options.events or EVENTS[self.mode]
        self.count = max(1, round(wanted / lines)) * lines
        return lines

    def common(self, store):
        return ["--events", self.events, "--store", store, "--count", str(self.count)]

    def fill(self, libraries):
        """Makes the stores that are read, one for each library."""
        fills = {"Strata": [*self.programs["strata"], "fill"], "before": [*self.programs["before"], "fill"],
                 "GRDB": [*self.programs["grdb"], "fill", "--indexed"]}
        for library in libraries:
            words = fills.get(library) or [*self.programs["peers"], library.lower(), "fill", "--indexed"]
            self.call(words + self.common(self.store(library)))

    def store(self, library):
        return os.path.join(self.folder, "store-" + library)

    def size(self, library):
        path = self.store(library)
        files = [path + end for end in ("", "-wal", "-shm")]
        for folder, _, names in os.walk(path):
            files += [os.path.join(folder, name) for name in names]
        return sum(os.path.getsize(file) for file in files if os.path.isfile(file))

    def run(self, row, panel):
        """Runs a row once, and adds its rate."""
        if panel.is_size:
            row.rates.append(self.size(row.library) / self.count)
            return
        store = self.store(row.store) if row.store else os.path.join(self.folder, "fresh")
        words = self.programs[row.program] + row.words + self.common(store)
        if not row.store:
            # What others left unwritten must not be part of this one's syncs.
            os.sync()
        if "durable" in row.words:
            words += ["--at-most", str(SECONDS_AT_MOST[self.mode])]
        found = self.call(words)
        if not row.store:
            for path in (store, store + "-wal", store + "-shm"):
                shutil.rmtree(path, ignore_errors=True)
                if os.path.exists(path):
                    os.remove(path)
        else:
            # All that read the same must have found the same.
            read = (found["count"], found["sum"])
            if self.sums.setdefault(panel.title, read) != read:
                sys.exit(f"{panel.title}: {row.name} read {read}, and another library {self.sums[panel.title]}")
        row.rates.append(found["count"] / found["seconds"])


def summary(panel):
    """The rows of a panel with what is said of them."""
    first = panel.rows[0].rates
    return [{"name": row.name, "library": row.library, "median": statistics.median(row.rates),
             "least": min(row.rates), "most": max(row.rates), "rounds": row.rates,
             "ratio": statistics.median(rate / other for rate, other in zip(row.rates, first, strict=True))}
            for row in panel.rows]


def text_of(value, unit):
    if unit == "bytes":
        return f"{value:.1f}"
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return three_digits(value / size) + letter
    return f"{value:.0f}"


def three_digits(value):
    if value < 0.1:
        return f"{value:.2g}"
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def tables(results):
    """The results as tables of Markdown, each group after the name of its plot, as pages of DocC have them."""
    load, machine = results["load"], results["machine"]
    lines = [f"{results['events']:,} events in {results['rounds']} rounds, on {machine['processors']} processors "
             f"({machine['processor']}) with a load of {load['before']:.1f} before the run and {load['after']:.1f} at "
             "its end."]
    for group in results["groups"]:
        lines += ["", f"### {group['title']}", "", f"![The tables below as bars.](peers-{group['name']})"]
        for panel in group["panels"]:
            lines += ["", f"| {panel['title']} | {panel['unit']} | from, to | beside Strata |", "|---|--:|--:|--:|"]
            for row in panel["rows"]:
                low, high = (text_of(row[key], panel["unit"]) for key in ("least", "most"))
                lines.append(f"| {row['name']} | {text_of(row['median'], panel['unit'])} | {low}, {high} "
                             f"| {three_digits(row['ratio'])} × |")
    return "\n".join(lines)


FIGURES = ("<!-- Written by Tools/bench --page. -->", "<!-- End of what Tools/bench writes. -->")


def update(page, results, plots):
    """Puts the tables of the results into a page, between two comments, and the plots into its folder of resources."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    if any(text.count(mark) != 1 for mark in FIGURES):
        sys.exit(f"{page} has no place for figures: a line {FIGURES[0]} and a line {FIGURES[1]}")
    head, rest = text.split(FIGURES[0])
    _, tail = rest.split(FIGURES[1])
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"{head}{FIGURES[0]}\n\n{tables(results)}\n\n{FIGURES[1]}{tail}")
    resources = os.path.join(os.path.dirname(page), "Resources")
    os.makedirs(resources, exist_ok=True)
    for plot in plots:
        shutil.copy(plot, resources)


def machine_of_run():
    """What is known of the machine, for readers who compare figures."""
    processor = platform.processor()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
        processor = names[0] if names else processor
    except OSError:
        pass
    return {"processor": processor, "processors": os.cpu_count(), "system": platform.platform()}


def measure(options):
    bench = Bench(options)
    try:
        lines = bench.export()
        wanted = [group for group in groups(bench.mode, options.before)
                  if not options.only or group.name in options.only]
        versions = bench.call([*bench.programs["peers"], "versions"])
        versions |= bench.call([*bench.programs["grdb"], "versions"])
        rounds = options.rounds or ROUNDS[bench.mode]
        load = os.getloadavg()[0]
        print(f"{bench.count:,} events, {lines:,} of them distinct, {rounds} rounds, "
              + ", ".join(f"{name} {version}" for name, version in versions.items()), flush=True)
        stores = {row.store for group in wanted for panel in group.panels for row in panel.rows if row.store}
        print("making the stores that are read", flush=True)
        bench.fill(sorted(stores))
        for group in wanted:
            for number in range(rounds):
                print(f"{group.name}: round {number + 1} of {rounds}", flush=True)
                pairs = [(row, panel) for panel in group.panels for row in panel.rows]
                for row, panel in pairs if number % 2 == 0 else reversed(pairs):
                    bench.run(row, panel)
    finally:
        bench.remove()
    return {
        "events": bench.count, "distinct": lines, "rounds": rounds, "mode": bench.mode, "versions": versions,
        "machine": machine_of_run(), "load": {"before": load, "after": os.getloadavg()[0]},
        "groups": [{"name": group.name, "title": group.title,
                    "panels": [{"title": panel.title, "unit": panel.unit, "rows": summary(panel)}
                               for panel in group.panels]}
                   for group in wanted],
    }


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", help="the folder of the programs that are measured")
    parser.add_argument("--out", required=True, help="a folder for the results")
    parser.add_argument("--again", help="a results.json to make tables and plots of, instead of measuring")
    parser.add_argument("--quick", action="store_true", help="fewer events, fewer rounds: two minutes")
    parser.add_argument("--only", action="append", choices=["bulk", "durable", "reads", "replay", "size"],
                        help="one group; may be repeated")
    parser.add_argument("--input", help="a file of JSON lines to append, plain or gzip-compressed")
    parser.add_argument("--events", type=int, help="about how many events")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--directory", help="a folder on the disk to measure")
    parser.add_argument("--page", help="a page of the documentation whose figures are replaced by these")
    parser.add_argument("--before", help="an older stratabench, measured in the same turns")
    options = parser.parse_args(words)
    if not options.again and not options.programs:
        parser.error("--programs or --again is needed")
    if options.again:
        with open(options.again, encoding="utf-8") as file:
            results = json.load(file)
    else:
        results = measure(options)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(options.out, "results.json"), "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    with open(os.path.join(options.out, "tables.md"), "w", encoding="utf-8") as file:
        file.write(tables(results) + "\n")
    plots = [os.path.join(options.out, f"peers-{group['name']}.svg") for group in results["groups"]]
    for group, path in zip(results["groups"], plots):
        with open(path, "w", encoding="utf-8") as file:
            file.write(peer_plots.plot(group, text_of, three_digits))
    if options.page:
        update(options.page, results, plots)
    print(tables(results))
    print(f"results.json, tables.md and a plot of each group are in {options.out}")


if __name__ == "__main__":
    main(sys.argv[1:])
