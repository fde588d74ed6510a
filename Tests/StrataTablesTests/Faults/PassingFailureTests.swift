// Folds that meet a temporary error: nothing is lost, and nothing is shown that was erased.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct PassingFailureTests {
  private static let root = "/store"
  private static let layout = StoreLayout(root: root)

  private static func store(_ disk: SimulatedDisk, count: Int = 60) throws -> EventStore {
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 6_000
    options.sealsInBackground = false
    let store = try EventStore.open(disk, path: root, .readWrite, options: options)
    for number in 0..<count {
      try store.appendBlocking([
        NewEvent(
          DocumentEvent.put, in: StreamName("person/\(number)"),
          ["text": .string("\(number) " + String(repeating: "\(number * 7_919)", count: 20))])
      ])
    }
    return store
  }

  private static func whole(_ store: EventStore) throws -> UInt64 {
    let fold = Fold(store.log, .documents(only: nil))
    try fold.run(through: .max)
    return fold.state.stateHash
  }

  @Test(arguments: [
    false, true,
  ])
  func `A fold that could not begin anew after an erasure does so before it shows anything`(byAppend: Bool)
    throws
  {
    let disk = SimulatedDisk()
    let store = try Self.store(disk)
    let fold = Fold(store.log, .documents(only: nil))
    try fold.run(through: .max)
    try store.eraseBlocking(Erasure(streams: ["person/3"], because: "asked to"))
    let head = store.log.mark.sequence
    func resume() throws {
      if byAppend { try fold.runByAppend(through: head) { _ in } } else { try fold.run(through: head) }
    }
    disk.makeUnreadable(Self.layout.segment(1), 4096..<4608)
    for _ in 0..<3 { #expect(throws: StoreError.self) { try resume() } }
    disk.makeReadable()
    try resume()
    #expect(fold.state.sequence == head)
    #expect(try fold.state.stateHash == Self.whole(store))
    #expect(fold.state["person"].count == 59)
    try store.closeBlocking()
  }

  @Test
  func `A projector shows nothing of what was erased where it could not begin anew`() async throws {
    let disk = SimulatedDisk()
    let store = try Self.store(disk)
    let projector = store.projector(.documents(only: nil))
    _ = try await projector.state(reaching: .max)
    try store.eraseBlocking(Erasure(streams: ["person/3"], because: "asked to"))
    disk.makeUnreadable(Self.layout.segment(1), 4096..<4608)
    for _ in 0..<3 {
      await #expect(throws: StoreError.self) { _ = try await projector.state(reaching: .max) }
    }
    disk.makeReadable()
    let state = try await projector.state(reaching: .max)
    #expect(try state.stateHash == Self.whole(store))
    try store.closeBlocking()
  }

  @Test
  func `A fold behind many erasures begins anew once`() throws {
    func reads(erasures: Int) throws -> Int {
      let disk = SimulatedDisk()
      let store = try Self.store(disk)
      let fold = Fold(store.log, .documents(only: nil))
      try fold.run(through: .max)
      for number in 0..<erasures {
        try store.eraseBlocking(Erasure(streams: [StreamName("person/\(number)")], because: "asked to"))
      }
      let count = Lock(0)
      disk.onOperation { call in
        if call.operation == .read { count.withLock { $0 += 1 } }
        return .proceed
      }
      try fold.run(through: .max)
      disk.onOperation(nil)
      #expect(try fold.state.stateHash == Self.whole(store))
      try store.closeBlocking()
      return count.withLock { $0 }
    }
    let (one, eight) = (try reads(erasures: 1), try reads(erasures: 8))
    #expect(eight < one * 3, "\(one) reads after one erasure, \(eight) after eight")
  }

  @Test
  func `Who takes every state has every state, also of those before what could not be read for a while`()
    throws
  {
    let disk = SimulatedDisk()
    let store = try Self.store(disk)
    let fold = Fold(store.log, .documents(only: nil))
    let segments = store.log.closedSegments
    try #require(segments.count > 4)
    disk.makeUnreadable(Self.layout.segment(segments[2]), 4096..<4608)
    var states: [TableSet] = []
    var failures = 0
    while states.count < 60 {
      do {
        let more = try fold.statesByAppend(through: 60, countMax: 32)
        try #require(!more.isEmpty)
        states += more
      } catch is StoreError {
        failures += 1
        #expect(states.count == Int(segments[2].lastBefore), "the states before the fault come first")
        if failures == 2 { disk.makeReadable() }
        try #require(failures < 3)
      }
    }
    #expect(states.map(\.sequence) == Array(1...60))
    #expect(failures == 2)
    try store.closeBlocking()
  }

  @Test
  func `A point of a store that is open for reading is one of the log as it is now`() throws {
    let disk = SimulatedDisk()
    let writer = try Self.store(disk, count: 3)
    let reader = try EventStore.open(disk, path: Self.root, .readOnly, options: StoreOptions())
    try writer.appendBlocking([NewEvent("t", in: "x", .null)])
    #expect(try reader.sequenceBlocking(of: .head) == 4)
    for (number, point) in [LogPoint.sequence(5), .time(Timestamp(nanoseconds: .max)), .head].enumerated() {
      try writer.appendBlocking([NewEvent("t", in: "x", .null)])
      #expect(try reader.sequenceBlocking(of: point) == UInt64(5 + number))
    }
    try reader.closeBlocking()
    try writer.closeBlocking()
  }
}
