// The program: opens the store, serves the desk until it is asked to end, and closes the store last.
//
//     DeskServer STORE [PORT]

import Hummingbird
import Logging
import Metrics
import ServiceLifecycle
import Strata
import TicketDesk

@main
struct DeskServer {
  static func main() async throws {
    let words = CommandLine.arguments.dropFirst()
    guard let path = words.first, words.count <= 2, let port = Int(words.dropFirst().first ?? "8080") else {
      print("usage: DeskServer STORE [PORT]")
      return
    }
    let metrics = MetricsText()
    MetricsSystem.bootstrap(metrics)
    let logger = Logger(label: "desk")
    let store = try await EventStore.open(at: path)
    let desk = TicketDesk(store)

    let server = Application(
      router: routes(desk, metrics),
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
      logger: logger)
    // They end in the reverse order: first the server, which ends its streams and answers what it has begun, then the
    // consumer, which saves its position.
    var group = ServiceGroupConfiguration(
      services: [Notifier(desk: desk), server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    group.maximumGracefulShutdownDuration = .seconds(10)
    do {
      try await ServiceGroup(configuration: group).run()
    } catch {
      try? await store.close()
      throw error
    }
    // What was accepted is on disk after this.
    try await store.close()
  }
}

/// Queues a mail for each ticket that is closed, for as long as the server runs.
struct Notifier: Service {
  let desk: TicketDesk

  func run() async throws {
    // A consumer ends in order when its task is cancelled: its position is saved, and it returns.
    try await cancelWhenGracefulShutdown { try await desk.notify() }
  }
}
