"""The files of a carrier, in a folder or in memory, and their names, by "A carrier in a folder" of FORMAT.md."""

import os
import re
import stat

NUMBER_NAME = re.compile(r"[0-9]{20}", re.ASCII)
NUMBER_MAX = (1 << 64) - 1


class Refused(Exception):
    """Raised for a file that is not as FORMAT.md says: the class of what is wrong, and the file's name."""

    def __init__(self, kind, name, what):
        super().__init__("%s: %s: %s" % (name, kind, what))
        self.kind, self.name, self.what = kind, name, what


def object_name(number):
    return "log/%020d" % number


def manifest_name(number):
    return "manifest/%020d" % number


def segment_name(since, first, token):
    return "segments/%020d-%020d-%08x" % (since, first, token)


def uuid_text(data):
    digits = data.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


class FolderCarrier:
    """A carrier in a folder. It is read as if nobody changed it meanwhile."""

    def __init__(self, path):
        if not os.path.isdir(path):
            raise FileNotFoundError("no folder at %s" % path)
        self.path = path

    def names_in(self, folder):
        try:
            return sorted(os.listdir(os.path.join(self.path, folder)))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def read(self, name, limit=None):
        """A file's bytes, at most `limit`."""
        path = os.path.join(self.path, name)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise Refused("corrupt", name, "it is not a regular file")
            with open(path, "rb") as file:
                return file.read(limit)
        except FileNotFoundError:
            raise Refused("missing", name, "there is no such file") from None


class MemoryCarrier:
    """A carrier in memory: {path relative to the carrier: bytes}."""

    def __init__(self, files):
        self.files = files

    def names_in(self, folder):
        start = folder + "/"
        return sorted(path[len(start) :] for path in self.files if path.startswith(start))

    def read(self, name, limit=None):
        if name not in self.files:
            raise Refused("missing", name, "there is no such file")
        return self.files[name][:limit]


def numbers_in(carrier, folder):
    """The numbers that have a name in `log` or in `manifest`, ascending."""
    found = sorted(int(name) for name in carrier.names_in(folder) if NUMBER_NAME.fullmatch(name))
    return [number for number in found if 1 <= number <= NUMBER_MAX]
