// A history that is made again after damage, until that is of no use, and after an erasure. What holds for all derived
// files is in DerivedKind.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryDamageTests {
  private static let kind = Histories()
  private static let folding = StateStore.documents

  @Test func `after an erasure a history that was given up as damaged is made again`() throws {
    let store = try Self.kind.openSecret(SimulatedDisk())
    try SecretStore.fill(store)
    let historian = try #require(store.projector(Self.folding).historian)
    try historian.recordBlocking()
    for _ in 0..<2 { historian.noteDamage() }
    #expect(throws: StoreError.self) { try historian.recordBlocking() }
    #expect(historian.runs() == nil && historian.failure != nil)
    try store.eraseBlocking(SecretStore.erasure)
    #expect(historian.failure == nil)
    try historian.recordBlocking()
    #expect(historian.end > 0)
    try store.closeBlocking()
  }

  @Test func `events that are folded again after an erasure are counted, and are of no history`() throws {
    let store = try Self.kind.openSecret(SimulatedDisk())
    try SecretStore.fill(store)
    let historian = try #require(store.projector(Self.folding).historian)
    try historian.recordBlocking()
    let end = try #require(historian.runs()).end
    let folded = PastReader(store, Self.folding)
    _ = try folded.fold(at: end)
    #expect(folded.counts == PastCounts(states: 1, fromHistory: 1))
    try store.eraseBlocking(SecretStore.erasure)
    let head = store.head.sequence
    _ = try folded.fold(at: head)
    #expect(folded.counts == PastCounts(states: 2, fromHistory: 1, foldedEvents: head))
    try store.closeBlocking()
  }

  @Test func `fault 85: a history that is damaged again after it was made again is given up, and said to be`()
    throws
  {
    let disk = SimulatedDisk()
    var options = Self.kind.options()
    options.fullDiskPause = .zero
    (options.pageCacheSize, options.unsavedSize) = (0, options.unsavedSize ?? options.pageCacheSize)
    let folding = Self.folding
    let store = try StateStore.open(disk, options: options)
    var events = StateEvents(seed: 11)
    for _ in 0..<20 { try events.append(to: store) }
    let historian = try #require(store.projector(folding).historian)
    let expected = try HistoryStore.replayed(store, folding)
    let sequences = [store.head.sequence / 3, store.head.sequence / 2]
    func read() throws {
      for (sequence, state) in zip(
        sequences, try store.statesBlocking(at: sequences.map { .sequence($0) }, folding))
      {
        #expect(try StateAnswers(state, of: store) == StateAnswers(expected[Int(sequence)], of: store))
      }
    }
    func damage() {
      for path in disk.historyPaths where path.hasSuffix(".run") {
        disk.replace(path, disk.contents(path)!.map { $0 ^ 0x55 })
      }
    }
    try historian.recordBlocking()
    let first = try #require(historian.runs())
    damage()
    try read()
    try historian.recordBlocking()
    let second = try #require(historian.runs())
    #expect(try HistoryStore.difference(second, store, folding) == nil && historian.failure == nil)
    // Who still holds the first runs learns of their damage late. That says nothing of the second ones.
    historian.noteDamage(in: first)
    #expect(historian.runs()?.shares(with: second) == true && historian.failure == nil)
    damage()
    try read()
    #expect(throws: StoreError.self) { try historian.recordBlocking() }
    #expect(historian.runs() == nil && historian.end == 0)
    #expect(disk.historyPaths == [])
    let said = try #require(store.projections.first { $0.name == "$documents" }?.historyError)
    #expect("\(said)".contains("damaged again"))
    try read()
    for _ in 0..<9 { try events.append(to: store) }
    #expect(throws: StoreError.self) { try historian.recordBlocking() }
    #expect(disk.historyPaths == [])
    try store.closeBlocking()
    // The next process makes it again.
    let again = try StateStore.open(disk, options: options)
    let next = try #require(again.projector(folding).historian)
    try next.recordBlocking()
    #expect(try HistoryStore.difference(try #require(next.runs()), again, folding) == nil)
    try again.closeBlocking()
  }
}
