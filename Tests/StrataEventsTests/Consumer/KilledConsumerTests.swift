// A consumer whose machine loses power at any moment.

import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct KilledConsumerTests {
  /// A store with orders and other events, whose consumer is killed again and again.
  private struct Shop {
    var disk = SimulatedDisk()
    var random: StrataSimulation.SeededGenerator
    var options = StoreOptions()
    var consuming = ConsumerOptions()
    /// The sequences of the orders that the log has.
    var orders: [UInt64] = []

    init(seed: UInt64) {
      random = StrataSimulation.SeededGenerator(seed: seed)
      options.clock = .fixed
      options.segmentSizeTarget = [1, 4_500, 20_000].randomElement(using: &random)!
      options.sealsInBackground = Bool.random(using: &random)
      options.durability = [.synced, .synced, .buffered].randomElement(using: &random)!
      options.preallocationStep = 0
      options.padsGroupsToPages = Int.random(in: 0..<4, using: &random) == 0
      consuming.selection = .types("order")
      consuming.saveCount = Int.random(in: 1...4, using: &random)
      consuming.batchCount = [1, 2, 3, 100].randomElement(using: &random)!
      consuming.retryCount = 0
    }

    func open(_ disk: SimulatedDisk) throws -> EventStore {
      try EventStore.open(disk, path: "/shop", .readWrite, options: options)
    }

    mutating func fill() async throws {
      let store = try open(disk)
      for number in 0..<Int.random(in: 1...12, using: &random) {
        let count = Int.random(in: 1...3, using: &random)
        let events = (0..<count).map { index in
          NewEvent(Bool.random(using: &random) ? "order" : "note", in: "s/\(number % 3)", .int(Int64(index)))
        }
        let receipt = try await store.append(events)
        orders += zip(receipt.sequences, events).filter { $1.type == "order" }.map(\.0)
      }
      // In a buffered store, what is not on disk could be lost together with its orders.
      try await store.close()
    }

    /// Runs the consumer until it has caught up, or until the power fails at one of the next calls.
    mutating func run(
      killedWithin calls: Int?, _ handle: (RecordedAppend, inout WriteBatch) throws -> Void
    ) async throws {
      let store = try open(disk)
      if let calls {
        disk.cutPower(
          atOperation: disk.operationCount + Int.random(in: 1...calls, using: &random),
          partOfWrite: Double.random(in: 0...1, using: &random))
      }
      do {
        try await store.consumer("worker", consuming).run(until: .caughtUp) { try handle($0, &$1) }
      } catch  where disk.isPoweredOff {}
      try? await store.close()
      // Garbage in a sector costs nothing only where groups are padded against it.
      let models = CrashModel.allCases.filter { $0 != .garbage || options.padsGroupsToPages }
      let model = models.randomElement(using: &random)!
      disk = disk.isPoweredOff ? disk.crash(seed: random.next(), model: model) : disk.clone()
    }
  }

  @Test(arguments: StrataSimulation.SeededGenerator.historySeeds(500))
  func `every order is billed once, whenever the power fails`(seed: UInt64) async throws {
    var shop = Shop(seed: seed)
    try await shop.fill()
    for kill in 0..<3 {
      try await shop.run(killedWithin: kill < 2 ? 60 : nil) { append, batch in
        for event in append.events {
          try batch.append(NewEvent("bill", in: "bill/all", .int(Int64(event.sequence))))
        }
      }
    }
    let store = try shop.open(shop.disk)
    let bills = try await store.events(in: "bill/all").map { try $0.document() }
    #expect(bills == shop.orders.map { .int(Int64($0)) })
    // Each bill says which order it is about, and so does the store.
    for bill in try await store.events(in: "bill/all") {
      let cause = try #require(try await store.cause(of: bill.sequence))
      let append = try #require(try await store.append(holding: cause.sequence))
      #expect(cause.consumer == "worker" && append.sequences.upperBound == cause.sequence)
      let order = try bill.document()
      #expect(append.events.contains { .int(Int64($0.sequence)) == order })
    }
    try await store.close()
  }

  @Test(arguments: StrataSimulation.SeededGenerator.historySeeds(500))
  func `of orders with and without effects, the effects are there once, and each order is handled`(
    seed: UInt64
  )
    async throws
  {
    var shop = Shop(seed: seed)
    try await shop.fill()
    var handled: [UInt64] = []
    for kill in 0..<3 {
      var now: [UInt64] = []
      try await shop.run(killedWithin: kill < 2 ? 60 : nil) { append, batch in
        now += append.events.map(\.sequence)
        for event in append.events where event.sequence % 3 != 0 {
          try batch.append(NewEvent("bill", in: "bill/all", .int(Int64(event.sequence))))
        }
      }
      // Without effects they are handled again only as far as they were not saved.
      let again = Set(now).intersection(handled).filter { $0 % 3 == 0 }
      if shop.options.durability == .synced { #expect(again.count <= shop.consuming.saveCount * 3) }
      handled += now
    }
    #expect(Set(handled) == Set(shop.orders))
    let store = try shop.open(shop.disk)
    let bills = try await store.events(in: "bill/all").map { try $0.document() }
    #expect(bills == shop.orders.filter { $0 % 3 != 0 }.map { .int(Int64($0)) })
    try await store.close()
  }

  @Test(arguments: StrataSimulation.SeededGenerator.historySeeds(500))
  func `without effects in the store, every order is handled, and few of them again`(seed: UInt64)
    async throws
  {
    var shop = Shop(seed: seed)
    try await shop.fill()
    var handled: [UInt64] = []
    for kill in 0..<3 {
      var now: [UInt64] = []
      try await shop.run(killedWithin: kill < 2 ? 60 : nil) { append, _ in
        now += append.events.map(\.sequence)
      }
      // Each run goes through the orders without a gap.
      if let first = now.first { #expect(now == Array(shop.orders.drop { $0 < first }.prefix(now.count))) }
      // What was handled before is handled again only as far as it was not saved.
      let again = Set(now).intersection(handled)
      if shop.options.durability == .synced { #expect(again.count <= shop.consuming.saveCount * 3) }
      handled += now
    }
    #expect(Set(handled) == Set(shop.orders))
  }
}
