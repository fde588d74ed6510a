// Projections that halt at an event that they cannot apply.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

private enum AccountEvent: DomainEvent { case paid(amount: Int) }

private struct Account: Codable, Identifiable, Sendable, Equatable {
  var id: String
  var amount = 0
}

private struct Overdrawn: Error {}

/// Balances that no event may be missing from.
private struct Ledger: Projection {
  static let name = "ledger"
  static let version = 1
  static let onFailure = ProjectionFailurePolicy.halt
  static let accounts = TableKey<Account>("account")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard case .paid(let amount) = try event.decode(AccountEvent.self) else { return }
    var account = tables[Self.accounts, event.stream.id] ?? Account(id: event.stream.id)
    account.amount += amount
    tables[Self.accounts, event.stream.id] = account
    if account.amount < 0 { throw Overdrawn() }
  }
}

/// The same balances, with the number of events that were applied.
private struct CountingLedger: Projection {
  static let name = "counting ledger"
  static let version = 1
  static let onFailure = ProjectionFailurePolicy.halt
  static let applied = Lock(0)

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    Self.applied.withLock { $0 += 1 }
    try Ledger().apply(event, to: &tables)
  }
}

@Suite struct HaltingProjectionTests {
  private static func isHalt(
    _ error: any Error, at sequence: UInt64, of name: String = Ledger.name
  ) -> Bool {
    guard let error = error as? StoreError else { return false }
    return error.reason == .halted && error.place == "account/a"
      && error.what
        == "the projection \(name) cannot apply event \(sequence), and halts before it: Overdrawn()"
  }

  private static func append(_ amounts: [Int], to stream: StreamName, in store: EventStore) async throws {
    try await store.append(amounts.map { AccountEvent.paid(amount: $0) }, to: stream)
  }

  @Test
  func `a fold halts before the event that it cannot apply, and every read of its tables names the event`()
    async throws
  {
    let store = EventStore.inMemory()
    let accounts = store.table(Ledger.accounts, of: Ledger())
    try await Self.append([5], to: "account/a", in: store)
    try await Self.append([1, -9, 7], to: "account/a", in: store)
    try await Self.append([3], to: "account/b", in: store)
    for _ in 0..<3 {
      await #expect { try await accounts["a"] } throws: { Self.isHalt($0, at: 3) }
      await #expect { try await store.failures(of: Ledger()) } throws: { Self.isHalt($0, at: 3) }
    }
    for sequence in 0...5 as ClosedRange<UInt64> {
      if sequence < 3 {
        let state = try await accounts.table.state(at: .sequence(sequence))
        let amount = try state["account"].row("a", as: Account.self)?.amount
        #expect(amount == [nil, 5, 6][Int(sequence)] && state.failures.count == 0)
      } else {
        await #expect { try await accounts.table.state(at: .sequence(sequence)) } throws: {
          Self.isHalt($0, at: 3)
        }
      }
    }
    // Documents and other projections of the store go on.
    try await store.append([NewEvent(DocumentEvent.put, in: "doc/1", ["x": 1])])
    #expect(try await store.documents("doc").table.row("1") != nil)
  }

  @Test func `a halted fold lends the states before the event, and none after it, in steps too`() async throws
  {
    let store = EventStore.inMemory()
    for amount in [1, 2, -9, 4] { try await Self.append([amount], to: "account/a", in: store) }
    for folding in [Folding.own(Ledger()), .touching(.own(Ledger()))] {
      let fold = Fold(store.log, folding)
      fold.tracksChain = true
      #expect(try fold.statesByAppend(through: 4, countMax: 9).map(\.sequence) == [1, 2])
      for _ in 0..<2 {
        #expect { try fold.statesByAppend(through: 4, countMax: 9) } throws: { Self.isHalt($0, at: 3) }
        #expect { try fold.run(through: 4) } throws: { Self.isHalt($0, at: 3) }
        #expect(fold.state.sequence == 2 && fold.state.appendCount == 2)
      }
      let straight = Fold(store.log, folding)
      straight.tracksChain = true
      try straight.run(through: 2)
      #expect(straight.state.stateHash == fold.state.stateHash && straight.state.chain == fold.state.chain)
    }
  }

  @Test func `a halted fold goes on once the event is erased`() async throws {
    let store = EventStore.inMemory()
    let accounts = store.table(Ledger.accounts, of: Ledger())
    try await Self.append([5], to: "account/b", in: store)
    try await Self.append([-1], to: "account/a", in: store)
    try await Self.append([7], to: "account/b", in: store)
    await #expect { try await accounts["b"] } throws: { Self.isHalt($0, at: 2) }
    try await store.erase(Erasure(sequences: [2...2], because: "typing error"))
    #expect(try await accounts["b"]?.amount == 12)
    #expect(try await accounts["a"] == nil)
  }

  @Test func `a fold that halts earlier after an erasure is kept, so the next reads apply one event`()
    async throws
  {
    let store = EventStore.inMemory()
    let accounts = store.table(Ledger.accounts, of: CountingLedger())
    try await Self.append([5], to: "account/a", in: store)
    for _ in 0..<50 { try await Self.append([1], to: "account/b", in: store) }
    try await Self.append([-3], to: "account/a", in: store)
    try await Self.append([1], to: "account/b", in: store)
    #expect(try await accounts["a"]?.amount == 2)
    try await store.erase(Erasure(sequences: [1...1], because: "asked to"))
    for read in 0..<4 {
      let before = CountingLedger.applied.withLock { $0 }
      await #expect { try await accounts["b"] } throws: { Self.isHalt($0, at: 52, of: CountingLedger.name) }
      let applied = CountingLedger.applied.withLock { $0 } - before
      // The first read may try the event at which it halts more than once.
      #expect(read == 0 ? 51..<60 ~= applied : applied == 1, "read \(read): \(applied)")
    }
    // Once that event is erased too, the fold goes on, and nothing is left of what was erased.
    try await store.erase(Erasure(sequences: [52...52], because: "typing error"))
    #expect(try await accounts["b"]?.amount == 51)
    #expect(try await accounts["a"] == nil)
  }

  @Test func `an event that is a row too long, or no object, halts as a thrown error does`() async throws {
    let store = EventStore.inMemory()
    let long = StreamName(category: "account", id: String(repeating: "x", count: 900))
    try await Self.append([1], to: long, in: store)
    try await store.append([NewEvent("paid", in: "account/a", ["amount": "many"])])
    await #expect {
      try await store.table(Ledger.accounts, of: Ledger())["a"]
    } throws: { error in
      (error as? StoreError)?.reason == .halted
        && (error as? StoreError)?.reason.map { _ in "\(error)".contains("event 2") } == true
    }
  }
}
