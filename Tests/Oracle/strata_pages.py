"""The page files of a state, as "Page files" and "Pages and trees" of StateFormat.md describe them: reads whole trees."""

import struct
from collections import namedtuple

from strata_codecs import Malformed, crc32c, lz4_decode, varint

HEADER_LENGTH = 64
HEADER_FORM = struct.Struct("<8sHHI16s28sI")
RECORD_HEAD = struct.Struct("<III")
COMPRESSED = 1
CHILDREN_MAX = 16
KEY_LENGTH_MAX = 0xFFFF
VALUE_LENGTH_MAX = 1 << 31

Place = namedtuple("Place", "file offset length checksum")
Root = namedtuple("Root", "total height place")
Child = namedtuple("Child", "total place low high")
EMPTY = Root(0, 0, None)


def demand(holds, what):
    if not holds:
        raise Malformed(what)


class Bytes:
    """Bytes that are read from the front."""

    def __init__(self, data):
        self.data, self.at = data, 0

    @property
    def rest(self):
        return len(self.data) - self.at

    def varint(self, most=(1 << 64) - 1):
        value, self.at = varint(self.data, self.at, len(self.data))
        demand(value <= most, "a number is too large")
        return value

    def bytes(self, length):
        demand(length <= self.rest, "a field is cut off")
        self.at += length
        return bytes(self.data[self.at - length : self.at])

    def number(self, size):
        return int.from_bytes(self.bytes(size), "little")

    def sized(self):
        return self.bytes(self.varint())

    def text(self):
        try:
            return self.sized().decode("utf-8")
        except UnicodeDecodeError:
            raise Malformed("a text is not UTF-8") from None

    def place(self):
        place = Place(self.varint((1 << 32) - 1), self.varint(), self.varint((1 << 32) - 1), self.number(4))
        demand(place.length > RECORD_HEAD.size, "a place of no page")
        return place

    def root(self):
        total = self.varint((1 << 32) - 1)
        return Root(total, self.number(1), self.place()) if total else EMPTY

    def ends(self, what):
        demand(self.rest == 0, "bytes after %s" % what)


class PageFiles:
    """The page files in a folder of a store, and which of their bytes were read."""

    def __init__(self, store, folder, uuid):
        self.store, self.folder, self.uuid = store, folder, uuid
        self.files = {}
        self.used = {}  # (file, offset): length

    def data(self, number):
        if number not in self.files:
            data = self.store.read("%s/%010d.pages" % (self.folder, number))
            demand(len(data) > 0, "page file %d is missing" % number)
            demand(data[:HEADER_LENGTH] == page_file_header(number, self.uuid), "the header of page file %d" % number)
            self.files[number] = data
        return self.files[number]

    def page(self, place):
        """The bytes of the page at a place. Raises Malformed."""
        data = self.data(place.file)
        record = bytes(data[place.offset : place.offset + place.length])
        demand(len(record) == place.length, "a record is past the end of its file")
        checksum, raw_length, flags = RECORD_HEAD.unpack_from(record)
        demand(checksum == place.checksum == crc32c(record[4:]), "the checksum of a record")
        demand(flags & ~COMPRESSED == 0, "unknown flags of a record")
        stored = record[RECORD_HEAD.size :]
        if flags & COMPRESSED:
            demand(raw_length <= 255 * len(stored) + 64, "a record that cannot hold its raw length")
            demand(len(stored) <= raw_length - raw_length // 8, "a record that is compressed for too little")
            stored = lz4_decode(stored, raw_length)
        demand(len(stored) == raw_length, "the raw length of a record")
        self.used[(place.file, place.offset)] = place.length
        return stored

    def tree(self, root, page_size):
        """The entries of a tree, ascending, as (key, value). Raises Malformed."""
        if not root.total:
            return []
        found = []
        self.walk(root.height, Child(root.total, root.place, None, None), page_size, found, is_root=True)
        demand(len(found) == root.total, "a tree has another number of entries")
        return found

    def walk(self, height, child, page_size, found, is_root=False):
        page = Bytes(self.page(child.place))
        demand(page.number(1) == height, "a page of another height")
        count = page.varint()
        demand(0 < count <= page.rest, "a page without entries, or with too many")
        if height == 0:
            entries = leaf(page, count, page_size)
            demand(len(entries) == child.total, "a leaf with another number of entries")
            demand(child.low is None or child.low <= entries[0][0], "a key below the separator before its page")
            demand(child.high is None or entries[-1][0] < child.high, "a key not below the separator after its page")
            found += entries
        else:
            demand(count > 1 or not is_root, "a root with one child")
            parts = children(page, count, child)
            demand(sum(part.total for part in parts) == child.total, "the numbers of entries do not add up")
            for part in parts:
                self.walk(height - 1, part, page_size, found)

    def saved_tree(self, fields, page_size):
        """The entries of a tree whose root and usage are read from an entry of the directory. Raises Malformed."""
        root = fields.root()
        before, self.used = self.used, {}
        entries = self.tree(root, page_size)
        if root.total:
            usage = {fields.varint(): fields.varint() for _ in range(fields.varint())}
            demand(list(usage) == sorted(usage), "the page files of a tree are out of order")
            demand(usage == self.usage(), "a tree takes other bytes than it says")
        self.used = {**before, **self.used}
        return entries

    def usage(self):
        """{number of a file: bytes of the records that were read}"""
        found = {}
        for (file, _), length in self.used.items():
            found[file] = found.get(file, 0) + length
        return found


def page_file_header(number, uuid):
    form = HEADER_FORM.pack(b"STRATAPG", 1, 0, number, uuid, bytes(28), 0)
    return form[:60] + struct.pack("<I", crc32c(form[:60]))


def children(page, count, parent):
    demand(count <= CHILDREN_MAX, "a page with too many children")
    named = [(page.varint((1 << 32) - 1), page.place()) for _ in range(count)]
    demand(all(total for total, _ in named), "a child without entries")
    separators = [page.sized() for _ in range(count - 1)]
    page.ends("a page")
    demand(all(len(key) <= KEY_LENGTH_MAX for key in separators), "a separator is too long")
    bounds = [parent.low] + separators + [parent.high]
    known = [key for key in bounds if key is not None]
    demand(known == sorted(set(known)), "separators do not ascend")
    return [Child(total, place, bounds[n], bounds[n + 1]) for n, (total, place) in enumerate(named)]


def leaf(page, count, page_size):
    prefix, entries = page.sized(), []
    for _ in range(count):
        key_length, value_length = page.varint(), page.varint()
        key = prefix + page.bytes(key_length)
        entries.append((key, page.bytes(value_length)))
        demand(len(key) <= KEY_LENGTH_MAX and value_length <= VALUE_LENGTH_MAX, "an entry is too long")
    page.ends("a page")
    keys = [key for key, _ in entries]
    demand(keys == sorted(set(keys)), "the keys of a leaf do not ascend")
    area = page_size - 64
    large = [16 + len(key) + len(value) > area // 2 - 8 for key, value in entries]
    if any(large):
        demand(count == 1 and not prefix, "a large entry shares its page")
    else:
        size = -(-len(prefix) // 8) * 8
        size += sum(16 + max(0, len(key) - len(prefix) - 8) + len(value) for key, value in entries)
        demand(size <= area, "a leaf holds more than a page")
    return entries
