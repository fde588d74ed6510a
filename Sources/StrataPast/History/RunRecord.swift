// The parts of a run's file: records as those of page files, found through addresses alone.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// The decoded bytes of one record of a run. They never change.
final class RunRecord: Sendable {
  nonisolated(unsafe) let bytes: UnsafeRawBufferPointer
  /// Where each entry begins, if this is an inner page that holds; empty otherwise.
  let entries: [UInt32]

  /// - Parameter raw: memory that the record frees.
  init(taking raw: UnsafeMutableRawBufferPointer, count: Int, isInner: Bool) {
    bytes = UnsafeRawBufferPointer(rebasing: raw[..<count])
    entries = isInner ? Self.entries(bytes) : []
  }

  deinit { UnsafeMutableRawPointer(mutating: bytes.baseAddress!).deallocate() }

  var cursor: ByteCursor { ByteCursor(bytes.baseAddress!, count: bytes.count) }

  /// From an entry on.
  func cursor(at entry: UInt32) -> ByteCursor {
    ByteCursor(bytes.baseAddress! + Int(entry), count: bytes.count - Int(entry))
  }

  private static func entries(_ page: UnsafeRawBufferPointer) -> [UInt32] {
    guard let base = page.baseAddress, page.count > 1 else { return [] }
    var cursor = ByteCursor(base + 1, count: page.count - 1)
    var entries: [UInt32] = []
    while cursor.remaining > 0 {
      entries.append(UInt32(truncatingIfNeeded: cursor.position - base))
      guard RunTreeEntry(&cursor) != nil else { return [] }
    }
    return entries
  }
}

/// Where a record is in the file of its run.
struct RecordAddress: Hashable, Sendable {
  var offset: UInt64
  var length: UInt32
  var checksum: UInt32

  init(offset: UInt64, length: UInt32, checksum: UInt32) {
    self.offset = offset
    self.length = length
    self.checksum = checksum
  }

  func append(to bytes: inout RawBuffer) {
    bytes.append(varint: offset)
    bytes.append(varint: UInt64(length))
    bytes.append(integer: checksum)
  }

  /// Reads an address; nil for bytes that are none.
  init?(_ cursor: inout ByteCursor) {
    guard let offset = cursor.varint(), let length = cursor.varint().flatMap(UInt32.init(exactly:)),
      let checksum = cursor.integer(UInt32.self), length > StatePage.headLength,
      offset >= UInt64(RunFile.headerLength), offset <= UInt64(Int64.max) - UInt64(length)
    else { return nil }
    self.init(offset: offset, length: length, checksum: checksum)
  }
}

/// What was read of the runs of one history: records, and what was made of them, in the cache of the store, and the files
/// that are open.
final class RunCache: Sendable {
  /// A record that is longer is not kept.
  private static let recordLengthMax = 1 << 16
  private static let lastOwner = Lock<UInt64>(0)

  private let pages: PageCache
  /// The files that are open.
  let files: RunFiles

  init(_ pages: PageCache, openFileCountMax: Int = 64) {
    self.pages = pages
    files = RunFiles(countMax: openFileCountMax)
  }

  /// A number for an open run, which no other one gets: after an erasure, a number of a file may be used again.
  func owner() -> UInt64 {
    Self.lastOwner.withLock { last in
      last += 1
      return last
    }
  }

  func record(of owner: UInt64, at offset: UInt64) -> RunRecord? {
    pages.record(PageCache.RecordKey(owner, offset)) as? RunRecord
  }

  func add(_ record: RunRecord, of owner: UInt64, at offset: UInt64) {
    guard record.bytes.count <= Self.recordLengthMax else { return }
    pages.add(record, PageCache.RecordKey(owner, offset), byteCount: record.bytes.count)
  }

  /// What is made of the record at an offset: from memory if it was made lately.
  ///
  /// - Parameters:
  ///   - part: tells it from what else is made of that record; not 0.
  ///   - byteCount: the bytes that it takes.
  func made<Value: AnyObject & Sendable>(
    of owner: UInt64, at offset: UInt64, part: UInt64, byteCount: (Value) -> Int,
    _ make: () throws(PageDamage) -> Value
  ) throws(PageDamage) -> Value {
    let key = PageCache.RecordKey(owner, offset, part: part)
    if let known = pages.record(key) as? Value { return known }
    let value = try make()
    pages.add(value, key, byteCount: byteCount(value))
    return value
  }

  /// Drops the records of all histories of the store.
  func removeAll() { pages.removeRecords() }
}
