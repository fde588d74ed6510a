// Power cuts as an application tests itself, with public names alone: the package's own are not visible here.

import Strata
import StrataTesting
import Testing

@Suite struct PublicDiskTests {
  enum AccountEvent: DomainEvent, Equatable { case paidIn(cents: Int) }

  private static func payIn(_ cents: Int, to account: StreamName, of store: EventStore) async throws {
    try await store.append([AccountEvent.paidIn(cents: cents)], to: account)
  }

  private static func paid(to account: StreamName, of store: EventStore) async throws -> [Int] {
    try await store.events(in: account).compactMap {
      guard case .paidIn(let cents) = try $0.decode(AccountEvent.self) else { return nil }
      return cents
    }
  }

  /// Pays in 1, 2, 3 and so on, until the power fails or ten payments are made. Returns how many were acknowledged.
  private static func work(on disk: SimulatedDisk) async throws -> Int {
    var acknowledged = 0
    do {
      let store = try await disk.open(at: "/bank/accounts")
      for cents in 1...10 {
        try await payIn(cents, to: "account/1", of: store)
        acknowledged = cents
      }
      try await store.close()
    } catch  where disk.isPoweredOff {}
    return acknowledged
  }

  /// Checks that the store on a disk has all acknowledged payments and at most one more, and can be written to.
  private static func check(
    _ disk: SimulatedDisk, has acknowledged: Int, _ when: Comment,
    by location: SourceLocation = #_sourceLocation
  ) async throws {
    let store = try await disk.open(at: "/bank/accounts")
    let paid = try await paid(to: "account/1", of: store)
    #expect([acknowledged, acknowledged + 1].contains(paid.count), when, sourceLocation: location)
    #expect(paid == Array((1...11).prefix(paid.count)), when, sourceLocation: location)
    try await payIn(0, to: "account/1", of: store)
    try await store.close()
  }

  @Test func `what was acknowledged is there after a power cut at any call`() async throws {
    let whole = SimulatedDisk()
    #expect(try await Self.work(on: whole) == 10)
    #expect(!whole.isPoweredOff && whole.operationCount > 30)
    var interrupted: Set<Int> = []
    for operation in 1...whole.operationCount {
      let disk = SimulatedDisk()
      disk.cutPower(atOperation: operation, partOfWrite: Double(operation % 3) / 2)
      let acknowledged = try await Self.work(on: disk)
      interrupted.insert(acknowledged)
      for seed: UInt64 in 0..<4 {
        try await Self.check(
          disk.afterPowerCut(seed: seed), has: acknowledged, "call \(operation), seed \(seed)")
      }
    }
    // There was a cut in the work on every payment.
    #expect(interrupted.isSuperset(of: 0..<10))
  }

  @Test func `a power cut in a recovery from a power cut loses nothing either`() async throws {
    for operation in stride(from: 58, through: 108, by: 5) {
      let disk = SimulatedDisk()
      disk.cutPower(atOperation: operation)
      let acknowledged = try await Self.work(on: disk)
      for inner in 1...20 {
        let second = disk.afterPowerCut(seed: UInt64(inner))
        #expect(second.operationCount == 0 && !second.isPoweredOff)
        second.cutPower(atOperation: inner)
        do { try await second.open(at: "/bank/accounts").close() } catch  where second.isPoweredOff {}
        try await Self.check(
          second.afterPowerCut(seed: UInt64(operation)), has: acknowledged, "call \(operation), then \(inner)"
        )
      }
    }
  }

  @Test func `of several tasks that write while segments close and are sealed, each finds what it wrote`()
    async throws
  {
    var options = StoreOptions()
    options.segmentSizeTarget = 2_000
    for number in 0..<40 {
      let disk = SimulatedDisk()
      disk.cutPower(atOperation: 60 + number * 15)
      var acknowledged = [0, 0, 0]
      if let store = try? await disk.open(at: "/bank/accounts", options: options) {
        acknowledged = await withTaskGroup(of: (Int, Int).self) { group in
          for task in 0..<3 {
            group.addTask {
              var acknowledged = 0
              while (try? await Self.payIn(acknowledged + 1, to: "account/\(task)", of: store)) != nil {
                acknowledged += 1
              }
              return (task, acknowledged)
            }
          }
          return await group.reduce(into: [0, 0, 0]) { $0[$1.0] = $1.1 }
        }
        try? await store.close()
      }
      #expect(disk.isPoweredOff)
      for seed: UInt64 in 0..<4 {
        let store = try await disk.afterPowerCut(seed: seed).open(at: "/bank/accounts", options: options)
        for (task, count) in acknowledged.enumerated() {
          let paid = try await Self.paid(to: "account/\(task)", of: store)
          #expect(
            [count, count + 1].contains(paid.count)
              && paid == Array(1...(count + 1)).prefix(paid.count).map { $0 })
        }
        try await store.close()
      }
    }
  }

  @Test func `a disk without power refuses every call, and keeps what it has for the time after`()
    async throws
  {
    let disk = SimulatedDisk()
    let store = try await disk.open(at: "/bank/accounts")
    try await Self.payIn(1, to: "account/1", of: store)
    // The power need not be cut to see what would remain.
    try await Self.check(disk.afterPowerCut(seed: 0), has: 1, "before the cut")
    disk.cutPower()
    #expect(disk.isPoweredOff)
    let refused = await #expect(throws: StoreError.self) {
      try await Self.payIn(2, to: "account/1", of: store)
    }
    #expect(refused?.reason != nil)
    let unopened = await #expect(throws: StoreError.self) { _ = try await disk.open(at: "/bank/accounts") }
    #expect(unopened?.reason != nil)
    try? await store.close()
    for seed: UInt64 in 0..<8 { try await Self.check(disk.afterPowerCut(seed: seed), has: 1, "seed \(seed)") }
  }

  @Test func `a store that is open for reading sees what a writer on the same disk acknowledges`()
    async throws
  {
    let disk = SimulatedDisk()
    await #expect(throws: StoreError.self) { _ = try await disk.open(at: "/bank/accounts", .readOnly) }
    let writer = try await disk.open(at: "/bank/accounts")
    try await Self.payIn(1, to: "account/1", of: writer)
    let reader = try await disk.open(at: "/bank/accounts", .readOnly)
    #expect(try await Self.paid(to: "account/1", of: reader) == [1])
    await #expect(throws: StoreError.self) { try await Self.payIn(2, to: "account/1", of: reader) }
    await #expect(throws: StoreError.self) { _ = try await disk.open(at: "/bank/accounts") }
    try await reader.close()
    try await writer.close()
  }
}
