// A segment may hold more than the index of one can count: that is an error, and no end of the program.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct SegmentIndexLimitTests {
  @Test func `what the log holds beyond the index's numbers is an error that a newer version may not have`()
    throws
  {
    let store = try ForgedStore(appends: 60)
    let log = try Log.openReader(store.disk, path: FaultStore.root, options: store.options)
    let index = SegmentIndex(of: 1, countMax: 200)
    var cursor = log.cursor(after: 0)
    var refusal: ContentProblem?
    while refusal == nil, let block = try cursor.next() {
      do throws(ContentProblem) { try index.add(block) } catch { refusal = error }
    }
    guard case .unsupported = refusal else {
      Issue.record("\(String(describing: refusal)) after \(index.nextSequence - 1) events")
      return
    }
    #expect(index.nextSequence > 10 && index.nextSequence < 40)
    try log.close()
  }

  @Test func `an append beyond the index's numbers is refused, and what was counted before stays`() throws {
    let index = SegmentIndex(of: 1, countMax: 200)
    var names: [[UInt8]] = []
    func append(_ name: [UInt8]) throws(StoreError) -> UInt64 {
      try name.lendBytes { bytes throws(StoreError) in
        try index.append(to: bytes, hash: XXH64.of(bytes), type: bytes) { 7 }
      }
    }
    for number in 100..<200 {
      let name = Array("stream-\(number)".utf8)
      do throws(StoreError) {
        #expect(try append(name) == 8)
        names.append(name)
      } catch {
        guard case .invalid = error else { throw error }
      }
    }
    #expect(names.count == 20 && index.nextSequence == 21)
    for name in names {
      name.withUnsafeBytes { #expect(index.revision(of: $0, hash: XXH64.of($0)) == 8) }
    }
  }
}
