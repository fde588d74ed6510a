// The program: opens the store, serves the desk until it is asked to end, and closes the store last.
//
//     DeskServer STORE [PORT]

import Hummingbird
import Logging
import Metrics
import ServiceLifecycle
import Strata
import StrataObservability
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
    // What the store does is in the logs and metrics beside what the server does.
    let telemetry = StoreTelemetry(logger: logger, metrics: metrics)
    var options = StoreOptions()
    options.observer = telemetry
    let store = try await EventStore.open(at: path, options: options)
    let desk = TicketDesk(store)

    let server = Application(
      router: routes(desk, metrics),
      configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
      logger: logger)
    // They end in the reverse order: first the server, which ends its streams and answers what it has begun, then the
    // consumer, which saves its position, and last the store, which is closed: what was accepted is on disk then.
    var group = ServiceGroupConfiguration(
      services: [
        StoreService(store), Reports(telemetry: telemetry, store: store), Notifier(desk: desk), server,
      ], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    group.maximumGracefulShutdownDuration = .seconds(10)
    try await ServiceGroup(configuration: group).run()
  }
}

/// Reports what the store counts and how far it is, for as long as the server runs.
struct Reports: Service {
  let telemetry: StoreTelemetry
  let store: EventStore

  func run() async throws {
    await cancelWhenGracefulShutdown { await telemetry.report(store, every: .seconds(5)) }
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
