"""Machines that write a store, ship it, follow it and take over, each as a loop of processes of logreplay."""

import base64
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from jetstream_servers import Wrong, check

SECONDS_MAX = 240  # No command takes longer, also not one that is paused meanwhile.
# How a command ends: 124 and 74 say that nothing is known. 66 is said of a folder that is gone.
FENCED, OUTRUN, UNKNOWN, KILLED = 68, 75, (66, 74, 124), -signal.SIGKILL


class World:
    """What all machines share."""

    def __init__(self, program, folder, place, seed):
        self.folder, self.place, self.seed = folder, place, seed
        self.program = program
        self.user = {}
        if os.geteuid() == 0:
            # A folder that is read-only is not for root.
            self.user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            self.program = shutil.copy(program, folder / "logreplay")
            for path in [folder / "stores", folder / "disk"]:
                if path.exists():
                    shutil.chown(path, "nobody", "nogroup")
        self.counts, self.lock = collections.Counter(), threading.Lock()
        self.ending = threading.Event()
        self.failure = None

    def count(self, what, number=1):
        with self.lock:
            self.counts[what] += number

    def fail(self, error):
        self.failure = self.failure or error
        self.ending.set()

    def start(self, *words, **options):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "NATS_"))}
        return subprocess.Popen(
            [self.program, *map(str, words)], cwd=self.folder / "stores", stdin=subprocess.DEVNULL, text=True,
            env={**kept, "HOME": str(self.folder / "stores"), **self.place.environment}, **self.user, **options)

    def run(self, *words, code=0):
        """Runs a command that nothing befalls."""
        process = self.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, said = ended(process, words)
        check(process.returncode == code, f"{shown(words)} ended with {process.returncode}, not {code}:\n{out[:2000]}{said}")
        return out + said if code else out


def shown(words):
    return "logreplay " + " ".join(map(str, words))


