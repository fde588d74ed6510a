// What was read of runs and stays in memory: no more than a number of bytes.

internal import StrataBase
@testable internal import StrataPast
@testable internal import StrataTables
internal import Testing

@Suite struct RunCacheTests {
  private struct Weak {
    weak var record: RunRecord?
  }

  private static func record(_ length: Int) -> RunRecord {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 8)
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
    return RunRecord(taking: bytes, count: length, isInner: false)
  }

  @Test(arguments: [0, 10_000, 200_000])
  func `records stay in memory up to a number of bytes, and those that are looked up stay`(limit: Int) {
    let pages = PageCache(limit: limit)
    let cache = RunCache(pages)
    let owner = cache.owner()
    var made: [Weak] = []
    // With what the cache itself takes for each.
    let size = 500 + 128
    for number in 0..<2_000 {
      let record = Self.record(500)
      made.append(Weak(record: record))
      cache.add(record, of: owner, at: UInt64(number))
      if limit > 0 { #expect(cache.record(of: owner, at: 0) != nil, "after \(number)") }
    }
    let alive = made.count { $0.record != nil } * size
    #expect(alive <= limit + 4 * size && alive >= limit / 2, "\(alive) of \(limit)")
    cache.removeAll()
    #expect(
      made.allSatisfy { $0.record == nil }
        && pages.statistics == PageCache.Statistics(dropCount: pages.statistics.dropCount))
  }

  @Test func `a record of one run is not that of another, and a very long one does not stay`() {
    let cache = RunCache(PageCache(limit: 1 << 20))
    let (one, other) = (cache.owner(), cache.owner())
    cache.add(Self.record(10), of: one, at: 64)
    #expect(cache.record(of: one, at: 64)?.bytes.count == 10)
    #expect(cache.record(of: other, at: 64) == nil && cache.record(of: one, at: 65) == nil)
    cache.add(Self.record(1 << 17), of: one, at: 128)
    #expect(cache.record(of: one, at: 128) == nil)
  }
}
