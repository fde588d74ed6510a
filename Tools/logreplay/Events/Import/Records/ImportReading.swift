// Reads and encodes the records of an input on a thread of its own, while another one appends what was read before.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

/// The part of an import that depends on nothing but the input: records, their hashes and their rows.
///
/// After `start`, another thread takes the batches. Without it, one thread does both, record by record, as a sort does.
/// Every batch ends before a read that may wait, so that what a slow input has said is appended at once.
final class ImportReading: @unchecked Sendable {
  // Sendable because only one thread uses what is not constant: after `start`, the one that reads.
  let reader: any ImportRecordReader
  private let source: ImportSourceName?
  private let known: ImportKnownRecords
  private let difference: (any ImportTableRows)?
  private let keepsBad: Bool
  private let sizeMax: Int
  /// Encodes the records; by itself, it is what a sort uses.
  private var encoder: ImportRowEncoder
  /// What is used in its place for records with a mapping.
  private let mapper: ImportRecordMapper?
  private let queue = ImportBatchQueue()
  private var batch = ImportBatch()
  private var isRefused = false

  init(
    _ reader: any ImportRecordReader, _ choices: ImportRecords.Choices, known: ImportKnownRecords,
    difference: (any ImportTableRows)?, options: StoreOptions
  ) {
    self.reader = reader
    source = choices.source
    self.known = known
    self.difference = difference
    keepsBad = choices.badFile != nil
    sizeMax = options.appendSizeMax
    encoder = ImportRowEncoder(choices.fields, options: options)
    mapper = choices.fields.mapping.map { mapping in
      ImportRecordMapper(
        mapping, choices.fields, needsTime: choices.sortsByTime, difference: difference, options: options)
    }
  }

  /// Starts the thread. It keeps this object until it has ended.
  func start() throws(CommandFailure) {
    do throws(StoreError) {
      try StoreMachine.process.start("import-reader") { [self] in
        let result = Result { () throws(CommandFailure) in try readAll() }
        _ = flush()
        queue.end(result)
      }
    } catch { throw CommandFailure(error) }
  }

  /// The next records, or nil at the end of the input. Throws if the input cannot be read further.
  func next() throws(CommandFailure) -> ImportBatch? { try queue.next() }

  /// Ends the thread, once it has read something. It is not waited for, since an input may never say anything again;
  /// unless it reads the store, which is about to be closed. Its input is a program then, which does not wait.
  func stop() {
    queue.stop()
    if difference != nil { queue.waitForEnd() }
  }

  private func readAll() throws(CommandFailure) {
    reader.window.willRead = { [unowned self] in _ = flush() }
    defer { reader.window.willRead = nil }
    while !isRefused, let record = try reader.next() {
      guard let result = result(of: record) else { continue }
      batch.entries.append(ImportBatchEntry(place: record.place, record: result))
      batch.byteCount += record.bytes.count + 128
      if batch.isFull { _ = flush() }
    }
  }

  private func flush() -> Bool {
    guard !batch.entries.isEmpty, !isRefused else { return !isRefused }
    isRefused = !queue.add(batch)
    batch = ImportBatch()
    batch.entries.reserveCapacity(1024)
    return !isRefused
  }

  /// What a record is; nil if it is nothing.
  ///
  /// - Parameter looksKnownUp: false to encode it also if the store has it.
  func result(of record: ImportRecord, looksKnownUp: Bool = true) -> ImportedRecord? {
    let isKnown = looksKnownUp && known.contains(record.number)
    if record.isBlank { return isKnown ? .changed(.hash(reader.hash(of: record.bytes))) : nil }
    let hash = reader.hash(of: record.bytes)
    if isKnown {
      guard !record.isTooLong else { return .changed(.tooLong) }
      let isShorter = record.raw.count > record.bytes.count
      return .known(hashes: isShorter ? [hash, reader.hash(of: record.raw)] : [hash])
    }
    do throws(ImportBadRecord) {
      guard !record.isTooLong else {
        throw ImportBadRecord(
          column: 1, why: "the \(reader.noun) has more than \(sizeMax) bytes (appendSizeMax)")
      }
      if let mapper {
        return try mapper.result(of: record.bytes, by: reader) {
          source?.appendID(number: record.number, hash: hash) ?? []
        }
      }
      try encoder.encode(record.bytes, by: reader)
    } catch {
      return .bad(error, bytes: keepsBad ? Array(record.bytes) : [])
    }
    if let difference, encoder.isEqual(difference) { return .same }
    let id = source?.appendID(number: record.number, hash: hash) ?? []
    return .row(encoder.draft(appendID: id), encoder.row)
  }
}
