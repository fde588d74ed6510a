// What a store does by itself, and what happens to it: rare, and worth a line in a log.

/// Something that a store did by itself, or that happened to it. See `EventStore.activities`.
///
/// Activities are rare: none is made for an append, an event or a read. Later versions may have more cases, so a `switch`
/// over them needs a `default`.
public enum StoreActivity: Sendable, Equatable {
  /// The open found the beginning of a write that was never finished. Nothing acknowledged is lost. In a store that is
  /// open for writing, the next append keeps a copy of it and cuts it off.
  case tailFound(TailRecovery)
  /// The tail that the open found was cut off, and is kept as `keptPath` says.
  case tailCut(TailRecovery)
  /// A sync took at least `StoreOptions.slowSyncMin`. Said only while somebody observes: otherwise no clock is read.
  case slowSync(Duration)
  /// A state was written, so that the next open need not fold what is in it.
  ///
  /// - Parameters:
  ///   - projection: the projection's name; `$documents` for the documents.
  ///   - sequence: the last event that is in it.
  ///   - byteCount: the bytes that were written.
  case stateSaved(projection: String, sequence: UInt64, byteCount: UInt64)
  /// A state could not be written. Nothing is lost, but the next open folds more.
  case stateFailed(projection: String, error: StoreError)
  /// Something that is derived from the log was not used, or was removed. Nothing is lost: it is made from the log again.
  ///
  /// - Parameters:
  ///   - kind: what it was.
  ///   - projection: the projection's name; nil for what all projections have.
  ///   - why: the reason, as a sentence without its full stop. It names no stream and holds no content of events.
  case discarded(DerivedKind, projection: String?, why: String)
  /// A projection or a consumer ended at an event that it could not apply or handle. It goes no further until its code
  /// can, or until the event is erased.
  ///
  /// - Parameters:
  ///   - kind: which of the two.
  ///   - name: its name; `$documents` for the documents.
  ///   - sequence: the first event that it did not take; nil where that is not known.
  ///   - what: the error. It may hold what the program's code says about the event's content.
  case halted(HaltKind, name: String, sequence: UInt64?, what: String)
  /// Bytes on disk are not those that were written. `EventStore.knownDamage` lists the same findings.
  case damage(StoreFinding)
  /// The store accepts nothing more: it is not known what is on disk. Open it again.
  case poisoned(StoreError)
  /// This many activities, or steps, were not delivered here, because the observer took too long over earlier ones, or
  /// because they are older than those that the store remembers.
  case missed(UInt64)

  /// What is derived from the log.
  public enum DerivedKind: String, Sendable, CaseIterable {
    /// The saved state of a projection.
    case state
    /// The history of a projection.
    case history
    /// All states and histories of the store.
    case all
  }

  /// What may halt.
  public enum HaltKind: String, Sendable, CaseIterable {
    case projection, consumer
  }
}

/// The torn tail that an open has found: the beginning of a write that was interrupted and never acknowledged.
public struct TailRecovery: Sendable, Equatable {
  /// The segment's file, relative to the store's folder.
  public var file: String
  /// Where the tail began, in bytes from the start of the file.
  public var offset: UInt64
  /// Its length in bytes.
  public var byteCount: UInt64
  /// The file in which a copy of it is, relative to the store's folder. Nil before the first append cuts it off, and in a
  /// store that is open for reading.
  public var keptPath: String?

  package init(file: String, offset: UInt64, byteCount: UInt64, keptPath: String? = nil) {
    self.file = file
    self.offset = offset
    self.byteCount = byteCount
    self.keptPath = keptPath
  }
}
