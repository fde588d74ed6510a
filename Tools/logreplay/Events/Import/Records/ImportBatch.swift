// Records that were read and encoded, on their way from the thread that reads to the thread that appends.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

/// What a record of the input became.
enum ImportedRecord {
  /// A row to be appended.
  case row(AppendDraft, ImportRow)
  /// A record with the number of one that the store has. It is the same one if the store has an id with one of these
  /// hashes.
  case known(hashes: [UInt64])
  /// A record with the number of one that the store has, which it cannot be: it is blank, or too long.
  case changed(ImportChangedRecord)
  /// A row that the store has already, with the same document.
  case same
  /// A record that a mapping passes over.
  case passed
  /// What is wrong, and the record, if it is to be kept elsewhere.
  case bad(ImportBadRecord, bytes: [UInt8])
}

/// What a record is now that the store has another one with its number.
enum ImportChangedRecord {
  case hash(UInt64)
  case tooLong
}

/// Where a record is, and what it became.
struct ImportBatchEntry {
  var place: ImportPlace
  var record: ImportedRecord
}

/// The entries between two reads of the input, or a part of them.
///
/// Sent from one thread to another, which then has the only reference to its drafts.
struct ImportBatch: @unchecked Sendable {
  var entries: [ImportBatchEntry] = []
  /// The number of bytes that the drafts hold, roughly.
  var byteCount = 0

  /// Above this a batch is sent, also where more can be taken without a read.
  static let byteCountMax = 256 << 10
  var isFull: Bool { byteCount >= Self.byteCountMax }
}

/// A queue of few batches between two threads.
final class ImportBatchQueue: Sendable {
  private struct State {
    var batches: [ImportBatch] = []
    /// How reading ended; nil while it goes on.
    var end: Result<Void, CommandFailure>?
    /// Whether nobody takes any more.
    var isStopped = false
  }

  /// Enough that neither thread waits for the other at each batch.
  private static let countMax = 4
  private let gate = Gate(State())

  /// Adds a batch, and waits for room. Returns false if nobody takes it.
  func add(_ batch: ImportBatch) -> Bool {
    let isTaken = gate.wait { state -> Bool? in
      if state.isStopped { return false }
      guard state.batches.count < Self.countMax else { return nil }
      state.batches.append(batch)
      return true
    }
    gate.signalAll()
    return isTaken
  }

  /// Says that no more batches come.
  func end(_ result: Result<Void, CommandFailure>) {
    gate.withLock { $0.end = result }
    gate.signalAll()
  }

  /// The next batch, or nil at the end. Throws why reading has ended early, after all batches before that.
  func next() throws(CommandFailure) -> ImportBatch? {
    let result = gate.wait { state -> Result<ImportBatch?, CommandFailure>? in
      if !state.batches.isEmpty { return .success(state.batches.removeFirst()) }
      return state.end.map { $0.map { nil } }
    }
    gate.signalAll()
    return try result.get()
  }

  /// Waits until no more batches come.
  func waitForEnd() { gate.wait { $0.end != nil } }

  /// Says that nobody takes any more: the thread that reads then ends by itself, once it has read something.
  func stop() {
    gate.withLock { state in
      state.isStopped = true
      state.batches = []
    }
    gate.signalAll()
  }
}
