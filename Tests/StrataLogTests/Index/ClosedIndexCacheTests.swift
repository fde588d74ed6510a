// The indexes of closed segments in memory are bounded, and what is dropped comes back.

import StrataLog
import StrataSimulation
import Testing

@Suite struct ClosedIndexCacheTests {
  @Test(arguments: [true, false])
  func `a reader keeps no more indexes in memory than it may, and answers the same`(hasFiles: Bool) throws {
    let memory = MemoryFileSystem()
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 1
    let log = try Log.openWriter(memory, path: "/store", options: options)
    let count = 40
    for number in 0..<count {
      let append = ModelAppend(
        [ModelEvent(stream: "s/\(number)", type: "t"), ModelEvent(stream: "all", type: "t")], id: "\(number)")
      _ = try log.appendBlocking(append.draft())
    }
    try log.close()
    if !hasFiles {
      for name in try memory.contents(ofDirectory: "/store/derived") {
        try memory.remove("/store/derived/\(name)")
      }
    }
    let reader = try Log.openReader(memory, path: "/store", options: options)
    let unbounded = StoreIndex(reader.source, isWriter: false)
    #expect(try unbounded.revision(of: Array("none".utf8)) == 0)
    let whole = unbounded.closedInMemory
    #expect(whole.count == count - 1 && whole.byteCount > 0)
    let bytesMax = whole.byteCount / 4
    let index = StoreIndex(reader.source, isWriter: false, bytesMax: bytesMax)
    for round in 0..<2 {
      for number in 0..<count {
        #expect(try index.revision(of: Array("s/\(number)".utf8)) == 1, "round \(round)")
        #expect(try index.first(ofID: Array("\(number)".utf8)) == UInt64(number * 2 + 1))
        let kept = index.closedInMemory
        #expect(kept.byteCount <= bytesMax && kept.count > 0 && kept.count <= count / 4)
      }
    }
    #expect(
      try index.parts(of: Array("all".utf8), after: 0).flatMap(\.sequences)
        == (1...UInt64(count)).map { $0 * 2 })
    let least = StoreIndex(reader.source, isWriter: false, bytesMax: 0)
    #expect(try least.revision(of: Array("s/0".utf8)) == 1)
    #expect(least.closedInMemory.count == 1, "what was asked for last is kept")
    if !hasFiles { #expect(try memory.contents(ofDirectory: "/store/derived") == []) }
    try reader.close()
  }
}
