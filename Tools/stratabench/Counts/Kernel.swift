// Work of one thread whose instructions and allocations are counted: `stratabench kernel NAME`.

internal import ArgumentParser
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataSimulation
internal import StrataTables

/// Runs one kernel. Only what `runKernel` calls is its work: `Tools/support/instructions` lets callgrind count there.
struct KernelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kernel", abstract: "One kernel, for Tools/support/instructions. Without a name: all names.")

  @Argument(help: "The name of the kernel.")
  var name: String?

  func run() throws {
    guard let name else { return Kernel.all.forEach { print($0.name) } }
    guard let kernel = Kernel.all.first(where: { $0.name == name }) else {
      throw ValidationError("no kernel \(name)")
    }
    // What the first run makes and keeps is not part of it.
    try kernel.prepare()()
    let body = try kernel.prepare()
    try runKernel(body)
  }
}

/// A function of its own, whose name callgrind is given.
@inline(never)
func runKernel(_ body: () throws -> Void) rethrows { try body() }

/// Work on an input that is the same in each run.
struct Kernel: Sendable {
  var name: String
  /// Whether each run allocates as often as the others: not if it keeps sets of objects, whose hashes are addresses.
  var hasSteadyAllocations = true
  /// Makes the input, and returns the work.
  var prepare: @Sendable () throws -> () throws -> Void

  static let all: [Kernel] = [
    Kernel(name: "draft-of-1000-events") {
      let corpus = try Corpus(path: nil, count: 1_000)
      return { precondition(!corpus.draft(0..<1_000).events.bytes.isEmpty) }
    },
    Kernel(name: "replay-of-20000-events") {
      let store = try filled(20_000)
      return { try replay(store, count: 20_000) }
    },
    Kernel(name: "streams-of-20000-events") {
      let store = try filled(20_000)
      let corpus = try Corpus(path: nil, count: 20_000)
      let streams = (0..<200).map { StreamName(String(decoding: corpus[$0 * 97].stream, as: UTF8.self)) }
      return {
        for stream in streams {
          let events = try store.eventsBlocking(in: stream)
          precondition(!events.isEmpty)
        }
      }
    },
    Kernel(name: "2000-documents-to-a-type") {
      let corpus = try Corpus(path: nil, count: 2_000)
      let decoder = CBORDecoder()
      return {
        for number in 0..<2_000 {
          let row = try decoder.decode(Ticket.self, from: corpus[number].payload)
          precondition(!row.incident.isEmpty)
        }
      }
    },
    Kernel(name: "2000-documents-from-JSON") {
      let corpus = try Corpus(path: nil, count: 2_000)
      let texts = try (0..<2_000).map { Array(try DocumentValue(cbor: corpus[$0].payload).json().utf8) }
      return {
        for text in texts {
          let bytes = try DocumentValue(json: text).cbor()
          precondition(!bytes.isEmpty)
        }
      }
    },
    Kernel(name: "fold-of-20000-changes") {
      let corpus = ListCorpus(count: 20_000)
      let list = try ListCorpus.list
      return {
        var set = TableSet()
        let scratch = FoldScratch()
        set.withTable("incident") { $0.addView(list.definition) }
        for (index, change) in corpus.changes.enumerated() { set.apply(change, UInt64(index + 1), scratch) }
        precondition(set["incident"].count > 0)
      }
    },
    Kernel(name: "difference-of-1000-rows-in-20000", hasSteadyAllocations: false) {
      var list = try MeasuredList(ListCorpus.rows(20_000))
      let old = list.version()
      var random = SeededGenerator(seed: 3)
      for _ in 0..<1_000 { list.apply(list.renewal(&random)) }
      let new = list.version()
      return { precondition(!ListDiff(from: old, to: new).isEmpty) }
    },
  ]

  private struct Ticket: Codable {
    var incident: String
    var status: String
    var substatus: String
    var product: String
    var role: String?
  }

  /// A store in memory, each append a group of its own, and its segment closed.
  private static func filled(_ count: Int) throws -> EventStore {
    let corpus = try Corpus(path: nil, count: count)
    var options = StoreOptions()
    options.clock = .fixed
    options.writesInStep = true
    options.sealsInBackground = false
    let store = EventStore.inMemory(options: options)
    for start in stride(from: 0, to: count, by: 1_000) {
      _ = try store.log.appendBlocking(corpus.draft(start..<min(count, start + 1_000)))
    }
    _ = try store.sealBlocking()
    return store
  }

  /// Reads every event of a store.
  static func replay(_ store: EventStore, count: Int) throws {
    var (seen, sum) = (0, UInt64(0))
    var cursor = store.log.cursor(after: 0)
    while let block = try cursor.next() {
      try block.forEachEvent { event, _, _ in
        seen += 1
        sum &+= eventSum(event.payload)
      }
    }
    precondition(seen == count && sum > 0, "the replay lost events")
  }
}
