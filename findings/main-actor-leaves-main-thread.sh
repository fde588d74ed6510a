#!/usr/bin/env bash
# Swift 6.3.1 on Linux: the thread of the main actor in a program with an asynchronous `main`.
#
# `main` begins on the main thread, the first of the process. After its first await, the main actor runs on a thread of
# the dispatch library's, and the main thread runs nothing more. So "on the main actor" and "on the main thread" differ,
# and a check like `Thread.isMainThread` fails on the main actor.
#
# Seen:
#     before the first await: main thread true
#     after it: main thread false
set -euo pipefail
swiftc --version 2>&1 | grep -q 'Swift version 6\.3\.1 ' || { echo "this is of Swift 6.3.1: put it on the PATH" >&2; exit 69; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > main.swift <<'SWIFT'
import Foundation

@MainActor func say(_ when: String) { print("\(when): main thread \(Thread.isMainThread)") }

@main struct Finding {
  static func main() async throws {
    await say("before the first await")
    try await Task.sleep(for: .milliseconds(1))
    await say("after it")
  }
}
SWIFT
swiftc -parse-as-library -suppress-warnings main.swift -o main 1>&2
expected='before the first await: main thread true
after it: main thread false'
seen=$(timeout 60 ./main)
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; swift --version >&2; exit 1; }
