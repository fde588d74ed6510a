// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "TicketDesk",
  platforms: [.macOS(.v15)],
  products: [.library(name: "TicketDesk", targets: ["TicketDesk"])],
  dependencies: [.package(name: "Strata", path: "../../..")],
  targets: [
    .target(name: "TicketDesk", dependencies: ["Strata"]),
    .executableTarget(name: "DeskDemo", dependencies: ["TicketDesk", "Strata"]),
    .testTarget(name: "TicketDeskTests", dependencies: ["TicketDesk", "Strata"]),
  ]
)
