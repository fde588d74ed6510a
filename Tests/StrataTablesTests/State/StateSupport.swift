// Stores whose states are saved whatever they cost, and random events for them.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation

/// Counts events by stream, in two tables, and cannot apply some of them.
struct TallyProjection: Projection {
  struct Row: Codable, Identifiable, Sendable {
    var id: String
    var count: Int
    var text: String
  }

  struct Refusal: Error { var number: Int64 }

  static let name = "Tally of states"
  static let version = 3
  static let rows = TableKey<Row>("tally")
  static let last = TableKey<Row>("läst")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    let id = event.stream.id
    if case .string(let text) = try event.payload.document() {
      tables[Self.rows, id] = Row(id: id, count: 0, text: text)
    }
    guard case .int(let number) = try event.payload.document() else { return }
    let row = Row(
      id: id, count: (tables[Self.rows, id]?.count ?? 0) + 1,
      text: .ascii("t", count: Int(number * 37 % 6_000)))
    tables[Self.rows, id] = number % 5 == 0 ? nil : row
    if number % 3 == 0 { tables[Self.last, "\(number % 4)"] = row }
    if number % 7 == 3 { throw Refusal(number: number) }
  }
}

enum StateStore {
  static let path = "/store"
  static let layout = StoreLayout(root: path)
  static let documents = Folding.documents(only: nil)
  static let tally = Folding.own(TallyProjection())
  static let touching = Folding.touching(.documents(only: nil))
  static let foldings = [documents, tally, touching]

  /// Options with which every call of the disk is made in the same order each time, and every close saves.
  static func options(savingFrom least: Duration = .zero) -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 6_000
    options.preallocationStep = 0
    options.sealsInBackground = false
    options.writesInStep = true
    options.headSyncInterval = .seconds(3_600)
    options.savedFoldingMin = least
    options.closeFoldingMax = .seconds(60)
    // Small enough that pages are dropped all the time.
    options.pageCacheSize = 10_000
    options.readersSaveStates = false
    // A thread that waits for a processor makes no view leave its fold.
    options.viewBudget = .seconds(3_600)
    return options
  }

  static func open(
    _ disk: SimulatedDisk, _ access: EventStore.Access = .readWrite, options: StoreOptions = options()
  ) throws -> EventStore {
    try EventStore.open(
      disk, path: path, access, options: options,
      storeID: access == .readWrite ? StoreID(low: 1, high: 2) : nil)
  }

  /// The folder of a projection's state.
  static func folder(_ folding: Folding = documents) -> String {
    "\(layout.states)/\(StateName(folding)!.folder)"
  }

  static func stateFile(_ folding: Folding = documents) -> String {
    "\(folder(folding))/\(StoreLayout.stateFile)"
  }
}

extension String {
  /// A text of one character, in one step. `init(repeating:count:)` appends it as often as it is there.
  static func ascii(_ character: Unicode.Scalar, count: Int) -> String {
    String(unsafeUninitializedCapacity: count) { bytes in
      bytes.initialize(repeating: UInt8(ascii: character))
      return count
    }
  }
}

extension PageReads {
  /// Whether something comes true that reads of other tests hold up, whose threads may have to wait for a processor.
  static func comesTrue(_ condition: () -> Bool) -> Bool {
    let end = MonotonicTime.now().advanced(by: .seconds(60))
    while !condition() {
      guard MonotonicTime.now() < end else { return false }
      pauseThread(nanoseconds: 100_000)
    }
    return true
  }
}

extension SimulatedDisk {
  /// Whether no file is open, once the reads that other tests are at have ended. No store may be left.
  var isClosed: Bool { closes(to: 0) }

  /// Whether the number of open files becomes this one, once reads and threads of closed stores have ended.
  func closes(to count: Int) -> Bool {
    PageReads.comesTrue {
      PageCache.releaseMoved()
      return openFileCount == count
    }
  }

  /// The paths of the files of all states.
  var statePaths: [String] { paths.filter { $0.hasPrefix(StateStore.layout.states + "/") } }

  /// The paths of the page files of one state.
  func pageFiles(of folding: Folding = StateStore.documents) -> [String] {
    statePaths.filter { path in
      path.hasPrefix(StateStore.folder(folding) + "/") && path.hasSuffix(StoreLayout.pagesSuffix)
    }
  }
}

/// Events of documents in three tables, of which some cannot be applied, and events of `TallyProjection`.
struct StateEvents {
  var random: SeededGenerator
  /// The number of different rows of a table.
  var rowCount = 12
  /// The number of different numbers in documents.
  var numberCount: Int64 = 9

  /// The lengths of the texts in documents. A page has 4096 bytes, and a row of more than half a page has its own.
  static let lengths = [0, 1, 3, 10, 40, 100, 300, 900, 1_500, 2_100, 2_600, 4_200, 9_000]

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func text() -> String {
    let count = Self.lengths[
      Int.random(in: 0..<Int.random(in: 1...Self.lengths.count, using: &random), using: &random)]
    // Some texts can be compressed, some cannot.
    if Bool.random(using: &random) { return .ascii("z", count: count) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    // As `UInt8.random(in: 0x21...0x7E)` draws them, by hand: a build without optimisation would spend its time there.
    while bytes.count < count {
      let product = UInt16(UInt8(truncatingIfNeeded: random.next())) * 94
      if product & 0xFF >= 68 { bytes.append(0x21 + UInt8(product >> 8)) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  mutating func stream() -> StreamName {
    let table = ["a", "b", "ünder"].randomElement(using: &random)!
    let number = Int.random(in: 0..<rowCount, using: &random)
    return StreamName(
      category: table, id: number % 3 == 0 ? "\(number)" : "some longer id with number \(number)")
  }

  mutating func event() -> NewEvent {
    let number = Int64.random(in: 0..<numberCount, using: &random)
    let fields: DocumentValue = ["n": .int(number), "t": .string(text())]
    switch Int.random(in: 0..<16, using: &random) {
    case 0..<2: return NewEvent(DocumentEvent.delete, in: stream(), payload: EventPayload(.null))
    case 2..<5: return NewEvent(DocumentEvent.merge, in: stream(), payload: EventPayload(fields))
    case 5: return NewEvent(DocumentEvent.put, in: stream(), payload: EventPayload(.int(7)))
    case 6..<10:
      let id = "counter/\(Int.random(in: 0..<rowCount, using: &random))"
      return NewEvent("counted", in: StreamName(id), .int(Int64.random(in: 0..<1_000, using: &random)))
    default: return NewEvent(DocumentEvent.put, in: stream(), payload: EventPayload(fields))
    }
  }

  mutating func append(to store: EventStore) throws {
    let events = (0..<Int.random(in: 1...4, using: &random)).map { _ in event() }
    try store.appendAny(events)
  }
}

extension EventStore {
  /// Appends events of any type, those of documents too.
  func appendAny(_ events: [NewEvent]) throws {
    _ = try log.appendBlocking(try draft(events, id: nil, time: nil, expecting: [:], isOwn: false))
  }

  /// Puts a document.
  func put(_ id: String, in table: String = "a", _ document: DocumentValue) throws {
    try appendAny([
      NewEvent(
        DocumentEvent.put, in: StreamName(category: table, id: id), payload: EventPayload(document))
    ])
  }
}

extension Projector {
  /// The fold that the projector goes on with.
  func currentFold() -> Fold { currentFold(exclusive) }
}
