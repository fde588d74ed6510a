// Where a reader is told that the events of a name are, while other threads look at the store.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct ReaderPlacesTests {
  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.durability = .buffered
    options.sealsInBackground = false
    options.segmentSizeTarget = 20_000
    return options
  }

  @Test func `fault 107: a reader that follows a stream skips nothing that another thread found meanwhile`()
    throws
  {
    let memory = MemoryFileSystem()
    let writer = try Log.openWriter(memory, path: "/store", options: Self.options())
    let reader = try Log.openReader(memory, path: "/store", options: Self.options())
    let count: UInt64 = 5_000
    let failure = Lock<StoreError?>(nil)
    let appending = try DedicatedThread(name: "appending") {
      do throws(StoreError) {
        for _ in 0..<count {
          let append = ModelAppend([ModelEvent(stream: "s", type: "t")])
          _ = try writer.appendBlocking(append.draft())
          try reader.refresh()
        }
      } catch { failure.withLock { $0 = error } }
    }
    var last: UInt64 = 0
    while last < count, failure.withLock({ $0 }) == nil {
      let (ranges, through) = try reader.index.places(of: [Array("s".utf8)], .stream, after: last)
      let all = through > last ? [last + 1...through] : []
      guard ranges == all else {
        Issue.record("after \(last), \(ranges) is all through \(through)")
        break
      }
      last = through
    }
    appending.join()
    #expect(failure.withLock { $0 } == nil)
    try reader.close()
    try writer.close()
  }
}
