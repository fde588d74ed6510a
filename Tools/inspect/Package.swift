// swift-tools-version: 6.2
// The inspector: a program that shows a store in a browser. A package of its own, so that nobody who uses the library or
// the command builds a server.
//
// What it answers is in `Tools/logreplay/Inspect` of the package above, which knows no socket and is tested there. Here are
// the server, in one file, and the page.
//
// Of two servers that would do, Hummingbird 2.28 is used and not FlyingFox 0.27. On two processors a build of it alone takes
// three minutes, once, and that of FlyingFox, which has no dependencies, twenty seconds. But a server that every program of
// a machine can reach needs limits before it knows who asks: SwiftNIO, which Hummingbird is built on, refuses a head that is
// too long or has too many fields, closes a connection that is silent, and writes no faster than is read. FlyingFox
// collects a line of a head for as long as it goes on, and waits for its end for ever. Both are kept up; Hummingbird by
// several people, with fixes of SwiftNIO for each report.
import PackageDescription

let package = Package(
  name: "LogreplayInspect",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "logreplay-inspect", targets: ["logreplay-inspect"])],
  dependencies: [
    .package(name: "Strata", path: "../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .executableTarget(
      name: "logreplay-inspect",
      dependencies: [
        .product(name: "LogreplayInspect", package: "Strata"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      // In the program itself, so that it can be copied anywhere.
      resources: [.embedInCode("Page")]
    )
  ],
  swiftLanguageModes: [.v6]
)
