"""A second reader of Strata stores, written from FORMAT.md alone, to check the first one.

    strata_reader.py log STORE           prints the events up to X, as `logreplay log -o jsonl` does
    strata_reader.py verify STORE        prints the findings of a check, as `logreplay verify -o json` does
    strata_reader.py verify-many         reads store paths from standard input, prints one verify object per line
    strata_reader.py indexes STORE       prints what each index file holds, and how it differs from the log
    strata_reader.py states STORE        prints what each state holds, and how it differs from the log
    strata_reader.py histories STORE     prints what each history holds, and how it differs from the log
    strata_reader.py history-keys STORE FOLDER
                                         prints the keys in the history of that folder, as they were after each event
    strata_reader.py carrier FOLDER      prints what the manifest, each segment and each object of a carrier in a folder
                                         hold, the end of all, and the files that count no more or not yet
    strata_reader.py members FOLDER      prints the notes of a carrier's members, and how they differ from its log
    strata_reader.py replaced BEFORE NOW prints how many objects of a carrier were replaced since a copy of its folder
    strata_reader.py replica STORE       prints what REPLICA says: the part of the store among its copies
    strata_reader.py payloads STORE DIR  writes LZ4 payloads as files for `lz4 -dc`, with the expected bytes
    strata_reader.py annotate STORE      prints HEAD and the segments of a small store as annotated hex
    strata_reader.py rebuild FILE DIR    writes the files of such hex, which may be surrounded by other text

`log` and `verify` exit with 0 for a clean store, 2 for a torn one, 65 for any other finding, and 66
if there is no store. `carrier`, `replaced` and `replica` exit with 65 at the first file that is not as FORMAT.md says,
and name it; `members` does so for a carrier, and once all notes are listed if one differs. The reader never writes to
a store or to a carrier.
"""

import os
import struct
import sys

from strata_carrier import CarrierLog, FolderCarrier, Refused, count_replaced
from strata_carrier_members import members_of
from strata_check import Check, exit_code, verify
from strata_codecs import Malformed
from strata_history import compare as compare_histories, keys_of as keys_of_history
from strata_index import compare
from strata_json import as_line, event_object, verify_object
from strata_payloads import Unsupported, raw_payload
from strata_replica import NAME as REPLICA, replica_object, replica_of
from strata_segment import EVENTS, FOOTER, RECOVERY
from strata_state import compare as compare_states
from strata_store import FolderStore


def command_log(path):
    def show(block, file, events):
        for event in events:
            sys.stdout.write(as_line(event_object(event)) + "\n")

    check = Check(FolderStore(path), show, stops_at_damage=True).run()
    for f in check.findings:
        sys.stderr.write("%s: %s at %d, sequences %d to %d\n" % (f.file, f.kind, f.offset, f.first, f.last))
    return exit_code(check.findings)


def command_verify(path):
    check = verify(FolderStore(path))
    print(as_line(verify_object(check)))
    return exit_code(check.findings)


def command_verify_many():
    for line in sys.stdin:
        path = line.rstrip("\n")
        try:
            answer = verify_object(verify(FolderStore(path)))
        except OSError as error:
            answer = {"schema": 1, "error": {"code": 66, "what": str(error), "where": path}}
        except Exception as error:  # A defect of this reader: reported, so that the other stores are still checked.
            answer = {"schema": 1, "error": {"code": 70, "what": repr(error), "where": path}}
        sys.stdout.write(as_line(answer) + "\n")
        sys.stdout.flush()
    return 0


def command_indexes(path):
    """Prints one line for each index file; exit code 65 if one differs."""
    store, code = FolderStore(path), 0
    for answer in compare(store, os.listdir(os.path.join(path, "derived"))):
        code = code if answer["differs"] is None else 65
        sys.stdout.write(as_line(answer) + "\n")
    return code


def command_states(path):
    """Prints one line for each slot of each state; exit code 65 if one that counts differs."""
    code = 0
    for answer in compare_states(FolderStore(path)):
        code = 65 if answer["isNewest"] and answer["differs"] is not None else code
        sys.stdout.write(as_line(answer) + "\n")
    return code


def command_history_keys(path, folder):
    """One line for each owner and event."""
    for answer in keys_of_history(FolderStore(path), folder):
        sys.stdout.write(as_line(answer) + "\n")
    return 0


