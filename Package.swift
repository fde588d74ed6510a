// swift-tools-version: 6.2
import PackageDescription

/// Every module says what it imports, how far that import reaches, and `any` where a type is erased.
let houseRules: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

let package = Package(
  name: "Strata",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Strata", targets: ["Strata"]),
    .library(name: "StrataTesting", targets: ["StrataTesting"]),
    .executable(name: "logreplay", targets: ["logreplay"]),
    .executable(name: "stratabench", targets: ["stratabench"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
  ],
  targets: [
    .systemLibrary(
      name: "CLZ4",
      pkgConfig: "liblz4",
      providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]
    ),
    .target(name: "CStrata", cSettings: [.define("_GNU_SOURCE")]),
    // What every floor needs of the machine: threads, locks, clocks, bytes and hashes. Knows no store.
    .target(name: "StrataBase", dependencies: ["CStrata"], swiftSettings: houseRules),
    .target(name: "StrataLog", dependencies: ["StrataBase", "CLZ4", "CStrata"], swiftSettings: houseRules),
    // Documents, their CBOR and their JSON. Knows no event and no log.
    .target(name: "StrataDocuments", dependencies: ["StrataBase"], swiftSettings: houseRules),
    .target(
      name: "StrataEvents",
      dependencies: ["StrataDocuments", "StrataLog", "StrataBase"],
      swiftSettings: houseRules
    ),
    .target(
      name: "StrataTables",
      dependencies: ["StrataEvents", "StrataLog", "StrataBase", "StrataDocuments", "CStrata"],
      swiftSettings: houseRules
    ),
    .target(
      name: "StrataFetch",
      dependencies: ["StrataTables", "StrataEvents", "StrataLog", "StrataBase", "StrataDocuments"],
      swiftSettings: houseRules
    ),
    .target(
      name: "Strata",
      dependencies: ["StrataFetch", "StrataTables", "StrataEvents", "StrataLog", "StrataBase", "StrataDocuments"],
      swiftSettings: houseRules
    ),
    .target(
      name: "StrataTesting",
      dependencies: ["StrataLog", "StrataBase", "StrataDocuments", "StrataEvents", "StrataTables", "StrataFetch"],
      swiftSettings: houseRules
    ),
    // The grammar of points and times, apart so that it can be fuzzed.
    .target(
      name: "LogreplayPoints",
      dependencies: ["StrataEvents", "StrataTables"],
      path: "Tools/logreplay/Points",
      swiftSettings: houseRules
    ),
    .executableTarget(
      name: "logreplay",
      dependencies: [
        "LogreplayPoints", "Strata", "StrataLog", "StrataBase", "StrataDocuments", "StrataEvents", "StrataTables", "StrataFetch",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/logreplay",
      exclude: ["Points"],
      swiftSettings: houseRules
    ),
    .executableTarget(
      name: "stratabench",
      dependencies: [
        "Strata", "StrataLog", "StrataBase", "StrataDocuments", "StrataEvents", "StrataTables", "StrataFetch", "StrataTesting", "CLZ4",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/stratabench",
      swiftSettings: houseRules
    ),
    .testTarget(
      name: "StrataLogTests",
      dependencies: ["StrataLog", "StrataBase", "StrataDocuments", "StrataTesting", "CStrata", "CLZ4"],
      swiftSettings: houseRules
    ),
    // A writer for the tests to kill.
    .executableTarget(
      name: "strata-crashwriter",
      dependencies: ["StrataEvents", "StrataLog", "StrataBase", "StrataDocuments"],
      path: "Tests/Support/CrashWriter",
      swiftSettings: houseRules
    ),
    // Crash histories for as long as somebody wants.
    .executableTarget(
      name: "strata-soak",
      dependencies: ["StrataTesting"],
      path: "Tests/Support/Soak",
      swiftSettings: houseRules
    ),
    .testTarget(
      name: "StrataEventsTests",
      dependencies: ["StrataEvents", "StrataTesting", "strata-crashwriter"],
      swiftSettings: houseRules
    ),
    .testTarget(
      name: "StrataTablesTests",
      dependencies: ["StrataTables", "StrataEvents", "StrataLog", "StrataBase", "StrataDocuments", "StrataTesting"],
      swiftSettings: houseRules
    ),
    .testTarget(
      name: "StrataFetchTests",
      dependencies: ["StrataFetch", "StrataTables", "StrataEvents", "StrataLog", "StrataBase", "StrataDocuments", "StrataTesting"],
      swiftSettings: houseRules
    ),
    .testTarget(
      name: "LogreplayTests",
      dependencies: [
        "logreplay", "LogreplayPoints", "StrataTesting", "Strata", "StrataFetch", "StrataTables", "StrataEvents", "StrataLog", "StrataBase", "StrataDocuments",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: houseRules
    ),
    // What the fuzzer calls, and the program that it drives; the tests replay the kept corpus through the same.
    .target(
      name: "FuzzTargets",
      dependencies: ["LogreplayPoints", "StrataLog", "StrataBase", "StrataDocuments", "StrataEvents", "StrataTables", "StrataFetch"],
      path: "Tests/Fuzz/Targets",
      swiftSettings: houseRules
    ),
    .executableTarget(
      name: "strata-fuzz",
      dependencies: ["FuzzTargets"],
      path: "Tests/Fuzz/Main",
      swiftSettings: houseRules
    ),
    .testTarget(
      name: "FuzzTests",
      dependencies: ["FuzzTargets"],
      path: "Tests/Fuzz/Tests",
      swiftSettings: houseRules
    ),
    .testTarget(
      name: "HouseTests",
      dependencies: ["StrataLog", "StrataBase", "StrataDocuments", "StrataEvents"],
      swiftSettings: houseRules
    ),
  ],
  swiftLanguageModes: [.v6]
)