def ended(process, words):
    try:
        return process.communicate(timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Wrong(f"{shown(words)} has not ended after {SECONDS_MAX} s") from None


class Machine(threading.Thread):
    """A store, and the processes that work on it: one at a time.

        follows    is ordered to take over → takes over → writes
        writes     is refused → overtaken → rejoins → follows
    """

    def __init__(self, world, name):
        super().__init__(name=name, daemon=True)
        self.world, self.store = world, world.folder / "stores" / name
        self.chance = random.Random(f"{world.seed} {name}")
        self.role, self.order = "follows", None
        # What may befall it.
        self.process, self.is_shipping, self.is_down = None, threading.Event(), threading.Event()
        self.lines = world.folder / "stores" / f"{name}.lines"
        self.log = open(world.folder / f"{name}.log", "a", encoding="utf-8")
        # The appends that were tried, by their ids; those in the store that are not yet called replicated; those that are.
        self.number, self.pending, self.tried = 0, None, set()
        self.local, self.replicated = [], {}
        self.positions = []
        self.shipped, self.seals_wanted, self.wants_much = 0, 0, False

    def run(self):
        try:
            while not self.world.ending.is_set():
                if self.is_down.is_set():
                    time.sleep(0.05)
                else:
                    self.step()
        except Exception as error:  # Whatever it is, the others have to end.
            self.world.fail(Wrong(f"{self.name}: {error}" if isinstance(error, Wrong) else f"{self.name}: {error!r}"))

    def step(self):
        {"follows": self.follow, "takes over": self.take_over, "writes": self.write, "overtaken": self.rejoin}[self.role]()

    def note(self, text):
        print(f"{time.strftime('%H:%M:%S')}.{int(time.time() * 1000) % 1000:03} {text}", file=self.log, flush=True)

    # Processes

    def command(self, *words, allowed=(0,)):
        """Runs a command that may be killed. Returns its code and output."""
        self.process = process = self.world.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if words[0] == "replicate" and words[1] == self.store:
            self.is_shipping.set()
        try:
            out, said = ended(process, words)
        finally:
            self.is_shipping.clear()
        code = process.returncode
        self.note(f"{shown(words)}: {code} {out.strip()[:400]} {said.strip()[:600]}")
        check(code in (*allowed, KILLED), f"{shown(words)} ended with {code}:\n{out[:2000]}{said}")
        return code, out

    def send(self, number):
        """Sends a signal to the process that runs. Returns whether there is one."""
        process = self.process
        if process is None or process.poll() is not None:
            return False
        process.send_signal(number)
        self.note(f"signal {number} to {process.args[1:]}")
        return True

    def kill(self):
        return self.send(signal.SIGKILL)

    def url(self):
        return self.world.place.url

    # What it does

    def follow(self):
        words = ["replicate", self.url(), self.store, "--follow"]
        self.note(shown(words))
        self.process = process = self.world.start(*words, stdout=self.log, stderr=self.log)
        while process.poll() is None and not self.order and not self.world.ending.is_set():
            time.sleep(0.05)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        ended(process, words)
        code = process.returncode
        self.note(f"{shown(words)}: {code}")
        # It may be interrupted before it can say so itself.
        check(code in (0, 130, -signal.SIGINT, KILLED, *UNKNOWN), f"{shown(words)} ended with {code}, see {self.log.name}")
        if self.order:
            # Its folder is no store before the first copy is whole.
            if self.part() is None:
                code, _ = self.command("replicate", self.url(), self.store, "--within", "20s", allowed=(0, *UNKNOWN))
                if code != 0:
                    return
            self.order, self.role = None, "takes over"
        elif code != 130:
            self.world.ending.wait(self.chance.uniform(0.1, 1))

    def take_over(self):
        code, _ = self.command(
            "replicate", self.store, "--take-over", "--within", "20s", allowed=(0, 64, OUTRUN, FENCED, *UNKNOWN))
        if code == FENCED:
            # It has taken over, and another one right after it.
            check(self.part() == "fenced", f"{self.name} was overtaken, and is a {self.part()}")
            self.world.count("takeovers")
            self.overtaken()
        elif code == 0 or (code in (64, KILLED) and self.part() == "writer"):
            self.role = "writes"
            self.world.count("takeovers")
        else:
            check(code != 64, f"{self.name} does not follow, and does not write")
            self.world.count("takeovers tried again")
            self.world.ending.wait(0.2)

    def part(self):
        """What the store itself says that it is; None if it is not there, or not yet whole."""
        if not self.store.exists():
            return None
        process = self.world.start(
            "replicate", self.store, "--status", "-o", "json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, said = ended(process, ["replicate", self.store, "--status"])
        check(process.returncode in (0, 66), f"the status of {self.store} ended with {process.returncode}: {said}")
        return json.loads(out)["replica"]["part"] if process.returncode == 0 else None

    def write(self):
        if self.pending is None:
            self.make_lines()
        key, each = self.pending
        words = ["write", self.store, self.lines, "--id", key, "-o", "json", "--create", *(["--each", "1"] if each else [])]
        code, _ = self.command(*words, allowed=(0, FENCED))
        if code == FENCED:
            return self.overtaken()
        if code == 0:
            keys = [f"{key}:{line}" for line in range(1, each + 1)] if each else [key]
            self.local += keys
            self.world.count("appends", len(keys))
            self.pending = None
        if self.seals_wanted or self.chance.random() < 0.04:
            code, _ = self.command("seal", self.store, allowed=(0, FENCED))
            self.world.count("seals", code == 0)
        self.ship()
        self.world.ending.wait(self.chance.uniform(0.2, 1))

    def ship(self, within="15s"):
        code, out = self.command(
            "replicate", self.store, self.url(), "--within", within, "-o", "json", allowed=(0, FENCED, *UNKNOWN))
        if code == FENCED:
            self.overtaken()
        elif code == 0:
            said = json.loads(out)
            check(said["lag"] == 0, f"{self.name} has shipped, and lags: {out}")
            # All that is in the store has been shipped, and nothing was appended meanwhile.
            self.replicated.update((key, said["last"]) for key in self.local)
            self.world.count("appends called replicated", len(self.local))
            self.positions.append((said["last"], said["chain"]))
            self.local = []
            self.shipped += 1
            self.seals_wanted = max(0, self.seals_wanted - 1)
            self.world.count("ships")
        elif code in UNKNOWN:
            self.world.count("ships unknown")
        return code

    def make_lines(self):
        """Draws the lines of the next appends: rows of one table, and events with an id of their own."""
        self.number += 1
        key, chance = f"{self.name}-{self.number}", self.chance
        much = self.wants_much or chance.random() < 0.04
        self.wants_much = False
        count = chance.randint(1, 5)
        # Many appends by one command, or one with many events.
        each = chance.choice([0, 20]) if much else 0
        lines = []
        for line in range(1, (20 if much else count) + 1):
            size = chance.choice([20000, 60000]) if much else chance.randint(10, 800)
            text = base64.b64encode(chance.randbytes(size)).decode()
            row = str(chance.randrange(300))
            if chance.random() < 0.6:
                lines.append({"put": f"doc/{row}", "data": {"id": row, "by": key, "group": chance.randrange(7), "text": text[:500]}})
            elif chance.random() < 0.1:
                lines.append({"delete": f"doc/{row}"})
            else:
                lines.append({"append": f"note/{chance.randrange(50)}", "type": "noted", "data": {"by": f"{key}:{line}", "text": text}})
            self.tried.add(f"{key}:{line}" if each else key)
        self.lines.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self.pending = key, len(lines) if each else 0

    def overtaken(self):
        self.role, self.pending, self.local = "overtaken", None, []
        self.world.count("writers refused")

    def rejoin(self):
        code, out = self.command("replicate", self.store, "--rejoin", "-o", "json", allowed=(0, *UNKNOWN))
        if code == 0:
            self.role = "follows"
            self.world.count("rejoined")
            aside = json.loads(out).get("lines")
            if aside:
                own = Path(aside).read_text(encoding="utf-8").count('"sequence":')
                self.world.count("events set aside", own)
        elif code == KILLED and self.part() in (None, "follower"):
            # It is moved aside already, or follows.
            self.role = "follows"
            self.world.count("rejoined")
        else:
            self.world.ending.wait(0.3)
