// Stores that begin later than at 1: a position that is no longer there is an error that says where to begin.

import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct TrimmedStoreTests {
  /// A store whose first segments were taken away, as a trim does: HEAD says where the log begins.
  private func trimmed() throws -> (store: SimulatedDisk, begin: UInt64, positions: [LogPosition]) {
    let disk = SimulatedDisk()
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 1
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    for number in 0..<6 {
      try store.appendBlocking([NewEvent("t", in: "s/\(number % 2)", ["n": .int(Int64(number))])])
    }
    var positions: [LogPosition] = []
    for sequence in 0...UInt64(6) {
      positions.append(
        LogPosition(sequence: sequence, chain: try #require(try store.log.chain(after: sequence))))
    }
    try store.closeBlocking()
    let layout = StoreLayout(root: "/store")
    for first in [1, 2, 3] as [SegmentName] { disk.delete(layout.segment(first)) }
    var head = try #require(try HeadFile.read(disk, path: layout.head))
    head.logBegin = 4
    let file = try disk.open(layout.head, .readWrite)
    for offset in HeadSlot.offsets {
      try head.encoded().withUnsafeBytes { try file.write($0, at: Int64(offset)) }
    }
    file.close()
    return (disk, 4, positions)
  }

  @Test(arguments: [EventStore.Access.readOnly, .readWrite])
  func `a place before the beginning of the log is trimmed, with the first sequence that is there`(
    access: EventStore.Access
  ) async throws {
    let (disk, begin, positions) = try trimmed()
    let store = try EventStore.open(disk, path: "/store", access, options: StoreOptions())
    #expect(store.firstSequence == begin)
    func seen(_ start: LogPoint) async throws -> [UInt64] {
      var seen: [UInt64] = []
      for try await append in store.feed(from: start, until: .caughtUp) { seen += append.sequences }
      return seen
    }
    #expect(try await seen(.beginning) == [4, 5, 6])
    for sequence in 0...UInt64(6) {
      for start in [LogPoint.sequence(sequence), .position(positions[Int(sequence)])] {
        if sequence < begin - 1 {
          await #expect(throws: StoreError.trimmed(firstAvailable: begin), "\(start)") {
            try await seen(start)
          }
        } else {
          #expect(try await seen(start) == Array([4, 5, 6].drop { $0 <= sequence }), "\(start)")
        }
      }
      var other = positions[Int(sequence)]
      other.chain ^= 1
      let error =
        sequence < begin - 1 ? StoreError.trimmed(firstAvailable: begin) : .diverged(sequence: sequence)
      await #expect(throws: error) { try await seen(.position(other)) }
    }
    #expect(try await store.append(holding: 3) == nil)
    #expect(StoreError.trimmed(firstAvailable: begin).next.contains("4"))
    try await store.close()
    var verifier = LogVerifier(disk, path: "/store")
    #expect(try verifier.run().findings == [])
  }

  @Test func `a reader that is behind when the log is trimmed is told so, and never skips`() async throws {
    let (disk, begin, _) = try trimmed()
    let store = try EventStore.open(disk, path: "/store", .readOnly, options: StoreOptions())
    var cursor = store.log.cursor(after: 1)
    do throws(StoreError) {
      _ = try cursor.next()
      Issue.record("something was read before the beginning of the log")
    } catch { #expect(error == .trimmed(firstAvailable: begin)) }
    try await store.close()
  }

  @Test
  func `a trimmed store is backed up from where it begins, and a backup that ends before that is refused`()
    throws
  {
    let (disk, begin, _) = try trimmed()
    let store = try EventStore.open(disk, path: "/store", .readOnly, options: StoreOptions())
    let target = SimulatedDisk()
    let report = try store.backupBlocking(to: "/backup", on: target)
    #expect(report.firstSequence == begin && report.head.sequence == 6)
    let copy = try EventStore.open(target, path: "/backup", .readWrite, options: StoreOptions())
    #expect(copy.firstSequence == begin && copy.head == store.head)
    try copy.closeBlocking()
    try store.closeBlocking()
  }
}
