// The versions of tables that lists hold.

internal import StrataBase
internal import StrataEvents

/// A version of a table, which is counted for as long as this object exists.
package final class HeldVersion: Sendable {
  package let table: Table
  /// The version includes everything up to this sequence.
  package let sequence: UInt64
  private let versions: HeldVersions

  fileprivate init(_ table: Table, _ sequence: UInt64, _ versions: HeldVersions) {
    self.table = table
    self.sequence = sequence
    self.versions = versions
  }

  deinit { versions.remove(ObjectIdentifier(self)) }
}

/// The versions of one store's tables that are held.
package final class HeldVersions: StoreAttachment, Sendable {
  private struct Entry {
    // Weak, because the last reference may just be going.
    weak var version: HeldVersion?
  }

  private let entries = Lock<[ObjectIdentifier: Entry]>([:])

  func hold(_ table: Table, _ sequence: UInt64) -> HeldVersion {
    let version = HeldVersion(table, sequence, self)
    entries.withLock { $0[ObjectIdentifier(version)] = Entry(version: version) }
    return version
  }

  fileprivate func remove(_ version: ObjectIdentifier) {
    _ = entries.withLock { $0.removeValue(forKey: version) }
  }

  package var all: [HeldVersion] { entries.withLock { $0.values.compactMap(\.version) } }

  func storeWillClose() -> @Sendable () -> Void { {} }
}

extension EventStore {
  /// Counts a version of a table as held: see `memory()`.
  package func hold(_ table: Table, sequence: UInt64) -> HeldVersion { heldVersions.hold(table, sequence) }

  package var heldVersions: HeldVersions { attachment { HeldVersions() } }
}
