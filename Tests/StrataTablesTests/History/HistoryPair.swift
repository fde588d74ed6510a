// Two processes with one store, of which one keeps a history that the other reads.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// A writer with a history in tiny runs, and a reader of the same disk.
final class HistoryPair: @unchecked Sendable {
  // Sendable because a test calls one method after the other, also where a disk calls back.
  let disk = SimulatedDisk()
  let folding: Folding
  /// The list whose keys the history has from its first event on.
  let list: (table: String, definition: ViewDefinition)?
  private var options: StoreOptions
  private(set) var writer: EventStore
  let reader: EventStore
  private var events: StateEvents

  /// - Parameter keepsList: whether the history has the keys of a list.
  init(
    _ random: inout SeededGenerator, _ folding: Folding? = nil, segmentSize: Int = 2_000,
    keepsAll: Bool = false, keepsList: Bool = false
  ) throws {
    self.folding = folding ?? StateStore.foldings.randomElement(using: &random)!
    options =
      keepsList
      ? HistoryStore.keyOptions(&random, keepsAll: keepsAll)
      : HistoryStore.options(&random, keepsAll: keepsAll)
    let history = options.history
    options.segmentSizeTarget = segmentSize
    // What it holds can be read to its end. See `RunFilesTests` for what it closes.
    options.runLimits.openFileCountMax = 64
    options.savesStates = false
    list = keepsList ? Self.list(&random) : nil
    writer = try StateStore.open(disk, options: options)
    events = StateEvents(seed: random.next())
    events.rowCount = 5
    if let list { writer.projector(self.folding).historian!.keep(list.definition, of: list.table) }
    for _ in 0..<8 { try events.append(to: writer) }
    // A reader keeps a history whatever its options say about one.
    options.history = .off
    reader = try StateStore.open(disk, .readOnly, options: options)
    options.history = history
  }

  private static func list(_ random: inout SeededGenerator) -> (table: String, definition: ViewDefinition) {
    let definition = StateKeptViewTests.definition(
      "kept", KeptPastTests.orders.randomElement(using: &random)!,
      calls: [ProgramCalls.none, .keys].randomElement(using: &random)!, declares: Bool.random(using: &random))
    return ("b", definition)
  }

  var history: HistoryReader { reader.kept(folding).reading! }

  /// The numbers of the runs that the writer has.
  var runNumbers: Set<UInt32> {
    Set(writer.projector(folding).historian?.runs()?.runs.map(\.number) ?? [])
  }

  func append(_ count: Int) throws { for _ in 0..<count { try events.append(to: writer) } }

  func record(writesRest: Bool = false) throws {
    try writer.projector(folding).historian!.recordBlocking(writesRest: writesRest)
  }

  func restart() throws {
    try writer.closeBlocking()
    writer = try StateStore.open(disk, options: options)
  }

  func erase(_ random: inout SeededGenerator) throws {
    let first = UInt64.random(in: 1...writer.head.sequence, using: &random)
    let last = min(first + 2, writer.head.sequence)
    _ = try writer.eraseBlocking(Erasure(sequences: [first...last], because: "asked to"))
  }

  /// The first difference between what the reader has at any sequence and the log as it sees it.
  func difference() throws -> String? {
    try reader.log.refresh()
    guard let runs = history.runs() else { return nil }
    return try HistoryStore.difference(runs, reader, folding)
  }

  func close() throws {
    try reader.closeBlocking()
    try writer.closeBlocking()
  }
}
