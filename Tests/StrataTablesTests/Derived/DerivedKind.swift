// What a kind of derived data has to do in tests, so that one suite holds all kinds to the same promises.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

/// One kind of data that is made of the log, in `derived/NAME/` with a folder for each projection. It may be deleted at
/// any moment, and the answers stay those of the log.
///
/// A new kind is one more type of this protocol, in `derivedKinds`.
protocol DerivedKind: Sendable, CustomTestStringConvertible {
  /// The name of its folder in `derived/`.
  var name: String { get }
  /// The file of a projection's folder that says which of the others are in use.
  var headFile: String { get }
  /// The name of another file there.
  func dataFile(_ number: UInt32) -> String
  /// How many of the last writes a reader may find: those before them are gone.
  var writeCountKept: Int { get }
  /// Of how many bytes one is damaged in an ordinary run. Where each event is read then, that is not all of them.
  var damageStep: Int { get }
  /// Whether a read of everything notices each changed bit.
  var readsEveryByte: Bool { get }
  /// The command of the second reader in `Tests/Oracle` that reads it.
  var oracleCommand: String { get }
  /// Whether lists that somebody holds are saved with it.
  var savesLists: Bool { get }

  /// Options with which a few events make several small files of this kind, and none of another one.
  func options() -> StoreOptions
  /// The same, with random limits.
  func options(_ random: inout SeededGenerator) -> StoreOptions
  /// To be called once for each store that was opened.
  func begin(_ store: EventStore, _ folding: Folding)
  /// Brings what is on disk of a projection up to the end of the log.
  func write(_ store: EventStore, _ folding: Folding) throws
  /// What the log says of all that can be read of a projection, by sequence.
  func expected(_ store: EventStore, _ folding: Folding) throws -> [UInt64: StateAnswers]
  /// Reads everything of a projection that is on disk, as a process does that knows nothing of it.
  ///
  /// - Parameter expected: nil for what the log says after the read.
  func read(
    _ store: EventStore, _ folding: Folding, _ expected: [UInt64: StateAnswers]?
  ) throws -> DerivedReading
  /// A state that this process answers with and of which little was read yet. It is the newest that is on disk.
  func state(_ store: EventStore, _ folding: Folding) async throws -> TableSet
  /// The first answer of this process, whatever is on disk, that differs from the log's.
  func difference(_ store: EventStore, _ folding: Folding) async throws -> String?
  /// To be called where a read has noticed damage that this process may not know of.
  func noteDamage(_ store: EventStore, _ folding: Folding)
  /// What the check of a store finds.
  func findings(_ log: Log) throws -> [StoreFinding]
}

/// What was read from disk.
struct DerivedReading {
  /// The last event in it; 0 if nothing was used.
  var end: UInt64 = 0
  /// How much of it could not be read.
  var lostCount = 0
  /// The first answer that differs from the log's.
  var difference: String?
}

/// Every kind. Each law is a test with these as its arguments.
let derivedKinds: [any DerivedKind] = [SavedStates(), Histories()]

extension DerivedKind {
  var testDescription: String { name }
  func options(_ random: inout SeededGenerator) -> StoreOptions { options() }
  func noteDamage(_ store: EventStore, _ folding: Folding) {}

  var foldings: [Folding] { [StateStore.documents, StateStore.tally] }
  var root: String { "\(StateStore.layout.derived)/\(name)" }
  func folder(_ folding: Folding) -> String { "\(root)/\(StateName(folding)!.folder)" }

  func paths(_ disk: SimulatedDisk) -> [String] { disk.paths.filter { $0.hasPrefix(root + "/") } }
  func paths(_ disk: SimulatedDisk, of folding: Folding) -> [String] {
    disk.paths.filter { $0.hasPrefix(folder(folding) + "/") }
  }
  func contents(_ disk: SimulatedDisk) -> [String: [UInt8]] {
    Dictionary(uniqueKeysWithValues: paths(disk).map { ($0, disk.contents($0)!) })
  }

  func open(
    _ disk: SimulatedDisk, _ access: EventStore.Access = .readWrite, _ options: StoreOptions? = nil,
    foldings: [Folding]? = nil
  ) throws -> EventStore {
    let store = try StateStore.open(disk, access, options: options ?? self.options())
    for folding in foldings ?? self.foldings { begin(store, folding) }
    return store
  }

  func write(_ store: EventStore) throws { for folding in foldings { try write(store, folding) } }

  func difference(_ store: EventStore) async throws -> String? {
    for folding in foldings {
      if let difference = try await difference(store, folding) {
        return "\(StateName(folding)!.folder): \(difference)"
      }
    }
    return nil
  }

  /// Reads all that is on disk, which has to be right. Returns the end of each projection's.
  func ends(_ store: EventStore, _ what: String) throws -> [UInt64] {
    try foldings.map { folding in
      let reading = try read(store, folding, nil)
      #expect(reading.difference == nil, "\(what)")
      if reading.lostCount > 0 { noteDamage(store, folding) }
      return reading.end
    }
  }

  /// What is right after any fault: the answers, and what is written then, which the next process uses. Returns the ends
  /// of what the first process found.
  func check(
    _ disk: SimulatedDisk, _ what: String, head: UInt64? = nil, _ options: StoreOptions? = nil
  ) async throws -> [UInt64] {
    let store = try open(disk, .readWrite, options)
    if let head { #expect(store.head.sequence == head, "\(what)") }
    let ends = try ends(store, what)
    #expect(try await difference(store) == nil, "\(what)")
    try store.put("later", ["n": 1])
    try write(store)
    #expect(try await difference(store) == nil, "\(what), written")
    let last = store.head.sequence
    try store.closeBlocking()
    let next = try open(disk, .readOnly, options)
    for folding in foldings {
      let reading = try read(next, folding, nil)
      #expect(reading.difference == nil && reading.lostCount == 0, "\(what), later")
      #expect(reading.end == last, "\(what), later: what was written is not used")
    }
    try next.closeBlocking()
    return ends
  }
}
