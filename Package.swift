// swift-tools-version: 6.2
import PackageDescription

/// Every module says what it imports, how far that import reaches, and `any` where a type is erased.
let houseRules: [SwiftSetting] = [
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("ExistentialAny"),
]

/// What only the trait Observability needs.
func observed(_ product: String, _ package: String) -> Target.Dependency {
  .product(name: product, package: package, condition: .when(traits: ["Observability"]))
}

/// Every module, for what may use all of them: tools, and the support of tests.
let modules: [Target.Dependency] = [
  "StrataViews", "StrataReplica", "StrataFetch", "StrataLists", "StrataPast", "StrataTables", "StrataEvents",
  "StrataLog", "StrataDocuments", "StrataBase",
]

let package = Package(
  name: "Strata",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    // What an application imports.
    .library(name: "Strata", targets: ["Strata"]),
    // Adapters for screens, apart so that only those that need them have their names.
    .library(name: "StrataViews", targets: ["StrataViews"]),
    // Copies on other machines, apart so that a store that has none needs nothing of it.
    .library(name: "StrataReplica", targets: ["StrataReplica"]),
    // Copies in buckets of object stores. Reaches them only with the trait Bucket.
    .library(name: "StrataBucket", targets: ["StrataBucket"]),
    // Copies in NATS JetStream. Reaches it only with the trait JetStream.
    .library(name: "StrataJetStream", targets: ["StrataJetStream"]),
    // What a store does, in logs, metrics and traces, and as a service. Sends it only with the trait Observability.
    .library(name: "StrataObservability", targets: ["StrataObservability"]),
    // Simulated disks and strict views, for tests of this package and of others.
    .library(name: "StrataTesting", targets: ["StrataTesting"]),
    // A store from a shell.
    .executable(name: "logreplay", targets: ["logreplay"]),
    // What the inspector answers, for the server in Tools/inspect.
    .library(name: "LogreplayInspect", targets: ["LogreplayInspect"]),
    // Every promise of speed beside the raw limit of the machine.
    .executable(name: "stratabench", targets: ["stratabench"]),
  ],
  // What needs a library of the system beside liblz4, or other packages. None is on unless asked for.
  traits: [
    .trait(
      name: "Bucket", description: "Copies in S3-compatible buckets. Needs libcurl: libcurl4-openssl-dev."),
    .trait(name: "JetStream", description: "Copies in NATS JetStream. Needs the client in C: libnats-dev."),
    .trait(
      name: "Observability", description: "Logs, metrics, traces and services. Needs swift-log and others."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // Only with the trait Observability: without it they are not even fetched.
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // The system's compression; the one library that users need.
    .systemLibrary(
      name: "CLZ4",
      pkgConfig: "liblz4",
      providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]
    ),
    // The system's HTTP client, which only buckets need.
    .systemLibrary(
      name: "CCurl",
      pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
    ),
    // The C client of NATS, which only JetStream needs.
    .systemLibrary(
      name: "CNats",
      pkgConfig: "libnats",
      providers: [.apt(["libnats-dev"]), .brew(["cnats"])]
    ),
    // Checksums in C, and calls that the system's modules hide.
    .target(name: "CStrata", cSettings: [.define("_GNU_SOURCE")]),
    // What every module needs of the machine: threads, locks, clocks, bytes and hashes. Knows no store.
    .target(name: "StrataBase", dependencies: ["CStrata"], swiftSettings: houseRules),
    // Documents, their CBOR and their JSON. Knows no event and no log.
    .target(name: "StrataDocuments", dependencies: ["StrataBase"], swiftSettings: houseRules),
    // Bytes, durable and in order. Knows not what an event means.
    .target(name: "StrataLog", dependencies: ["StrataBase", "CLZ4", "CStrata"], swiftSettings: houseRules),
    // Events, streams and the change feed. Knows no table.
    .target(
      name: "StrataEvents",
      dependencies: ["StrataLog", "StrataDocuments", "StrataBase"],
      swiftSettings: houseRules
    ),
    // A store's events in places outside of its machine, and back. Knows no table.
    .target(
      name: "StrataReplica",
      dependencies: ["StrataEvents", "StrataLog", "StrataBase"],
      swiftSettings: houseRules
    ),
    // A carrier: buckets of object stores. Knows no store.
    .target(
      name: "StrataBucket",
      dependencies: [
        "StrataReplica", "StrataLog", "StrataBase",
        .target(name: "CCurl", condition: .when(traits: ["Bucket"])),
      ],
      swiftSettings: houseRules
    ),
    // A carrier of copies in a stream of NATS JetStream. Only what calls the C client depends on the trait.
    .target(
      name: "StrataJetStream",
      dependencies: [
        "StrataReplica", "StrataDocuments", "StrataBase",
        .target(name: "CNats", condition: .when(traits: ["JetStream"])),
      ],
      swiftSettings: houseRules
    ),
    // Events folded into tables and views, in memory. Knows no file of a state, and not that someone looks.
    .target(
      name: "StrataTables",
      dependencies: ["StrataEvents", "StrataLog", "StrataDocuments", "StrataBase", "CStrata"],
      swiftSettings: houseRules
    ),
    // States on disk, histories, and what leads to a state of the past: what folds in the background. Knows no list.
    .target(
      name: "StrataPast",
      dependencies: ["StrataTables", "StrataEvents", "StrataLog", "StrataDocuments", "StrataBase"],
      swiftSettings: houseRules
    ),
    // What a store does, for a service. Only what depends on the trait calls other packages.
    .target(
      name: "StrataObservability",
      dependencies: [
        "StrataPast", "StrataEvents", "StrataLog", "StrataDocuments", "StrataBase",
        observed("Logging", "swift-log"), observed("CoreMetrics", "swift-metrics"),
        observed("Tracing", "swift-distributed-tracing"),
        observed("ServiceLifecycle", "swift-service-lifecycle"),
      ],
      swiftSettings: houseRules
    ),
    // Lists as values: requests, filters, snapshots, and what changed between two. Knows no task.
    .target(
      name: "StrataLists",
      dependencies: ["StrataTables", "StrataEvents", "StrataLog", "StrataDocuments", "StrataBase"],
      swiftSettings: houseRules
    ),
    // What is live: a list that follows the log, and says what changed. Knows no view.
    .target(
      name: "StrataFetch",
      dependencies: [
        "StrataLists", "StrataPast", "StrataTables", "StrataEvents", "StrataLog", "StrataDocuments",
        "StrataBase",
      ],
      swiftSettings: houseRules
    ),
    // One import for applications: every module's public interface, without the adapters.
    .target(
      name: "Strata",
      dependencies: [
        "StrataFetch", "StrataLists", "StrataPast", "StrataTables", "StrataEvents", "StrataLog",
        "StrataDocuments",
      ],
      swiftSettings: houseRules
    ),
    // Adapters to what views take, and to the shape of Core Data's lists.
    .target(
      name: "StrataViews",
      dependencies: [
        "StrataFetch", "StrataLists", "StrataTables", "StrataEvents", "StrataDocuments",
        "StrataBase",
      ],
      swiftSettings: houseRules
    ),
    // Disks that lose power, clocks, histories and models. Beside the stack, on the module of events, so that the tests
    // of each module wait for no higher one.
    .target(
      name: "StrataSimulation",
      dependencies: ["StrataEvents", "StrataLog", "StrataBase"],
      swiftSettings: houseRules
    ),
    // Properties, generators and shrinking. Knows no store, so that the tests of every module may use it, and so that a
    // change of it compiles in seconds.
    .target(name: "StrataCheck", swiftSettings: houseRules),
    // One import for tests: strict views, contracts, what is simulated, and what is checked by random cases. Beside the
    // stack: may import every module.
    .target(
      name: "StrataTesting", dependencies: modules + ["StrataSimulation", "StrataCheck"],
      swiftSettings: houseRules),
    // The grammar of points and times, apart so that it can be fuzzed.
    .target(
      name: "LogreplayPoints",
      dependencies: ["StrataEvents", "StrataDocuments"],
      path: "Tools/logreplay/Points",
      swiftSettings: houseRules
    ),
    // What every command of the tool needs: a store and its points, failures, output, other programs. The tool is several
    // modules so that most of it compiles beside the modules of tables.
    .target(
      name: "LogreplayShell",
      dependencies: [
        "LogreplayPoints", "StrataEvents", "StrataLog", "StrataDocuments", "StrataBase",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/logreplay/Shell",
      swiftSettings: houseRules
    ),
    // The commands that read, write, move and copy events. Knows no table.
    .target(
      name: "LogreplayEvents",
      dependencies: [
        "LogreplayShell", "LogreplayPoints", "StrataReplica", "StrataEvents", "StrataLog", "StrataDocuments",
        "StrataBase", "CLZ4",
        .target(name: "StrataBucket", condition: .when(traits: ["Bucket"])),
        .target(name: "StrataJetStream", condition: .when(traits: ["JetStream"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/logreplay/Events",
      swiftSettings: houseRules
    ),
    // The commands that fold events into tables and lists.
    .target(
      name: "LogreplayTables",
      dependencies: [
        "LogreplayEvents", "LogreplayShell", "LogreplayPoints", "StrataLists", "StrataPast", "StrataTables",
        "StrataReplica", "StrataEvents", "StrataLog", "StrataDocuments", "StrataBase",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/logreplay/Tables",
      swiftSettings: houseRules
    ),
    // What the inspector answers to its page, as values: the server is a package of its own, Tools/inspect, so that nobody
    // else builds one.
    .target(
      name: "LogreplayInspect",
      dependencies: [
        "LogreplayTables", "LogreplayEvents", "LogreplayShell", "LogreplayPoints", "StrataEvents",
        "StrataLog",
        "StrataDocuments", "StrataBase",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/logreplay/Inspect",
      swiftSettings: houseRules
    ),
    // The tool: which commands it has, and how its command line is read.
    .executableTarget(
      name: "logreplay",
      dependencies: [
        "LogreplayTables", "LogreplayEvents", "LogreplayShell", "LogreplayPoints", "StrataLog",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/logreplay",
      exclude: ["Points", "Shell", "Events", "Tables", "Inspect"],
      swiftSettings: houseRules
    ),
    // The measurements: one file for each workload.
    .executableTarget(
      name: "stratabench",
      dependencies: modules + [
        "Strata", "StrataSimulation", "CLZ4",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tools/stratabench",
      // A package of its own, for what is measured beside another library.
      exclude: ["Peers", "MEASURED.md"],
      swiftSettings: houseRules
    ),
    // A slow model of what is tested. It is optimised, as the tests of lists are not.
    .target(
      name: "TestModels",
      dependencies: ["StrataLists", "StrataViews"],
      path: "Tests/Support/Models",
      swiftSettings: houseRules
    ),
    // Of the log, and of what it stands on.
    .testTarget(
      name: "StrataLogTests",
      dependencies: ["StrataLog", "StrataBase", "StrataSimulation", "CStrata", "CLZ4"],
      swiftSettings: houseRules
    ),
    // A writer for the tests to kill.
    .executableTarget(
      name: "strata-crashwriter",
      dependencies: ["StrataEvents", "StrataLog", "StrataDocuments", "StrataBase"],
      path: "Tests/Support/CrashWriter",
      swiftSettings: houseRules
    ),
    // Crash histories for as long as somebody wants.
    .executableTarget(
      name: "strata-soak",
      dependencies: ["StrataSimulation"],
      path: "Tests/Support/Soak",
      swiftSettings: houseRules
    ),
    // Of events, streams and documents, with writers that are killed.
    .testTarget(
      name: "StrataEventsTests",
      dependencies: [
        "StrataEvents", "StrataLog", "StrataDocuments", "StrataBase", "StrataSimulation",
        "strata-crashwriter",
      ],
      swiftSettings: houseRules
    ),
    // Schedules of machines that ship, follow and take over, for the tests of every carrier.
    .target(
      name: "ReplicaSchedules",
      dependencies: [
        "StrataReplica", "StrataEvents", "StrataLog", "StrataBase", "StrataSimulation", "StrataTesting",
      ],
      path: "Tests/Support/ReplicaSchedules",
      swiftSettings: houseRules
    ),
    // Of copies elsewhere, and the laws that they keep under random faults.
    .testTarget(
      name: "StrataReplicaTests",
      dependencies: [
        "StrataReplica", "StrataTesting", "StrataEvents", "StrataLog", "StrataDocuments", "StrataBase",
        "StrataSimulation", "ReplicaSchedules",
      ],
      swiftSettings: houseRules
    ),
    // Of copies in JetStream, over a broker in memory.
    .testTarget(
      name: "StrataJetStreamTests",
      dependencies: [
        "StrataJetStream", "StrataReplica", "StrataTesting", "StrataEvents", "StrataLog", "StrataDocuments",
        "StrataBase", "StrataSimulation", "ReplicaSchedules",
      ],
      swiftSettings: houseRules
    ),
    // Of buckets, against a model of one: without a network, and without libcurl.
    .testTarget(
      name: "StrataBucketTests",
      dependencies: ["StrataBucket", "StrataReplica", "StrataLog", "StrataBase", "StrataSimulation"],
      swiftSettings: houseRules
    ),
    // Calls of a carrier that no command makes, for the servers of `Tools/support/bucket-servers`.
    .executableTarget(
      name: "strata-bucketcheck",
      dependencies: ["StrataBucket", "StrataReplica", "StrataEvents", "StrataLog", "StrataBase"],
      path: "Tests/Support/BucketCheck",
      swiftSettings: houseRules
    ),
    // Of folds, keys, trees and views.
    .testTarget(
      name: "StrataTablesTests",
      dependencies: [
        "StrataPast", "StrataTables", "StrataEvents", "StrataLog", "StrataDocuments", "StrataBase",
        "StrataSimulation",
      ],
      swiftSettings: houseRules
    ),
    // Of lists, as values and live, and of the adapters to views.
    .testTarget(
      name: "StrataFetchTests",
      dependencies: modules + ["StrataTesting", "TestModels"],
      swiftSettings: houseRules
    ),
    // Of properties and shrinking: only public names compile.
    .testTarget(
      name: "StrataCheckTests", dependencies: ["StrataCheck"], packageAccess: false, swiftSettings: houseRules
    ),
    // Of what other packages test with: only public names compile.
    .testTarget(
      name: "StrataTestingTests",
      dependencies: ["Strata", "StrataViews", "StrataTesting"],
      packageAccess: false,
      swiftSettings: houseRules
    ),
    // Of the tool, as a shell sees it.
    .testTarget(
      name: "LogreplayTests",
      dependencies: modules + [
        "logreplay", "LogreplayInspect", "LogreplayTables", "LogreplayEvents", "LogreplayShell",
        "LogreplayPoints",
        "StrataSimulation", "StrataTesting",
        "Strata",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: houseRules
    ),
    // What the fuzzer calls, and the program that it drives; the tests replay the kept corpus through the same.
    .target(
      name: "FuzzTargets",
      dependencies: modules + ["LogreplayPoints"],
      path: "Tests/Fuzz/Targets",
      swiftSettings: houseRules
    ),
    .executableTarget(
      name: "strata-fuzz",
      dependencies: ["FuzzTargets"],
      path: "Tests/Support/Fuzz",
      swiftSettings: houseRules
    ),
    .testTarget(
      name: "FuzzTests",
      dependencies: ["FuzzTargets"],
      path: "Tests/Fuzz/Tests",
      swiftSettings: houseRules
    ),
    // The examples, which are packages of their own for those who read them. Here they are built with everything else.
    .target(
      name: "TicketDesk", dependencies: ["Strata"], path: "Tools/Examples/TicketDesk/Sources/TicketDesk"),
    .executableTarget(
      name: "DeskDemo", dependencies: ["TicketDesk", "Strata"],
      path: "Tools/Examples/TicketDesk/Sources/DeskDemo"),
    .testTarget(
      name: "TicketDeskTests", dependencies: ["TicketDesk", "Strata"],
      path: "Tools/Examples/TicketDesk/Tests/TicketDeskTests"),
    // Only public names compile: others of the package may be those of SwiftUI, too.
    .target(
      name: "LiveListSwiftUI", dependencies: ["Strata"], path: "Tools/Examples/LiveListSwiftUI",
      packageAccess: false),
    // Of the rules that every file keeps, and of the pages that say what the code does.
    .testTarget(
      name: "HouseTests",
      dependencies: [
        "StrataObservability",
        "StrataReplica", "StrataPast", "StrataTables", "StrataEvents", "StrataLog", "StrataDocuments",
        "StrataBase",
      ],
      swiftSettings: houseRules
    ),
  ],
  swiftLanguageModes: [.v6]
)
