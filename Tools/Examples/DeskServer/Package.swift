// swift-tools-version: 6.2
// The ticket desk as a server: a package of its own, so that nobody who uses the library builds one.
import PackageDescription

let package = Package(
  name: "DeskServer",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Strata", path: "../../..", traits: ["Observability"]),
    .package(name: "TicketDesk", path: "../TicketDesk"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    .executableTarget(
      name: "DeskServer",
      dependencies: [
        "Strata", "TicketDesk",
        .product(name: "StrataObservability", package: "Strata"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "Metrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
      ],
      resources: [.embedInCode("desk.html")]
    )
  ]
)
