// swift-tools-version: 6.2
import PackageDescription

// Compares Strata with other libraries. A separate package, so that using or testing Strata does not build them.
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
