"""What has to be true of the copies of a store, and of the place that holds them, once everything is quiet."""

import json
import random
import re
import shutil
import subprocess

from jetstream_servers import check, say
from place_machines import ended

RESTORES = 20
CHANGED_BYTES = 12


def events(world, store):
    """The events of a store, without what differs from copy to copy, and the last line."""
    found = [json.loads(line) for line in world.run("export", store, "-", "--events").splitlines()]
    check(found and found[-1].get("strata") == "end", f"the export of {store} has no end")
    for event in found[1:-1]:
        # Is said where a block ends.
        event.pop("chain", None)
    return found[1:-1], found[-1]


def compare(world, machines, writer):
    """All copies are equal, and have what was called replicated where it was."""
    url, run = world.place.url, world.run
    stores = [machine.store for machine in machines]
    stores += [path for path in (world.folder / "stores").glob("newcomer?") if path.is_dir()]
    stores.append(world.folder / "stores" / "at-the-end")
    for store in stores:
        if store != writer.store:
            run("replicate", url, store)
    status = json.loads(run("replicate", url, "--status", "-o", "json"))
    wanted, end = events(world, writer.store)
    check((len(wanted), end["chain"]) == (status["last"], status["chain"]), f"the place ends otherwise: {status}, {end}")
    table = run("at", writer.store, "-o", "json", "--table", "doc", "--section-by", "group", "--sort", "by")
    for store in stores:
        found, last = events(world, store)
        differing = next((pair for pair in zip(wanted, found) if pair[0] != pair[1]), None)
        check(not differing, f"{store} and {writer.store} differ: {differing}")
        check(last == end, f"{store} ends with {last}, and {writer.store} with {end}")
        check(run("at", store, "-o", "json", "--table", "doc", "--section-by", "group", "--sort", "by") == table,
              f"the lists of {store} and {writer.store} differ")
        run("verify", store, "--deep")
        run("verify", store, "--against", url)
        part = json.loads(run("replicate", store, "--status", "-o", "json"))["replica"]["part"]
        check(part == ("writer" if store == writer.store else "follower"), f"{store} is a {part}")

    # Each append once, and each machine's in the order in which it made them.
    ends = {}
    for event in wanted:
        if "append" in event:
            key = event.get("id")
            check(key and key not in ends, f"the append {key} is there twice, or has no id: {event['sequence']}")
            ends[key] = event["sequence"] + event["append"] - 1
    for machine in machines:
        of_it = [[int(part) for part in re.findall(r"\d+", key.removeprefix(machine.name))]
                 for key in ends if key.startswith(f"{machine.name}-")]
        check(of_it == sorted(of_it), f"the appends of {machine.name} are in another order")
        missing = [(key, last) for key, last in machine.replicated.items() if ends.get(key, last + 1) > last]
        check(not missing, f"{machine.name}: called replicated, and not there: {missing[:5]}")
    tried = set().union(*(machine.tried for machine in machines))
    check(set(ends) <= tried, f"nobody has made these appends: {sorted(set(ends) - tried)[:5]}")
    # Every position that was called replicated is one of this store, with its chain.
    positions = sorted({position for machine in machines for position in machine.positions})
    last = dict(positions)
    check(len(last) == len(positions), "two machines were told other chains of one position")
    for sequence, chain in random.Random(world.seed).sample(positions, min(25, len(positions))):
        run("verify", writer.store, "--quick", "--expect-chain", f"{sequence}@{chain}")
    say(f"{world.place.kind}: {len(stores)} copies have the same {len(ends)} appends of {len(wanted)} events, and all of "
        f"the {sum(len(machine.replicated) for machine in machines)} that were called replicated")
    return wanted, ends


def restore(world, store, wanted, ends):
    """Restores at points of the log are the store as it was there."""
    chance, url = random.Random(f"{world.seed} restores"), world.place.url
    points = sorted(ends.values())
    chosen = {points[0], points[-1], *chance.sample(points[1:-1], min(RESTORES - 2, len(points[1:-1])))}
    new, refused = world.folder / "stores" / "restored", 0
    for number, point in enumerate(sorted(chosen)):
        # By time now and then: an append has the time of its last event, and no other one has it.
        time_of = wanted[point - 1]["time"]
        is_time = number % 5 == 4 and (point == len(wanted) or wanted[point]["time"] > time_of)
        world.run("replicate", url, new, "--until", time_of if is_time else point)
        found, _ = events(world, new)
        check(found == wanted[:point], f"the restore at {point} has other events")
        lists = [json.loads(world.run("at", each, *where, "-o", "json", "--table", "doc"))
                 for each, where in ((new, []), (store, [point]))] if any(
                     event["stream"].startswith("doc/") for event in found) else [0, 0]
        check(lists[0] == lists[1], f"the list of the restore at {point} is not that of the store there")
        world.run("verify", new)
        shutil.rmtree(new)
    inside = sorted(set(range(1, len(wanted) + 1)) - set(points))
    for point in chance.sample(inside, min(5, len(inside))):
        world.run("replicate", url, new, "--until", point, code=64)
        check(not new.exists(), f"a restore at {point}, inside an append, has left a folder")
        refused += 1
    say(f"{world.place.kind}: {len(chosen)} restores are the store at their points, and {refused} inside an append are refused")
    world.count("restores", len(chosen))


def change_bytes(world, store):
    """A changed byte is named with its object, and never data."""
    chance, place = random.Random(f"{world.seed} bytes"), world.place
    names = place.names()
    for number in range(CHANGED_BYTES if names else 0):
        name, bit = chance.choice(names), 1 << chance.randrange(8)

        def change(data):
            index = chance.randrange(len(data))
            return data[:index] + bytes([data[index] ^ bit]) + data[index + 1:]

        new = world.folder / "stores" / f"changed{number}"
        with place.changed(name, change) as url:
            said = world.run("verify", store, "--against", url, code=65)
            check(name in said, f"a changed byte of {name} is not named:\n{said}")
            process = world.start("replicate", url, new, "--within", "20s", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            out, said = ended(process, ["replicate", url, new])
            # A follower that begins with segments does not read the objects that say the same.
            check(process.returncode in (0, 65), f"a follower of a changed {name} ended with {process.returncode}: {said}")
            if process.returncode == 65:
                check(name in said, f"a changed byte of {name} is not named:\n{said}")
            else:
                check(name.startswith("log/"), f"a follower has not seen that {name} is changed:\n{out}")
                world.run("compare", store, new, "--exact")
        shutil.rmtree(new, ignore_errors=True)
    world.run("verify", store, "--against", place.url)
    if names:
        say(f"{place.kind}: {CHANGED_BYTES} changed bytes are named, of {len(names)} objects")
