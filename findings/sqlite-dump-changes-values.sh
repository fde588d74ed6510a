#!/usr/bin/env bash
# The program sqlite3 3.40.1 (Debian 12): what .dump, -json and -csv do to values that a database holds.
#
# `.dump` and `-json` write a text up to its first NUL. `.dump` writes doubles with 20 digits, and SQLite reads some
# of them as a neighbour: the least double comes back as 0, and of those below 1e-290 one in twelve is changed in its
# last bit. `-csv` writes 15 digits, too few for a clock in seconds with microseconds, where `-json` writes 20. Each
# exits with 0. VACUUM INTO copies the file and keeps everything.
#
# Seen, texts and doubles as the hexadecimal digits of their bytes:
#     in the database: 610062, 0000000000000001, 803468B6B610A9F7
#     after .dump: 61, 0000000000000000, 803468B6B610A9F6
#     after VACUUM INTO: 610062, 0000000000000001, 803468B6B610A9F7
#     -json: [{"name":"a","clock":1700392302.9094061851}]
#     -csv: a,1700392302.90941
set -euo pipefail
command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || { echo "this needs Debian 12" >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
{ apt-get download sqlite3=3.40.1-2+deb12u2 libsqlite3-0=3.40.1-2+deb12u2 &&
  for package in *.deb; do dpkg-deb --extract "$package" packages; done; } \
  > apt.log 2>&1 || { cat apt.log >&2; exit 69; }
libraries=$(echo packages/usr/lib/*/libsqlite3.so.0)
sqlite3() { LD_LIBRARY_PATH=${libraries%/*} packages/usr/bin/sqlite3 -init /dev/null "$@"; }
values() {
  sqlite3 -bail -separator ', ' "$1" \
    'SELECT hex(name), hex(ieee754_to_blob(least)), hex(ieee754_to_blob(small)) FROM item'
}
sqlite3 -bail from.db "CREATE TABLE item (name TEXT, least REAL, small REAL, clock REAL);
  INSERT INTO item VALUES ('a' || char(0) || 'b', 5e-324, -1.1352904205810249e-307, 1700392302.9094062)"
sqlite3 -bail from.db .dump > dump.sql
sqlite3 -bail dumped.db < dump.sql
sqlite3 -bail from.db "VACUUM INTO 'vacuumed.db'"
seen="in the database: $(values from.db)
after .dump: $(values dumped.db)
after VACUUM INTO: $(values vacuumed.db)
-json: $(sqlite3 -bail -json from.db 'SELECT name, clock FROM item')
-csv: $(sqlite3 -bail -csv from.db 'SELECT name, clock FROM item' | tr -d '\r')"
expected='in the database: 610062, 0000000000000001, 803468B6B610A9F7
after .dump: 61, 0000000000000000, 803468B6B610A9F6
after VACUUM INTO: 610062, 0000000000000001, 803468B6B610A9F7
-json: [{"name":"a","clock":1700392302.9094061851}]
-csv: a,1700392302.90941'
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; sqlite3 -version >&2; exit 1; }
