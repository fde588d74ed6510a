// A process of its own for what is measured of a whole process: stratabench runs itself with the name of this command.

internal import ArgumentParser
internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// Opens a store for reading, reads what the arguments say, and prints the figures of this process.
struct StateProbe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "state-probe", abstract: "What the workload of states runs in a process of its own.")

  /// Figures by name: times in seconds, memory in bytes.
  typealias Figures = [String: Double]

  @Argument(help: "The store.")
  var path: String

  @Option(
    help: "The number of random rows that are read after the first page, before the whole list is walked.")
  var reads = 0

  @Option(help: "The page cache, in bytes. Default: that of the library.")
  var cache = StoreOptions().pageCacheSize

  func run() async throws {
    var figures: Figures = [:]
    // What any process has that uses the library, before it opens a store.
    figures["base"] = ProcessMemory.now().map { Double($0.resident) }
    let start = MonotonicTime.now()
    var options = StoreOptions()
    options.pageCacheSize = cache
    let store = try await EventStore.open(at: path, .readOnly, options: options)
    let snapshot = try await StateList.readFirstPage(store, StateList.kept)
    figures["page"] = start.seconds
    if reads > 0 {
      figures["reads"] = Self.readRows(snapshot, reads)
      figures["walk"] = Self.walk(snapshot)
      figures["cached"] = Double(store.memory().cacheByteCount)
      figures["pages"] = Double(store.projections.map(\.pagesRead).reduce(0, +))
    }
    if let memory = ProcessMemory.now() {
      figures["resident"] = Double(memory.resident)
      figures["peak"] = Double(memory.peak)
    }
    for (name, value) in figures { print(name, value) }
  }

  private static func readRows(_ snapshot: StateList.Snapshot, _ count: Int) -> Double {
    let rowCount = snapshot.numberOfItems
    return seconds {
      for _ in 0..<count {
        let id = StateRow.id(Int.random(in: 0..<rowCount))
        precondition(snapshot.row(for: id) != nil, "the list has every row")
      }
    }
  }

  /// Reads every row in the order of the list, which is a random one in the table.
  private static func walk(_ snapshot: StateList.Snapshot) -> Double {
    seconds {
      for section in 0..<snapshot.numberOfSections {
        for item in 0..<snapshot.numberOfItems(inSectionAt: section) {
          let row = snapshot.row(at: ListIndex(section: section, item: item))
          precondition(row != nil, "the row of an item is there")
        }
      }
    }
  }
}

// MARK: In the process that measures

extension StateProbe {
  /// A whole process that reads the first page of the kept list, and its figures.
  static func firstPage(_ path: String) throws -> (child: ChildProcess, figures: Figures) {
    try measure([path])
  }

  /// The figures of a process that reads random rows and then the whole list.
  static func read(_ path: String, count: Int, cache: Int) throws -> Figures {
    try measure([path, "--reads", "\(count)", "--cache", "\(cache)"]).figures
  }

  private static func measure(_ arguments: [String]) throws -> (child: ChildProcess, figures: Figures) {
    let child = try ChildProcess(ChildProcess.own, [configuration.commandName ?? ""] + arguments)
    var figures: Figures = [:]
    for line in child.output.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2, let value = Double(words[1]) { figures[String(words[0])] = value }
    }
    return (child, figures)
  }
}
