#!/usr/bin/env bash
# swift-collections 1.6.0, OrderedSet.difference(from:), with Swift 6.3.1 on Linux.
#
# The difference of two ordered sets with the same six elements has 10 changes where the standard library's difference of
# the same elements as arrays has 4: two elements move, and it removes and inserts three more. The result is correct, as
# its changes turn one set into the other, but it is not the smallest. The documentation promises no smallest one.
#
# Seen:
#     OrderedSet: 10 changes, Array: 4 changes, the first applies: true
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p Sources/Finding
cat > Package.swift <<'SWIFT'
// swift-tools-version: 6.0
import PackageDescription
let package = Package(
  name: "Finding",
  dependencies: [.package(url: "https://github.com/apple/swift-collections", exact: "1.6.0")],
  targets: [
    .executableTarget(
      name: "Finding", dependencies: [.product(name: "OrderedCollections", package: "swift-collections")])
  ])
SWIFT
cat > Sources/Finding/main.swift <<'SWIFT'
import OrderedCollections

let (old, new) = ([0, 1, 2, 3, 4, 5], [1, 2, 4, 5, 0, 3])
let ofSets = OrderedSet(new).difference(from: OrderedSet(old))
let ofArrays = new.difference(from: old)
print(
  "OrderedSet: \(ofSets.count) changes, Array: \(ofArrays.count) changes,",
  "the first applies: \(old.applying(ofSets) == new)")
SWIFT
swift build -q 1>&2
expected='OrderedSet: 10 changes, Array: 4 changes, the first applies: true'
seen=$(timeout 60 .build/debug/Finding)
echo "$seen"
[ "$seen" = "$expected" ] || { echo "it was: $expected" >&2; swift --version >&2; exit 1; }
