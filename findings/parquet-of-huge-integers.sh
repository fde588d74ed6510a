#!/usr/bin/env bash
# DuckDB 2.0.1: integers that it has exactly and writes to Parquet as doubles.
#
# An integer from 2^63 to 2^64 - 1 among the lines of a JSON file makes its column a HUGEINT, which has all values
# exactly. A sum of integers is a HUGEINT as well, however small. Parquet has no such type, and COPY writes a DOUBLE
# without a word: each value of the column is rounded to 53 bits, also those that would fit into 64. A cast to
# DECIMAL(38, 0) keeps them.
#
# Seen:
#     number in JSON lines: HUGEINT 9223372036854775808 9007199254740993
#     number in Parquet: DOUBLE 9223372036854775808 9007199254740992
#     sum of 9007199254740992 and 1: HUGEINT 9007199254740993
#     sum in Parquet: DOUBLE 9007199254740992
#     number as DECIMAL(38, 0) in Parquet: DECIMAL(38,0) 9223372036854775808 9007199254740993
set -euo pipefail
python3 -m pip --version > /dev/null || { echo "this needs Python 3 with pip" >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install --quiet --disable-pip-version-check --no-compile --target packages \
  duckdb==2.0.1 \
  > pip.log 2>&1 || { cat pip.log >&2; exit 69; }
printf '%s\n' '{"id":1,"number":9223372036854775808}' '{"id":2,"number":9007199254740993}' > lines.jsonl
cat > finding.py <<'PYTHON'
import duckdb


def say(what, column, source):
    rows = duckdb.sql(f"SELECT typeof({column}), {column} FROM {source}").fetchall()
    print(f"{what}:", rows[0][0], *(int(value) for _, value in rows))


def write(query, file):
    duckdb.sql(f"COPY ({query}) TO '{file}' (FORMAT parquet)")


lines = "(FROM 'lines.jsonl' ORDER BY id)"
say("number in JSON lines", "number", lines)
write(f"FROM {lines}", "lines.parquet")
say("number in Parquet", "number", "'lines.parquet'")
total = "(SELECT sum(value) AS total FROM (VALUES (9007199254740992), (1)) AS two(value))"
say("sum of 9007199254740992 and 1", "total", total)
write(f"FROM {total}", "total.parquet")
say("sum in Parquet", "total", "'total.parquet'")
write(f"SELECT number::DECIMAL(38, 0) AS number FROM {lines}", "decimal.parquet")
say("number as DECIMAL(38, 0) in Parquet", "number", "'decimal.parquet'")
PYTHON
expected='number in JSON lines: HUGEINT 9223372036854775808 9007199254740993
number in Parquet: DOUBLE 9223372036854775808 9007199254740992
sum of 9007199254740992 and 1: HUGEINT 9007199254740993
sum in Parquet: DOUBLE 9007199254740992
number as DECIMAL(38, 0) in Parquet: DECIMAL(38,0) 9223372036854775808 9007199254740993'
seen=$(PYTHONPATH=packages timeout 60 python3 -S finding.py)
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; python3 --version >&2; exit 1; }
