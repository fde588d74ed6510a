// The `stratabench` command: named workloads, each compared with its raw limit in the same run.

internal import ArgumentParser
internal import Dispatch
internal import Foundation

@main
enum Program {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    // On the first thread from its beginning to its end: callgrind cannot follow one that ends before the process.
    if arguments.first == KernelCommand.configuration.commandName {
      return KernelCommand.main(Array(arguments.dropFirst()))
    }
    Task {
      await run(arguments)
      exit(0)
    }
    dispatchMain()
  }

  private static func run(_ arguments: [String]) async {
    // What runs in a process of its own: for a workload, for Tools/bench, and for Tools/support/counts.
    let own: [any AsyncParsableCommand.Type] = [StateProbe.self, PeerLane.self, CountedWork.self]
    if let command = own.first(where: { $0.configuration.commandName == arguments.first }) {
      await command.main(Array(arguments.dropFirst()))
    } else {
      await Stratabench.main(arguments)
    }
  }
}

struct Stratabench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stratabench",
    abstract: "Compares Strata with the raw limit of the machine, in interleaved rounds.",
    discussion: """
      Every figure is a median of rounds in which the workload and its limit take turns, so that changes in the \
      machine's speed affect both. Quote the ratio; the absolute figures hold only for this machine at this moment.
      """)

  @Argument(help: "The workloads to run: \(Workload.allNames). Default: all of them.")
  var workloads: [String] = []

  @Option(help: "A file of JSON lines, plain or gzip-compressed, whose lines, repeated, are the payloads.")
  var input: String?

  @Option(help: "The number of events.")
  var events = 1_000_000

  @Option(help: "The number of rows for the workload past. Default: a tenth of the events.")
  var rows: Int?

  @Option(help: "A folder in which the workload past makes its stores once. Later runs use them again.")
  var stores: String?

  @Option(help: "The workloads bulk and past do only what has a name that contains this.")
  var question: String?

  @Option(help: "The number of rounds. Default: 20 for durable, 15 for lists, 5 for the others.")
  var rounds: Int?

  @Option(help: "A folder on the disk to measure. Default: a temporary folder.")
  var directory: String?

  func run() async throws {
    let unknown = workloads.filter { name in !Workload.all.contains { $0.name == name } }
    guard unknown.isEmpty else {
      throw ValidationError("no workload \(unknown.joined(separator: ", ")); there are \(Workload.allNames)")
    }
    let scratch = try Scratch(directory)
    defer { scratch.remove() }
    let corpus = try Corpus(path: input, count: events)
    print("\(events) events, \(corpus.describe), in \(scratch.path)")
    for workload in Workload.all where workloads.isEmpty || workloads.contains(workload.name) {
      let rounds = rounds ?? workload.rounds
      print("\n\(workload.name): \(workload.about), \(rounds) rounds")
      try await workload.run(
        Bench(
          corpus: corpus, scratch: scratch, rounds: rounds, rows: rows ?? max(1, events / 10), stores: stores,
          question: question))
    }
  }
}

/// One named workload.
struct Workload: Sendable {
  var name: String
  var about: String
  /// The number of rounds that give a stable median.
  var rounds = 5
  var run: @Sendable (Bench) async throws -> Void

  static let all: [Workload] = [
    .init(name: "bulk", about: "appends of 1,000 events, payload bytes ready", run: bulk),
    .init(name: "replay", about: "every event of the log, first raw, then decoded", run: replay),
    .init(
      name: "durable", about: "appends of one event of 200 bytes, each on disk before its caller continues",
      rounds: 20,
      run: durable),
    .init(
      name: "load", about: "rows that are appended one by one and awaited, and the same rows loaded",
      rounds: 3,
      run: load),
    .init(
      name: "transfer", about: "imports and exports of whole files by logreplay, next to sqlite3", rounds: 3,
      run: transfer),
    .init(
      name: "copies", about: "shipping to a folder, waiting for it, and copies from the beginning", rounds: 3,
      run: copies),
    .init(
      name: "consumers", about: "a consumer with an effect for each event, one by one and in batches",
      rounds: 5,
      run: consumers),
    .init(name: "open", about: "opening a store of many events in many streams", run: open),
    .init(
      name: "reads", about: "single events and streams, anywhere in the log, blocking and through await",
      run: reads),
    .init(name: "seek", about: "random reads by sequence, by time and by stream", run: seek),
    .init(name: "size", about: "bytes on disk", run: size),
    .init(name: "index", about: "derived indexes: size, opens that use them, reads by name", run: index),
    .init(name: "seal", about: "rewriting closed segments, and how much it slows down writers", run: seal),
    .init(name: "fold", about: "folding changes of documents into a table with one view", run: fold),
    .init(
      name: "lists", about: "changes, differences and first fetches of lists, next to an array", rounds: 15,
      run: lists),
    .init(
      name: "fetch", about: "first fetches of lists, next to sorting an array", rounds: 3, run: firstFetches),
    .init(
      name: "viewers", about: "windows of one list, each with a controller and a task of its own", rounds: 5,
      run: viewers),
    .init(
      name: "snapshots", about: "turning an array into a snapshot, and its difference into stages",
      rounds: 15,
      run: snapshots),
    .init(name: "diff", about: "the difference of two versions of a list of a million rows", run: diff),
    .init(name: "memory", about: "bytes per row, per row in a view, and per version", run: memory),
    .init(
      name: "costs", about: "what a start, an append, a list and a past state cost, by rows up to --events",
      rounds: 3,
      run: costs),
    .init(
      name: "states", about: "starts with states on disk, their memory, and what writing them costs",
      run: states),
    .init(name: "past", about: "a kept list at points of the past, and what its history costs", run: past),
    .init(
      name: "replays", about: "rows, lists and changes of the past from a history, beside replays",
      run: replays),
    .init(
      name: "ask",
      about:
        "aggregates; questions about rows, 20,000 by an index and 20 by reading all rows, whatever --rounds says",
      rounds: 1, run: ask),
    .init(name: "tree", about: "the tree of the tables, by page size", run: tree),
  ]

  static var allNames: String { all.map(\.name).joined(separator: ", ") }
}
