// The parts of a run's file: records as those of page files, found through places alone.

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
struct RunPlace: Hashable, Sendable {
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

  /// Reads a place; nil for bytes that are none.
  init?(_ cursor: inout ByteCursor) {
    guard let offset = cursor.varint(), let length = cursor.varint().flatMap(UInt32.init(exactly:)),
      let checksum = cursor.integer(UInt32.self), length > StatePage.headLength,
      offset >= UInt64(RunFile.headerLength), offset <= UInt64(Int64.max) - UInt64(length)
    else { return nil }
    self.init(offset: offset, length: length, checksum: checksum)
  }
}

/// Decoded records in memory, up to a number of bytes, and the files that they are read from. Those that were looked up
/// lately stay.
final class RunCache: Sendable {
  private struct Key: Hashable {
    var owner: UInt64
    var offset: UInt64
  }

  private struct State {
    var lastOwner: UInt64 = 0
    /// Records that were looked up since the last turn, and those from before it.
    var young: [Key: RunRecord] = [:]
    var old: [Key: RunRecord] = [:]
    var youngBytes = 0
  }

  /// A record that is longer is not kept.
  private static let recordLengthMax = 1 << 16

  private let limit: Int
  /// The files that are open.
  let files: RunFiles
  private let state = Lock(State())

  init(limit: Int, openFileCountMax: Int = 64) {
    self.limit = limit
    files = RunFiles(countMax: openFileCountMax)
  }

  convenience init(_ limits: RunLimits) {
    self.init(limit: limits.cacheSize, openFileCountMax: limits.openFileCountMax)
  }

  /// A number for an open run, which no other one gets: after an erasure, a number of a file may be used again.
  func owner() -> UInt64 {
    state.withLock { state in
      state.lastOwner += 1
      return state.lastOwner
    }
  }

  func record(of owner: UInt64, at offset: UInt64) -> RunRecord? {
    let key = Key(owner: owner, offset: offset)
    return state.withLock { state in
      if let record = state.young[key] { return record }
      guard let record = state.old[key] else { return nil }
      add(record, key, to: &state)
      return record
    }
  }

  func add(_ record: RunRecord, of owner: UInt64, at offset: UInt64) {
    guard record.bytes.count <= Self.recordLengthMax else { return }
    state.withLock { add(record, Key(owner: owner, offset: offset), to: &$0) }
  }

  func removeAll() {
    state.withLock { state in (state.young, state.old, state.youngBytes) = ([:], [:], 0) }
  }

  private func add(_ record: RunRecord, _ key: Key, to state: inout State) {
    if state.youngBytes > limit / 2 {
      state.old = state.young
      state.young = [:]
      state.youngBytes = 0
    }
    if state.young.updateValue(record, forKey: key) == nil { state.youngBytes += record.bytes.count + 64 }
  }
}
