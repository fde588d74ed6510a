// Sorted keys that do not fit in memory, in a file without a name.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// One key with one moment. Its bytes are valid as long as what it was made from.
struct KeyPartEntry {
  var key: UnsafeRawBufferPointer
  var sectionLength: Int
  var idLength: Int
  var sequence: UInt64
  var isBirth: Bool
}

/// A scratch file for the parts of keys that are being made. Belongs to one thread at a time.
///
/// Its name is removed when it is created, so nothing is left of it: neither a crash nor an erasure has to know it.
/// A record that cannot be read again is a failure of the disk, and not damage to the history.
final class KeyParts {
  /// The length of the records that a part is read in.
  private static let recordLength = 1 << 15

  private let files: HistoryFiles
  /// Called before each write: throws if nothing more may be written.
  private let goesOn: () throws(StoreError) -> Void
  /// Nil before the first record.
  private var scratch: (file: any File, output: RunOutput)?
  private var buffer = RawBuffer(capacity: 1 << 12)
  private var addresses: [RecordAddress] = []

  init(_ files: HistoryFiles, _ goesOn: @escaping () throws(StoreError) -> Void) {
    (self.files, self.goesOn) = (files, goesOn)
  }

  /// Adds an entry to the part that is being written.
  func add(_ entry: KeyPartEntry) throws(StoreError) {
    buffer.append(varint: UInt64(entry.key.count))
    buffer.append(entry.key)
    buffer.append(varint: UInt64(entry.sectionLength))
    buffer.append(varint: UInt64(entry.idLength))
    buffer.append(varint: entry.sequence << 1 | (entry.isBirth ? 1 : 0))
    if buffer.count >= Self.recordLength { try flush() }
  }

  /// Ends the part. Returns where its records are.
  func end() throws(StoreError) -> [RecordAddress] {
    if buffer.count > 0 { try flush() }
    try scratch?.output.flush()
    defer { addresses = [] }
    return addresses
  }

  private func flush() throws(StoreError) {
    if scratch == nil {
      let file = try files.scratchFile()
      scratch = (file, RunOutput(scratch: file, files, goesOn))
    }
    if let address = try scratch?.output.append(buffer.bytes) { addresses.append(address) }
    buffer.removeAll()
  }

  fileprivate func record(at address: RecordAddress) throws(StoreError) -> RunRecord {
    guard let file = scratch?.file else { throw Self.lost }
    var stored = RawBuffer(capacity: Int(address.length))
    stored.pad(to: Int(address.length))
    let target = UnsafeMutableRawBufferPointer(start: stored.base, count: Int(address.length))
    guard try file.read(into: target, at: Int64(address.offset)) == target.count else { throw Self.lost }
    let known = PageAddress(
      file: 0, offset: address.offset, length: address.length, checksum: address.checksum)
    do throws(PageDamage) {
      let raw = try StatePage.raw(stored.bytes, of: known)
      return RunRecord(taking: raw.bytes, count: raw.count, isInner: false)
    } catch { throw Self.lost }
  }

  fileprivate static var lost: StoreError {
    .invalid(
      what: "keys that were written to a scratch file of a history cannot be read again",
      next: "check the disk; the history goes on with the next try")
  }
}

/// Walks over the entries of a part.
struct KeyPartCursor: AscendingSource {
  private let parts: KeyParts
  private var addresses: ArraySlice<RecordAddress>
  private var record: RunRecord?
  private var cursor = ByteCursor(UnsafeRawPointer(bitPattern: 8)!, count: 0)
  private(set) var entry = KeyPartEntry(
    key: UnsafeRawBufferPointer(start: nil, count: 0), sectionLength: 0, idLength: 0, sequence: 0,
    isBirth: false)

  init(_ addresses: [RecordAddress], in parts: KeyParts) {
    (self.addresses, self.parts) = (addresses[...], parts)
  }

  /// By key, and then by moment.
  func order(_ other: KeyPartCursor) -> Int {
    let order = entry.key.order(other.entry.key)
    return order != 0 ? order : entry.sequence < other.entry.sequence ? -1 : 1
  }

  /// Goes to the next entry, whose bytes are valid until the one after it. False at the end.
  mutating func next() throws(StoreError) -> Bool {
    if cursor.remaining == 0 {
      guard let address = addresses.popFirst() else { return false }
      let record = try parts.record(at: address)
      self.record = record
      cursor = record.cursor
    }
    guard let key = cursor.lengthPrefixed(), let section = cursor.varint(), let id = cursor.varint(),
      let moment = cursor.varint(), section <= UInt64(key.count), id <= UInt64(key.count)
    else { throw KeyParts.lost }
    entry = KeyPartEntry(
      key: key, sectionLength: Int(section), idLength: Int(id), sequence: moment >> 1,
      isBirth: moment & 1 == 1)
    return true
  }
}
