// swift-tools-version: 6.2
import PackageDescription

// Compares Strata with other libraries. A separate package, so that using or testing Strata does not build them.
let houseRules: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

let libraries: [Target.Dependency] = ["Strata", .product(name: "GRDB", package: "GRDB.swift")]

let package = Package(
  name: "StrataBenchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Strata", path: "../../.."),
    .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
  ],
  targets: [
    // Lists that change.
    .executableTarget(name: "SectionedLists", dependencies: libraries, swiftSettings: houseRules),
    // Lists that are on disk. Some of its files are links to those of `stratabench`.
    .executableTarget(name: "SavedLists", dependencies: libraries, swiftSettings: houseRules),
    // Lists at points of the past. Most of its files are links to those of `stratabench`, which asks Strata alone.
    .executableTarget(name: "PastLists", dependencies: libraries, swiftSettings: houseRules),
    // Events in GRDB, for `Tools/bench`. Two of its files are links to those of `stratabench`.
    .executableTarget(
      name: "EventLanes", dependencies: [.product(name: "GRDB", package: "GRDB.swift")],
      swiftSettings: houseRules),
  ],
  swiftLanguageModes: [.v6]
)
