"""Whole stores as text: what is kept in the repository, readable and in few bytes.

    # What the store is, in a line or more.
    FILE log/00000000000000000001.seg 4696
    00000000  53 54 52 41 54 41 53 47 ...

A line of hex begins with its offset; every byte of a file that no line says is zero.
"""


def to_text(what, files):
    lines = ["# " + line for line in what.splitlines()]
    for path, data in sorted(files.items()):
        lines.append("FILE %s %d" % (path, len(data)))
        for at in range(0, len(data), 16):
            part = data[at : at + 16]
            if any(part):
                lines.append("%08x  %s" % (at, part.hex(" ")))
    return "\n".join(lines) + "\n"


def from_text(text):
    """(what it is, {path: bytes})"""
    what, files, data = [], {}, None
    for line in text.splitlines():
        if line.startswith("# "):
            what.append(line[2:])
        elif line.startswith("FILE "):
            _, path, size = line.split(" ")
            data = files[path] = bytearray(int(size))
        elif line:
            at, _, digits = line.partition("  ")
            part = bytes.fromhex(digits)
            if int(at, 16) + len(part) > len(data):
                raise ValueError("a line behind the end of its file: " + line)
            data[int(at, 16) : int(at, 16) + len(part)] = part
    return "\n".join(what), {path: bytes(data) for path, data in files.items()}


def edited(files, edits):
    """The files after some edits: [kind, path, …], as the answers name them."""
    files = dict(files)
    for kind, path, *rest in edits:
        data = files.get(path, b"")
        if kind == "flip":
            at = rest[0] // 8
            files[path] = data[:at] + bytes([data[at] ^ 1 << rest[0] % 8]) + data[at + 1 :]
        elif kind == "cut":
            files[path] = data[: rest[0]]
        elif kind == "zero":
            files[path] = data[: rest[0]] + bytes(rest[1] - rest[0]) + data[rest[1] :]
        elif kind == "append":
            files[path] = data + bytes.fromhex(rest[0])
        elif kind == "put":
            files[path] = bytes.fromhex(rest[0])
        elif kind == "remove":
            del files[path]
        elif kind == "copy":
            files[rest[0]] = data
        elif kind == "swap":
            files[path], files[rest[0]] = files[rest[0]], data
        else:
            raise ValueError("no such edit: " + kind)
    return files
