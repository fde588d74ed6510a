// Appends records to the file of a run that is being written.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// A run's file while it is written, or a scratch file. Belongs to one thread at a time.
///
/// States append their pages by themselves, with the same record and pace: a `StateWriter` goes on in a file that an earlier
/// state began, continues in another one when that is long, and takes back what it wrote; a `SpillWriter` replaces leaves
/// only once their bytes are in a file that several writers share, and makes nothing durable. What is left in common is the
/// encoding, `StatePage.appendRecord`, and the pace, `SyncStep`.
final class RunOutput {
  let number: UInt32
  private let files: HistoryFiles
  private let file: any File
  /// Called before each step: throws if nothing more may be written.
  private let goesOn: () throws(StoreError) -> Void
  /// The last event of the log that is durable; nil for a file that need not be durable itself.
  private let durable: (() -> UInt64)?
  private var step = SyncStep()
  private var buffer = RawBuffer(capacity: 1 << 16)
  /// The bytes that are written.
  private var written: UInt64 = 0

  /// - Parameter file: an empty file, in which this writes the header.
  init(
    _ files: HistoryFiles, _ number: UInt32, _ file: any File, durable: @escaping () -> UInt64 = { 0 },
    _ goesOn: @escaping () throws(StoreError) -> Void
  ) {
    (self.files, self.number, self.file, self.durable, self.goesOn) = (files, number, file, durable, goesOn)
    files.header(number).withUnsafeBytes { buffer.append($0) }
  }

  /// An empty file without a name and a header, whose records are read again by this process alone.
  init(
    scratch file: any File, _ files: HistoryFiles, _ goesOn: @escaping () throws(StoreError) -> Void
  ) {
    (self.files, number, self.file, durable, self.goesOn) = (files, 0, file, nil, goesOn)
  }

  deinit { file.close() }

  /// The length of the file so far.
  var length: UInt64 { written + UInt64(buffer.count) }

  /// Room for what is sorted before it is appended, under the same conditions.
  func scratch() -> KeyParts { KeyParts(files, goesOn) }

  /// Appends a record: compressed if that saves an eighth.
  func append(_ raw: UnsafeRawBufferPointer) throws(StoreError) -> RecordAddress {
    if buffer.count >= step.length { try flush() }
    let start = buffer.count
    let checksum = StatePage.appendRecord(raw, to: &buffer)
    assert(buffer.count - start <= Int(UInt32.max), "the length of a record has 32 bits")
    return RecordAddress(
      offset: written + UInt64(start), length: UInt32(truncatingIfNeeded: buffer.count - start),
      checksum: checksum)
  }

  /// Writes what was appended.
  func flush() throws(StoreError) {
    try goesOn()
    try file.write(buffer.bytes, at: Int64(written))
    if let durable {
      try file.syncData()
      step.end(durable: durable())
    }
    written += UInt64(buffer.count)
    buffer.removeAll()
  }

  /// Makes everything durable but the file's name.
  func finish() throws(StoreError) {
    assert(durable != nil, "a scratch file need not be durable")
    try flush()
    try file.sync()
  }
}
