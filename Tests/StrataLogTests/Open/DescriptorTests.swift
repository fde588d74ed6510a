// Stores of many segments, in a process that has few descriptors.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct DescriptorTests {
  private static let path = "/store"

  /// A closed store with a segment for each append.
  private static func disk(_ segmentCount: Int) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let log = try openWriter(disk)
    for number in 0..<segmentCount {
      _ = try log.appendBlocking(
        ModelAppend([ModelEvent(stream: "s/\(number % 3)", type: "t")], id: "id-\(number)").draft())
    }
    try log.close()
    // Nothing is open of the copy, whatever a thread of the writer's may still hold of this one.
    return disk.clone()
  }

  private static func openWriter(_ disk: SimulatedDisk) throws -> Log {
    try Log.openWriter(disk, path: path, options: FaultStore.options(segmentSizeTarget: 1))
  }

  /// Lets at most as many files be open at once.
  private func limit(_ disk: SimulatedDisk, to count: Int) {
    disk.onOperation { [unowned disk] call in
      guard call.operation == .open, disk.openFileCount >= count else { return .proceed }
      return .fail(SystemErrorCode.tooManyOpenFiles)
    }
  }

  @Test(arguments: [VerifyDepth.quick, .full])
  func `a check holds a few descriptors, whatever number of segments there is`(depth: VerifyDepth) throws {
    let disk = try Self.disk(60)
    limit(disk, to: 4)
    var progress: [UInt64] = []
    var all: UInt64 = 0
    var verifier = LogVerifier(disk, path: Self.path, depth: depth) {
      progress.append($0)
      all = $1
    }
    let report = try verifier.run()
    #expect(report.findings == [] && report.segments == 60 && report.end.sequence == 60)
    #expect(report.events == (depth == .full ? 60 : 1))
    #expect(progress == progress.sorted() && progress.last ?? .max <= all)
    #expect(disk.openFileCount == 0)
  }

  @Test(arguments: [3, 4, 9])
  func `who reads many segments with few descriptors gives one back for the next`(count: Int) throws {
    let disk = try Self.disk(60)
    let reader = try Log.openReader(disk, path: Self.path, options: FaultStore.options())
    limit(disk, to: count)
    #expect(try reader.modelAppends().count == 60)
    for number in 0..<60 {
      #expect(try reader.index.first(ofID: Array("id-\(number)".utf8)) == UInt64(number) + 1)
      try reader.refresh()
    }
    for number in stride(from: UInt64(60), through: 1, by: -7) {
      #expect(try reader.block(holding: number)?.header.firstSequence == number)
    }
    disk.onOperation(nil)
    try reader.close()
  }

  @Test func `a writer that read many segments gives descriptors back for the next one`() throws {
    let disk = try Self.disk(60)
    let log = try Self.openWriter(disk)
    // The writer's own threads, that for indexes among them, have up to seven.
    limit(disk, to: 12)
    #expect(try log.modelAppends().count == 60)
    for number in 60..<70 {
      let append = ModelAppend([ModelEvent(stream: "s/\(number % 3)", type: "t")])
      #expect(try log.appendBlocking(append.draft()).first == UInt64(number) + 1)
    }
    #expect(log.mark.segment >= 69, "the segments go on to be closed at their size")
    disk.onOperation(nil)
    try log.close()
  }
}
