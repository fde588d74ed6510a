// Changes of a snapshot that may be invalid.

internal import StrataBase

extension DiffableSnapshot {
  /// Makes changes of which some may be invalid. If one is, this throws its error, and the snapshot is as it was before
  /// all of them.
  ///
  /// Use it for identifiers that come from a server or a user, and that may be unknown or occur twice:
  ///
  /// ```swift
  /// var snapshot = DiffableSnapshot<Int, String>(sections: [("open", [7])])
  /// try snapshot.attempt {
  ///   $0.appendItems([1, 2], toSection: "open")
  ///   $0.moveItem(2, beforeItem: 7)
  /// }
  /// ```
  ///
  /// O(the sections that change), since they are copied, and the changes. If it throws, the next lookup costs O(n). So
  /// make many changes in one attempt.
  /// - Throws: the first error: that of a call that would stop the program elsewhere, or one that the closure throws.
  @inlinable
  public mutating func attempt(
    _ changes: (inout Self) throws(DiffableSnapshotError) -> Void
  ) throws(DiffableSnapshotError) {
    let before = self
    // The index is not copied: what it holds for `before` can be found again.
    setIndex(moveIndex())
    let errors = SnapshotAttempt()
    self.errors = errors
    do throws(DiffableSnapshotError) {
      defer { errors.end() }
      try changes(&self)
      if let error = errors.first { throw error }
    } catch {
      self = before
      throw error
    }
    self.errors = before.errors
  }

  /// Reports an invalid call, which has changed nothing: to the attempt, or by stopping the program.
  @inlinable
  func fail(_ error: DiffableSnapshotError) {
    guard let errors, errors.note(error) else { preconditionFailure("\(error)") }
  }
}

/// The first error of an attempt.
@usableFromInline
final class SnapshotAttempt: Sendable {
  private let state = Lock((first: DiffableSnapshotError?.none, isOver: false))

  @usableFromInline init() {}

  @usableFromInline var first: DiffableSnapshotError? { state.withLock { $0.first } }

  /// Returns false if the attempt is over: a copy of the snapshot outlives it.
  @usableFromInline
  func note(_ error: DiffableSnapshotError) -> Bool {
    state.withLock { state in
      if state.first == nil { state.first = error }
      return !state.isOver
    }
  }

  @usableFromInline func end() { state.withLock { $0.isOver = true } }
}
