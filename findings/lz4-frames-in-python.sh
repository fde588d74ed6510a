#!/usr/bin/env bash
# lz4 4.4.5 for Python: files of more than one frame.
#
# The format lets frames follow each other, and frames to be skipped may be anywhere among them; `cat a.lz4 b.lz4`
# makes such a file. `lz4.frame.decompress` returns the content of the first frame as if it were all, and nothing at
# all if the first is one to be skipped. It does not fail, though it refuses a frame that is cut. `lz4.frame.open`
# reads every frame.
#
# Seen:
#     two frames: decompress b'one\n', open b'one\ntwo\n'
#     a skippable frame and two: decompress b'', open b'one\ntwo\n'
#     a frame that is cut: decompress RuntimeError, open EOFError
set -euo pipefail
python3 -m pip --version > /dev/null || { echo "this needs Python 3 with pip" >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --no-compile --target packages \
  lz4==4.4.5 \
  > pip.log 2>&1 || { cat pip.log >&2; exit 69; }
cat > finding.py <<'PYTHON'
import io
import struct

import lz4.frame

one, two = lz4.frame.compress(b"one\n"), lz4.frame.compress(b"two\n")
skippable = struct.pack("<II", 0x184D2A50, 4) + b"note"


def tried(call):
    try:
        return call()
    except (EOFError, RuntimeError) as error:
        return type(error).__name__


for what, data in [("two frames", one + two), ("a skippable frame and two", skippable + one + two),
                   ("a frame that is cut", one[:-5])]:
    whole = tried(lambda: lz4.frame.decompress(data))
    opened = tried(lambda: lz4.frame.open(io.BytesIO(data)).read())
    print(f"{what}: decompress {whole}, open {opened}")
PYTHON
expected="two frames: decompress b'one\\n', open b'one\\ntwo\\n'
a skippable frame and two: decompress b'', open b'one\\ntwo\\n'
a frame that is cut: decompress RuntimeError, open EOFError"
seen=$(PYTHONPATH=packages timeout 60 python3 -S finding.py)
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; python3 --version >&2; exit 1; }