def command_histories(path):
    """Prints one line for each history; exit code 65 if one differs."""
    code = 0
    for answer in compare_histories(FolderStore(path)):
        code = code if answer["differs"] is None else 65
        sys.stdout.write(as_line(answer) + "\n")
    return code


def refuse(what, where):
    sys.stderr.write(as_line({"schema": 1, "error": {"code": 65, "what": what, "where": where}}) + "\n")
    return 65


def command_carrier(path):
    """Prints one line for the manifest, each segment and each object, one with the end, and one for each file left."""
    log = CarrierLog(FolderCarrier(path), lambda found: sys.stdout.write(as_line(found.line()) + "\n"))
    try:
        log.run()
        for line in [log.line(), *log.left()]:
            print(as_line(line))
    except Refused as error:
        sys.stdout.flush()
        return refuse("%s: %s" % (error.kind, error.what), error.name)
    return 0


def command_members(path):
    """Prints one line for each note; exit code 65 if one differs."""
    code = 0
    try:
        for answer in members_of(CarrierLog(FolderCarrier(path)).run()):
            code = code if answer["differs"] is None else 65
            sys.stdout.write(as_line(answer) + "\n")
    except Refused as error:
        return refuse("%s: %s" % (error.kind, error.what), error.name)
    return code


def command_replaced(before, now):
    before, now = FolderCarrier(before), FolderCarrier(now)
    try:
        CarrierLog(before).run()
        CarrierLog(now).run()
        print(as_line({"schema": 1, "replaced": count_replaced(before, now)}))
    except Refused as error:
        return refuse("%s: %s" % (error.kind, error.what), error.name)
    return 0


def command_replica(path):
    try:
        print(as_line(replica_object(replica_of(FolderStore(path)))))
    except Malformed as error:
        return refuse("corrupt: %s" % error, REPLICA)
    except Unsupported as error:
        return refuse("unsupported: %s" % error, REPLICA)
    return 0


def command_payloads(path, folder):
    """Writes NAME-OFFSET.lz4, a legacy LZ4 file, and NAME-OFFSET.raw for each LZ4 block."""
    os.makedirs(folder, exist_ok=True)

    def keep(block, file, events):
        if block.codec != 1 or block.kind not in (EVENTS, RECOVERY, FOOTER):
            return
        name = os.path.join(folder, "%020d-%d" % (file.first, block.own_offset))
        start = block.own_offset + block.length
        with open(name + ".lz4", "wb") as out:
            out.write(b"\x02\x21\x4c\x18" + struct.pack("<I", block.stored) + file.data[start : start + block.stored])
        with open(name + ".raw", "wb") as out:
            out.write(raw_payload(file.data, block))
        print(name)

    return exit_code(Check(FolderStore(path), keep).run().findings)


def command_annotate(path):
    from strata_annotate import annotate

    for line in annotate(FolderStore(path)):
        sys.stdout.write(line + "\n")
    return 0


def command_rebuild(path, folder):
    from strata_annotate import BadSection, rebuild

    try:
        with open(path, encoding="utf-8") as file:
            print("\n".join(rebuild(file, folder)))
    except (BadSection, UnicodeDecodeError) as error:
        sys.stderr.write(as_line({"schema": 1, "error": {"code": 65, "what": str(error), "where": path}}) + "\n")
        return 65
    return 0


def main(arguments):
    commands = {
        "log": (command_log, 1),
        "verify": (command_verify, 1),
        "verify-many": (command_verify_many, 0),
        "indexes": (command_indexes, 1),
        "states": (command_states, 1),
        "histories": (command_histories, 1),
        "history-keys": (command_history_keys, 2),
        "carrier": (command_carrier, 1),
        "members": (command_members, 1),
        "replaced": (command_replaced, 2),
        "replica": (command_replica, 1),
        "payloads": (command_payloads, 2),
        "annotate": (command_annotate, 1),
        "rebuild": (command_rebuild, 2),
    }
    command, count = commands.get(arguments[0] if arguments else "", (None, 0))
    if command is None or len(arguments) != count + 1:
        sys.stderr.write(__doc__)
        return 64
    try:
        return command(*arguments[1:])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        sys.stderr.write(as_line({"schema": 1, "error": {"code": 66, "what": str(error)}}) + "\n")
        return 66
    except Exception as error:  # A defect of this reader must not look like the result of a check.
        sys.stderr.write(as_line({"schema": 1, "error": {"code": 70, "what": repr(error)}}) + "\n")
        return 70


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
