// Faults 32 and 35: consumers of the feed that fall behind, or end between what they did and where they are.

import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct ConsumerFaultTests {
  private static func options(_ segmentSizeTarget: Int) -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = segmentSizeTarget
    options.headSyncInterval = .seconds(3_600)
    options.sealsInBackground = false
    options.writesInStep = true
    options.preallocationStep = 0
    return options
  }

  /// The orders that the consumer reads: 1, 2, 3 and so on, some of them two in an append.
  private static let orderCount = 12

  private static func orders() throws -> EventStore {
    let store = try EventStore.open(
      MemoryFileSystem(), path: "/orders", .readWrite, options: options(1 << 20))
    var number = 0
    while number < orderCount {
      let count = number % 3 == 1 ? 2 : 1
      try store.appendBlocking(
        (1...count).map { NewEvent("order", in: "order/\(number + $0)", .int(Int64(number + $0))) })
      number += count
    }
    return store
  }

  private static func openBooks(_ disk: SimulatedDisk) throws -> EventStore {
    try EventStore.open(
      disk, path: "/books", .readWrite, options: options(4_500), storeID: StoreID(low: 1, high: 2))
  }

  /// Adds up what the feed delivers. The sum and the position are one append, so both are on the disk or neither.
  private static func consume(_ orders: EventStore, into books: EventStore) async throws {
    let last = try await books.events(in: "books/1", limit: 10_000).last
    var sum: Int64 = 0
    var start = LogPoint.beginning
    if let last, case .object(let fields) = try last.payload.document() {
      guard case .int(let known)? = fields["sum"], case .string(let text)? = fields["position"] else {
        throw Damaged()
      }
      sum = Int64(known)
      let parts = text.split(separator: "@")
      start = .position(.init(sequence: UInt64(parts[0])!, chain: UInt64(parts[1])!))
    }
    for try await append in orders.feed(from: start, until: .caughtUp) {
      for event in append.events {
        if case .int(let number) = try event.payload.document() { sum += Int64(number) }
      }
      let position = append.sequences.upperBound
      let chain = try orders.log.chain(after: position)!
      try books.appendBlocking([
        NewEvent("summed", in: "books/1", ["sum": .int(sum), "position": .string("\(position)@\(chain)")])
      ])
    }
  }

  private struct Damaged: Error {}

  private static func sum(_ books: EventStore) async throws -> DocumentValue? {
    guard
      case .object(let fields)? = try await books.events(in: "books/1", limit: 10_000).last?.payload
        .document()
    else { return nil }
    return fields["sum"]
  }

  @Test
  func `fault 35: a consumer that ends anywhere, and goes on, has done everything exactly once`() async throws
  {
    let orders = try Self.orders()
    let total = DocumentValue.int(Int64(Self.orderCount * (Self.orderCount + 1) / 2))
    let moments = Lock<[SimulatedDisk]>([])
    let disk = SimulatedDisk()
    disk.onOperation { [weak disk] call in
      if call.operation.isChange, let disk {
        let copy = disk.clone()
        moments.withLock { $0.append(copy) }
      }
      return .proceed
    }
    let books = try Self.openBooks(disk)
    try await Self.consume(orders, into: books)
    disk.onOperation(nil)
    #expect(try await Self.sum(books) == total)
    let entries = try await books.events(in: "books/1", limit: 100).count
    try books.closeBlocking()
    let all = moments.withLock { $0 }
    try #require(all.count > 60)
    for (number, moment) in all.enumerated() {
      for model in [CrashModel.lossless, .dropAll, .reorder] {
        let after = moment.crash(seed: UInt64(number), model: model)
        let again = try Self.openBooks(after)
        try await Self.consume(orders, into: again)
        #expect(try await Self.sum(again) == total, "\(model) before call \(number)")
        // Each step is there once, none twice.
        #expect(
          try await again.events(in: "books/1", limit: 100).count == entries, "\(model) before call \(number)"
        )
        try again.closeBlocking()
      }
    }
    try orders.closeBlocking()
  }

  @Test
  func `fault 32: a consumer that never comes back holds nothing, and one that comes late misses nothing`()
    async throws
  {
    let store = try EventStore.open(MemoryFileSystem(), path: "/s", .readWrite, options: Self.options(20_000))
    // Many that took one look and rest: a place in the log is all that each of them has.
    var resting: [ChangeFeed.AsyncIterator] = []
    for _ in 0..<50 { resting.append(store.feed().makeAsyncIterator()) }
    let payload = [UInt8](repeating: 9, count: 400)
    for number in 0..<2_000 {
      try store.appendBlocking([NewEvent("t", in: "s/\(number % 7)", payload: .opaque(payload))])
    }
    #expect(store.log.source.catalog.names.count > 5)
    for place in [0, 24, 49] {
      var next: UInt64 = 1
      while next <= 2_000, let append = try await resting[place].next() {
        #expect(append.sequences.lowerBound == next)
        next = append.sequences.upperBound + 1
      }
      #expect(next == 2_001)
    }
    try store.closeBlocking()
  }
}
