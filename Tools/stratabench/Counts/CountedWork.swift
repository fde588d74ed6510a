// Counts that do not vary between runs and machines, and so can be compared with a list: `stratabench counts`.

internal import ArgumentParser
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// Prints a line for each count, `step, what: number`. `Tools/support/counts` compares them with those that are listed.
struct CountedWork: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "counts", abstract: "Syncs, writes and allocations, for Tools/support/counts.")

  func run() async throws {
    for durability in [Durability.synced, .buffered] { try await countFiles(durability) }
    for kernel in Kernel.all where kernel.hasSteadyAllocations {
      // Runtime and modules keep what the first run made.
      try kernel.prepare()()
      let body = try kernel.prepare()
      if let count = try Allocations.count(of: { try runKernel(body) }) {
        print("\(kernel.name), allocations: \(count)")
      }
    }
  }

  /// A store in memory that does one thing after another, so that each append is a group of its own.
  private func countFiles(_ durability: Durability) async throws {
    let files = CountingFileSystem()
    var options = StoreOptions()
    options.durability = durability
    options.clock = .fixed
    options.writesInStep = true
    options.sealsInBackground = false
    // Nothing is written because some time has passed.
    options.headSyncInterval = .seconds(86_400)
    options.savedFoldingMin = .seconds(86_400)
    var before = files.counts
    func step(_ name: String, _ body: () async throws -> Void) async throws {
      before = files.counts
      try await body()
      for (what, count) in (files.counts - before).named {
        print("\(durability), \(name), \(what): \(count)")
      }
    }

    var store: EventStore!
    func open() throws { store = try EventStore.open(files, path: "/store", .readWrite, options: options) }
    let corpus = try Corpus(path: nil, count: 30_000)
    try await step("the first open") { try open() }
    try await step("300 appends of one event") {
      for number in 0..<300 { _ = try await store.append(corpus.draft(number..<number + 1)) }
    }
    try await step("20 appends of 1,000 events") {
      for number in 0..<20 {
        _ = try await store.append(corpus.draft(number * 1_000..<(number + 1) * 1_000))
      }
    }
    try await step("a replay") { try Kernel.replay(store, count: 20_300) }
    try await step("a fold and its saving") { try await store.checkpoint() }
    try await step("100 more appends, and what they change saved") {
      for number in 0..<100 { _ = try await store.append(corpus.draft(number..<number + 1)) }
      try await store.checkpoint()
    }
    try await step("sealing") { try await store.seal() }
    try await step("a close") { try await store.close() }
    try await step("the second open, and its close") {
      try open()
      try await store.close()
    }
  }
}
