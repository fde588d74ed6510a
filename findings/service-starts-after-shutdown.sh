#!/usr/bin/env bash
# swift-service-lifecycle 2.13.0, ServiceGroup, with Swift 6.3.1 on Linux.
#
# A group that is told to shut down before it runs starts its services all the same, and then shuts them down. A service
# that opens a file or takes a lock first thing in `run()` has done so before it learns that nothing was to be started.
#
# Seen, sorted since the services start at the same time:
#     first starts, and shutdown was asked for before
#     second starts, and shutdown was asked for before
#     the group has ended
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -p Sources/Finding
cat > Package.swift <<'SWIFT'
// swift-tools-version: 6.0
import PackageDescription
let package = Package(
  name: "Finding", platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    // Not used here: what swift-service-lifecycle brings along, as it was.
    .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
  ],
  targets: [
    .executableTarget(
      name: "Finding",
      dependencies: [
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Logging", package: "swift-log"),
      ])
  ])
SWIFT
cat > Sources/Finding/main.swift <<'SWIFT'
import Logging
import ServiceLifecycle

struct Named: Service {
  let name: String
  func run() async throws {
    print("\(name) starts, and shutdown was asked for before")
    try? await gracefulShutdown()
  }
}

let group = ServiceGroup(
  services: [Named(name: "first"), Named(name: "second")],
  logger: Logger(label: "quiet", factory: { _ in SwiftLogNoOpLogHandler() }))
await group.triggerGracefulShutdown()
try await group.run()
print("the group has ended")
SWIFT
swift build -q 1>&2
expected='first starts, and shutdown was asked for before
second starts, and shutdown was asked for before
the group has ended'
seen=$(timeout 60 .build/debug/Finding | LC_ALL=C sort)
echo "$seen"
[ "$seen" = "$expected" ] || { printf 'it was:\n%s\n' "$expected" >&2; swift --version >&2; exit 1; }
