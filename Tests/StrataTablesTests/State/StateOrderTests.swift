// The order of tables: that of their first writes, whatever was asked for before.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct StateOrderTests {
  private static func list(_ name: String) -> ViewDefinition {
    StateKeptViewTests.definition(name, .key)
  }

  @Test func `a list that is asked for before its table has a row does not change the order of tables`()
    async throws
  {
    let disk = SimulatedDisk()
    var store = try StateStore.open(disk)
    try store.put("1", in: "first", ["n": 1])
    let projector = store.projector(StateStore.documents)
    var leases: [ViewLease] = []
    for table in ["nothing", "third", "second"] {
      leases.append(projector.lease(Self.list("of \(table)"), of: table))
      _ = try await projector.state(reaching: store.head.sequence, with: leases.last!)
    }
    try store.put("1", in: "second", ["n": 2])
    try store.put("1", in: "third", ["n": 3])
    let set = try await projector.state(reaching: store.head.sequence)
    #expect(set.tables.map(\.name) == ["first", "second", "third", "nothing"])
    for table in ["third", "second"] {
      #expect(set[table].view(Self.list("of \(table)").identity)?.items.count == 1)
    }
    let difference = try await store.difference(of: StateStore.documents)
    #expect(difference == nil)
    try store.checkpointBlocking()
    #expect(try StateVerifier(store.log).run() == [])
    try store.closeBlocking()
    store = try StateStore.open(disk)
    let restored = try await store.projector(StateStore.documents).state(reaching: store.head.sequence)
    #expect(restored.tables.map(\.name) == ["first", "second", "third"])
    try store.closeBlocking()
  }

  @Test func `the tables of a projection keep their order, too`() async throws {
    let disk = SimulatedDisk()
    let store = try StateStore.open(disk)
    try store.put("1", ["n": 1])
    let projector = store.projector(StateStore.tally)
    let lease = projector.lease(Self.list("list"), of: TallyProjection.last.name)
    _ = try await projector.state(reaching: store.head.sequence, with: lease)
    // The first is in one table, the second in both.
    for number: Int64 in [1, 3] { try store.appendAny([NewEvent("counted", in: "counter/1", .int(number))]) }
    let set = try await projector.state(reaching: store.head.sequence)
    #expect(set.tables.map(\.name) == [TallyProjection.rows.name, TallyProjection.last.name])
    let difference = try await store.difference(of: StateStore.tally)
    #expect(difference == nil)
    try store.closeBlocking()
    withExtendedLifetime(lease) {}
  }
}
