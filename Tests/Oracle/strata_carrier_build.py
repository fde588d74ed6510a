"""The building blocks of hand-made carriers: objects, manifests and notes of members, written from FORMAT.md alone.

Segments are those of `strata_build`. As there, keyword arguments override fields before the checksums are computed.
"""

import json
import os
import re
import struct
import subprocess
import sys

import strata_build as build
from strata_codecs import crc32c

A, B = bytes(range(0xA0, 0xB0)), bytes(range(0xB0, 0xC0))
HERE = os.path.dirname(os.path.abspath(__file__))
STORE, OTHER_STORE = build.UUID, build.FOREIGN_UUID
KIND_EVENTS, KIND_TAKEOVER = 1, 2
WRITER, FOLLOWER = 1, 2


# --- The page -------------------------------------------------------------------------------------


def page():
    with open(os.path.join(HERE, "..", "..", "FORMAT.md"), encoding="utf-8") as file:
        return file.read()


def rows_of(title):
    """The offsets, sizes and names of a table of FORMAT.md."""
    found = re.search(r"^\| offset \| size \| %s \|\n\|--:\|--:\|---\|\n((?:\|.*\n)+)" % title, page(), re.MULTILINE)
    rows = re.findall(r"^\| (\d+) \| (\d*) ?\| (.*) \|$", found.group(1), re.MULTILINE)
    return [(int(at), int(size or 0), name) for at, size, name in rows]


def rows_in(form):
    """The offsets and sizes of a struct."""
    sizes = [struct.calcsize("<" + code) for code in re.findall(r"\d+s|[A-Za-z]", form.format[1:])]
    return [(sum(sizes[:index]), size) for index, size in enumerate(sizes)]


# --- Objects --------------------------------------------------------------------------------------


def event(revision, stream="ticket/1", payload=b"\x01\x02\x03"):
    return build.Event(stream, revision, "note", payload, build.BYTES)


def append(*events, second=0, **options):
    return build.Append(build.BEGINNING + second * build.SECOND, list(events), **options)


class Shipped:
    """A carrier that grows object by object. Keyword arguments override fields before the checksums."""

    def __init__(self, writer=A):
        self.files, self.writer = {}, writer
        self.number, self.sequence, self.appends, self.chain, self.time = 1, 1, 0, 0, build.NO_TIME

    def events(self, *appends, codec=build.STORED, **fields):
        chain, sequence = self.chain, self.sequence
        for append in appends:
            chain = build.chain_through(append, sequence, chain)
            sequence += len(append.events)
        raw = b"".join(append.encoded() for append in appends)
        ends = dict(events=sequence - self.sequence, appends=len(appends), first_time=appends[0].time)
        ends.update(last_time=appends[-1].time, chain_after=chain)
        self.put(KIND_EVENTS, raw, codec, dict(ends, **fields))
        self.sequence, self.chain, self.time = sequence, chain, appends[-1].time
        self.appends += len(appends)
        return self

    def takeover(self, writer, **fields):
        self.writer = writer
        ends = dict(events=0, appends=0, first_time=self.time, last_time=self.time, chain_after=self.chain)
        return self.put(KIND_TAKEOVER, b"", build.STORED, dict(ends, **fields))

    def put(self, kind, raw, codec, fields):
        length, codec_said = fields.get("length", 128), fields.pop("said", codec)
        stored = fields.pop("stored_as", None) or (build.lz4(raw) if codec == build.LZ4 else raw)
        values = dict(
            magic=b"STRW", length=128, kind=kind, codec=codec_said, flags=0, crc=0, stored=len(stored), raw=len(raw),
            payload_crc=crc32c(stored), events=0, appends=0, reserved=0, uuid=STORE, writer=self.writer,
            number=self.number, first=self.sequence, appends_before=self.appends, first_time=0, last_time=0,
            chain_before=self.chain, chain_after=0,
        )  # fmt: skip
        values.update(fields)
        header = struct.pack("<4sHBBIIIIIIII16s16sQQQqqQQ", *values.values())
        header += b"\x77" * (length - len(header))
        header = header[:12] + struct.pack("<I", crc32c(header)) + header[16:]
        self.files["log/%020d" % self.number] = header + stored
        self.number += 1
        return self

# --- Manifests ------------------------------------------------------------------------------------


def manifest(segments, number=1, first_object=1, edit=None, **fields):
    """The bytes of a manifest of (since, segment), whose token is 7; `edit` changes the list of the entries, which are dictionaries."""
    entries = []
    for since, segment in segments:
        said = dict(since=since, first=segment.first, last=segment.sequence - 1, chain=segment.chain)
        said.update(length=segment.end, mark=segment.fields["mark"], revision=segment.revision, token=7)
        entries.append(said)
    if edit:
        edit(entries)
    values = dict(
        magic=b"STRL", version=1, reserved=0, crc=0, count=len(entries), uuid=STORE, writer=A, number=number,
        first_object=first_object, erased_through=0, reserved_2=0,
    )  # fmt: skip
    values.update(fields)
    data = struct.pack("<4sHHII16s16sQQQQ", *values.values())
    data += b"".join(struct.pack("<QQQQQQII", *said.values()) for said in entries)
    return with_checksum(data)


def with_segments(files, segments, **options):
    """The files of a carrier with (since, segment) and their manifest beside its objects."""
    number = options.get("number", 1)
    files = dict(files, **{"manifest/%020d" % before: b"" for before in range(1, number)})
    files["manifest/%020d" % number] = manifest(segments, **options)
    for since, segment in segments:
        files["segments/%020d-%020d-00000007" % (since, segment.first)] = segment.bytes()
    return files


# --- Notes of members -----------------------------------------------------------------------------


def note(part=WRITER, member=A, sequence=0, chain=0, **fields):
    """The bytes of a note."""
    values = dict(
        magic=b"STRM", version=1, part=part, reserved=0, crc=0, reserved_2=0, uuid=STORE, member=member,
        sequence=sequence, chain=chain, erased_through=0, time=build.BEGINNING,
    )  # fmt: skip
    values.update(fields)
    return with_checksum(struct.pack("<4sHBBII16s16sQQQq", *values.values()))


def with_checksum(data):
    """The data with its CRC at byte 8, where it has zeros."""
    return data[:8] + struct.pack("<I", crc32c(data)) + data[12:]


# --- Folders and commands -------------------------------------------------------------------------


def write(files, folder):
    """Writes a carrier into a folder, and returns the folder."""
    os.makedirs(folder)
    for name, data in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
    return folder


def run_reader(*arguments):
    """(exit code, lines, complaint) of the reader's command line."""
    command = [sys.executable, os.path.join(HERE, "strata_reader.py"), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode("utf-8")
