// The saved states of a store's projections, of whatever program.

internal import StrataBase
package import StrataLog
internal import StrataTables

/// The state in one folder below `derived/state`, whether or not this program can use it.
package struct SavedState: Sendable, Equatable {
  /// The name of the folder: the projection's name and version.
  package var folder: String
  /// The hash of the projection's name and version.
  private var name: UInt64
  /// The last event that is in the newest state of the folder.
  package var sequence: UInt64
  /// The bytes of the folder's files.
  package var byteCount: UInt64

  /// Whether it is the state of the documents.
  package var isOfDocuments: Bool { name == StateName(.documents(only: nil))?.hash }

  /// The saved states of a store, ascending by folder. O(files).
  package static func all(of log: Log) throws(StoreError) -> [SavedState] {
    let fileSystem = log.source.catalog.fileSystem
    let parent = log.layout.states
    guard try fileSystem.kind(of: parent) == .directory else { return [] }
    var states: [SavedState] = []
    for folder in try fileSystem.contents(ofDirectory: parent).sorted() {
      guard try fileSystem.kind(of: "\(parent)/\(folder)") == .directory else { continue }
      let files = StateFiles(log, folder: folder)
      guard let slot = files.slots().first(where: { $0.storeID == log.storeID }) else { continue }
      states.append(
        SavedState(
          folder: folder, name: slot.name, sequence: slot.sequence, byteCount: try files.byteCount()))
    }
    return states
  }
}
