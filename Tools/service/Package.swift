// swift-tools-version: 6.2
import PackageDescription

// Tests of what is only there with the trait Observability. A separate package, so that building or testing Strata fetches
// none of what it needs, and so that they see what another package sees. `Tools/soak service` runs them.
let package = Package(
  name: "StrataServiceTests",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Strata", path: "../..", traits: ["Observability"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .testTarget(
      name: "ServiceTests",
      dependencies: [
        .product(name: "Strata", package: "Strata"),
        .product(name: "StrataObservability", package: "Strata"),
        .product(name: "StrataTesting", package: "Strata"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]
    )
  ]
)
