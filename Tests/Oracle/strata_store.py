"""The files of a store, in a folder or in memory, and the content of HEAD."""

import mmap
import os
import re
import stat
import struct
from collections import namedtuple

from strata_codecs import crc32c

SLOT_LENGTH = 512
SLOT_OFFSETS = (0, 4096)
MAPPED_FROM = 64 << 20

SEGMENT_NAME = re.compile(r"([0-9]{20})\.seg", re.ASCII)
SEQUENCE_MAX = (1 << 64) - 1


# --- Files ----------------------------------------------------------------------------------------


class FolderStore:
    """A store in a folder."""

    def __init__(self, path):
        if not os.path.isdir(path):
            raise FileNotFoundError("no folder at %s" % path)
        self.path = path

    def names_in_log(self):
        try:
            return os.listdir(os.path.join(self.path, "log"))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def names_in(self, folder):
        """The names in a folder of the store; none if there is no such folder."""
        try:
            return os.listdir(os.path.join(self.path, folder))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def was_begun(self):
        """Whether the creation of a store was begun here."""
        return self.has("LOCK") or os.path.isdir(os.path.join(self.path, "log"))

    def has(self, name):
        return os.path.exists(os.path.join(self.path, name))

    def read(self, name, limit=None):
        """A file's bytes, at most `limit`; empty if it is not a regular file."""
        path = os.path.join(self.path, name)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                return b""
        except (FileNotFoundError, NotADirectoryError):
            return b""
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if limit is not None:
                return file.read(limit)
            if size >= MAPPED_FROM:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            return file.read(MAPPED_FROM)


class MemoryStore:
    """A store in memory: {path relative to the store: bytes}."""

    def __init__(self, files):
        self.files = files

    def names_in_log(self):
        return [path[4:] for path in self.files if path.startswith("log/")]

    def names_in(self, folder):
        start = folder + "/"
        return sorted({path[len(start) :].split("/")[0] for path in self.files if path.startswith(start)})

    def was_begun(self):
        return any(path == "LOCK" or path.startswith("log/") for path in self.files)

    def has(self, name):
        return name in self.files

    def read(self, name, limit=None):
        return self.files.get(name, b"")[:limit]


def segment_path(first):
    return "log/%020d.seg" % first


def segments_of(store):
    """The first sequences of a store's segments, from their names, ascending."""
    found = filter(None, map(SEGMENT_NAME.fullmatch, store.names_in_log()))
    return sorted(first for first in (int(match.group(1)) for match in found) if 1 <= first <= SEQUENCE_MAX)


def only_zeros(data, start, end):
    """Whether all bytes of a range are zero, without copying a large file at once."""
    for at in range(start, end, 1 << 20):
        if data[at : min(end, at + (1 << 20))].strip(b"\0"):
            return False
    return True


# --- HEAD -----------------------------------------------------------------------------------------

Head = namedtuple(
    "Head",
    "magic major minor length uuid generation segment epoch flags durability visible_offset "
    "visible_sequence visible_chain durable_offset durable_sequence durable_chain time first",
)
HEAD_FORM = struct.Struct("<8sHHI16sQQQIIQQQQQQqQ")


def read_head(store):
    """The slot that counts, or None if no slot verifies."""
    data = store.read("HEAD", SLOT_OFFSETS[1] + SLOT_LENGTH)
    newest = None
    for at in SLOT_OFFSETS:
        head = read_slot(data, at)
        if head and (newest is None or head.generation > newest.generation):
            newest = head
    return newest


def read_slot(data, at):
    """The slot at an offset of HEAD, or None if it does not verify."""
    slot = data[at : at + SLOT_LENGTH]
    if len(slot) < SLOT_LENGTH:
        return None
    head = Head._make(HEAD_FORM.unpack_from(slot))
    if head.magic != b"STRATAHD" or head.major != 1 or head.length != SLOT_LENGTH:
        return None
    return head if int.from_bytes(slot[508:], "little") == crc32c(slot[:508]) else None
