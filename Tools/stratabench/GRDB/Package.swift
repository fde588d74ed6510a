// swift-tools-version: 6.2
import PackageDescription

// Strata beside other libraries. A package of its own, so that nobody who uses or tests Strata builds them.
let package = Package(
  name: "StrataBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Strata", path: "../../.."),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    .executableTarget(
      name: "SectionedLists",
      dependencies: ["Strata", .product(name: "GRDB", package: "GRDB.swift")],
      swiftSettings: [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("ExistentialAny"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
