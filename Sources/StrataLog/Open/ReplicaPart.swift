// What an open log may do, given the part that it has among the copies of its store.

internal import StrataBase
internal import Synchronization

/// The mark of an open store, and whether it refuses appends.
final class ReplicaPart: Sendable {
  private let state: Lock<ReplicaMark?>
  /// Looked at for each append.
  private let isRefusing: Atomic<Bool>

  init(_ mark: ReplicaMark?) {
    state = Lock(mark)
    isRefusing = Atomic(mark?.refusal != nil)
  }

  var mark: ReplicaMark? { state.withLock { $0 } }

  func replace(_ mark: ReplicaMark?) {
    state.withLock { state in
      state = mark
      isRefusing.store(mark?.refusal != nil, ordering: .releasing)
    }
  }

  /// Throws `following` or `fenced` if the store takes no appends of its own.
  @inline(__always)
  func check() throws(StoreError) {
    guard isRefusing.load(ordering: .acquiring), let refusal = mark?.refusal else { return }
    throw refusal
  }
}

extension Log {
  /// The part that this store has among its copies elsewhere; nil if it has none.
  package var replica: ReplicaMark? { part.mark }

  /// Throws `following` or `fenced` if the store takes no appends of its own.
  package func checkAppends() throws(StoreError) { try part.check() }

  /// Replaces the part of the store, on disk first. Blocks.
  package func setReplica(_ mark: ReplicaMark) throws(StoreError) {
    // Nothing more is appended from now on, even if the mark cannot be written.
    if mark.role == .fenced { part.replace(mark) }
    try checkWrites()
    try mark.write(source.catalog.fileSystem, layout)
    part.replace(mark)
  }
}
