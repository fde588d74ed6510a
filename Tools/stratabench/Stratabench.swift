// Named workloads, each measured beside its raw limit in the same run.

internal import ArgumentParser

@main
struct Stratabench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stratabench",
    abstract: "Measures Strata beside the raw limit of the machine, in interleaved rounds.",
    discussion: """
      Every figure is a median of rounds in which the workload and its limit take turns, so that a machine \
      whose speed drifts slows both. Quote the ratio; the absolute figures are of this machine at this moment.
      """)

  @Argument(help: "The workloads to run: \(Workload.allNames). All of them where none is named.")
  var workloads: [String] = []

  @Option(help: "A file of JSON lines (gzip is recognised) whose lines, repeated, are the payloads.")
  var input: String?

  @Option(help: "How many events.")
  var events = 1_000_000

  @Option(help: "How many rounds. 20 for durable and 5 for the others where it is left out.")
  var rounds: Int?

  @Option(help: "A folder on the disk to measure. A temporary one where it is left out.")
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
      try await workload.run(Bench(corpus: corpus, scratch: scratch, rounds: rounds))
    }
  }
}

/// One named workload.
struct Workload: Sendable {
  var name: String
  var about: String
  /// How many rounds give a median that holds.
  var rounds = 5
  var run: @Sendable (Bench) async throws -> Void

  static let all: [Workload] = [
    .init(name: "bulk", about: "appends of 1,000 events, payload bytes ready", run: bulk),
    .init(name: "replay", about: "every event of the log, first raw, then decoded", run: replay),
    .init(
      name: "durable", about: "one event of 200 bytes an append, each on disk before its caller goes on",
      rounds: 20,
      run: durable),
    .init(name: "open", about: "opening a store of many events in many streams", run: open),
    .init(name: "seek", about: "random reads by sequence, by time and by stream", run: seek),
    .init(name: "size", about: "bytes on disk", run: size),
    .init(name: "seal", about: "closed segments rewritten, and what that takes from writers", run: seal),
    .init(name: "fold", about: "changes of documents into a table with one view", run: fold),
    .init(
      name: "lists", about: "changes, differences and first fetches of lists, beside an array", rounds: 15,
      run: lists),
    .init(name: "snapshots", about: "an array made into a snapshot and shown in stages", rounds: 15, run: snapshots),
    .init(name: "diff", about: "two versions of a list of a million rows", run: diff),
    .init(name: "memory", about: "bytes for each row, in a view, and for each version", run: memory),
    .init(name: "tree", about: "the tree of the tables, by page size", run: tree),
  ]

  static var allNames: String { all.map(\.name).joined(separator: ", ") }
}
