#!/usr/bin/env bash
# Foundation of Swift 6.3.1 on Linux: `Predicate`.
#
# A predicate is not Codable, and `localizedStandardContains` does not compile in one: both exist on Apple's systems. A
# predicate that captures an object holds the object, and not the value that it had: the property is read at each
# evaluation, so that one predicate gives two answers for one row.
#
# Seen:
#     is Encodable: false
#     rank 2 above the object's 1: true, after the object is set to 5: false
#     localizedStandardContains: type 'PredicateExpressions' has no member 'build_localizedStandardContains'
set -euo pipefail
swiftc --version 2>&1 | grep -q 'Swift version 6\.3\.1 ' || { echo "this is of Swift 6.3.1: put it on the PATH" >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > predicate.swift <<'SWIFT'
import Foundation

struct Row: Sendable { var rank: Int }

final class Limit: Codable, @unchecked Sendable { var value = 1 }

func above(_ limit: Limit) -> Predicate<Row> { #Predicate<Row> { $0.rank > limit.value } }

let limit = Limit()
let predicate = above(limit)
print("is Encodable:", (predicate as Any) is any Encodable)
let before = try predicate.evaluate(Row(rank: 2))
limit.value = 5
print(
  "rank 2 above the object's 1: \(before),",
  "after the object is set to 5: \(try predicate.evaluate(Row(rank: 2)))")
SWIFT
cat > contains.swift <<'SWIFT'
import Foundation

struct Row { var title: String }

let predicate = #Predicate<Row> { $0.title.localizedStandardContains("x") }
SWIFT
swiftc predicate.swift -o predicate 1>&2
seen=$(timeout 60 ./predicate)
problem=compiles
swiftc -typecheck contains.swift > contains.log 2>&1 || problem=$(sed -n 's/.*error: //p' contains.log | head -n 1)
seen="$seen
localizedStandardContains: $problem"
expected="is Encodable: false
rank 2 above the object's 1: true, after the object is set to 5: false
localizedStandardContains: type 'PredicateExpressions' has no member 'build_localizedStandardContains'"
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; swift --version >&2; exit 1; }
