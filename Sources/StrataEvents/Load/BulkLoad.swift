// The progress of a load: what was submitted, what was refused before it was, and what is on disk.

internal import StrataBase
internal import StrataLog

/// A load, apart from where its appends come from and how it waits.
///
/// An append is refused in one of two ways: before it is submitted, because its own content is wrong, or by the
/// committer. The one with the lower index is reported, since nothing after it is in the log.
struct BulkLoad {
  /// The most bytes that a load of a task has in progress: enough to keep a disk busy.
  private static let bytesMax = 8 << 20

  let store: EventStore
  let run: AppendRun
  private let durableEvery: UInt64?
  /// The number of appends that were taken from the source.
  private(set) var count: UInt64 = 0
  /// The append that was refused before it was submitted.
  private var refusal: (index: UInt64, error: StoreError)?
  /// What is on disk.
  private(set) var durable = LoadReceipt()

  init(into store: EventStore, durableEvery: Int?) throws(StoreError) {
    precondition(durableEvery.map { $0 > 0 } ?? true, "durableEvery is a positive number of appends")
    self.store = store
    self.durableEvery = durableEvery.map { UInt64($0) }
    run = try store.log.run()
  }

  /// The bound of what a task has in progress. Half of what may wait is left to other callers.
  var bytesMax: Int { max(1, min(store.log.options.pendingBytesMax / 2, Self.bytesMax)) }

  /// Whether what was submitted must be on disk before more is taken.
  var isDue: Bool { durableEvery.map { count.isMultiple(of: $0) } ?? false }

  /// Submits the next append. False if this one, or one before it, is refused.
  mutating func submit(
    blocks: Bool, _ draft: () throws(StoreError) -> AppendDraft
  ) -> Bool {
    defer { count += 1 }
    do throws(StoreError) {
      let draft = try draft()
      return blocks ? try run.add(draft, label: count) : try run.addWithRoom(draft, label: count)
    } catch {
      refusal = (count, error)
      return false
    }
  }

  /// Counts an element of which nothing is appended.
  mutating func passOver() { count += 1 }

  /// Records what is in the log, once it is on disk.
  ///
  /// - Parameter synced: the result of putting on disk what was only buffered.
  mutating func settle(_ progress: AppendRun.Progress, synced: Result<Void, StoreError>) throws {
    if case .success = synced { durable = LoadReceipt(progress) }
    if let failure = progress.failure {
      throw LoadError(index: failure.label, error: failure.error, loaded: durable)
    }
    if let refusal { throw LoadError(index: refusal.index, error: refusal.error, loaded: durable) }
    // The events are acknowledged, as a buffered store acknowledges them, and not known to be on disk.
    if case .failure(let error) = synced { throw LoadError(index: count, error: error, loaded: durable) }
  }
}
