// What is kept of the histories of a store's projections, by whatever program.

internal import StrataBase
package import StrataLog
internal import StrataTables

/// The history in one folder below `derived/history`, whether or not this program can use it.
package struct SavedHistory: Sendable, Equatable {
  /// The name of the folder: the projection's name and version.
  package var folder: String
  /// The version in the folder's name; nil if it ends otherwise.
  package var version: Int?
  /// The first event that the history answers about; nil if there is none.
  package var firstSequence: UInt64?
  /// The last event that is in the history.
  package var sequence: UInt64
  package var runCount: Int
  /// The bytes of the runs.
  package var byteCount: UInt64

  /// Whether it is the history of the documents.
  package var isOfDocuments: Bool { folder == StateName(.documents(only: nil))?.folder }

  /// The histories of a store, ascending by folder. Of each, the manifest is read and nothing else. O(folders).
  package static func all(of log: Log) throws(StoreError) -> [SavedHistory] {
    let fileSystem = log.source.catalog.fileSystem
    let parent = log.layout.histories
    guard try fileSystem.kind(of: parent) == .directory else { return [] }
    var histories: [SavedHistory] = []
    for folder in try fileSystem.contents(ofDirectory: parent).sorted() {
      guard try fileSystem.kind(of: "\(parent)/\(folder)") == .directory,
        let manifest = try HistoryFiles(log, folder: folder).manifest(), manifest.storeID == log.storeID
      else { continue }
      histories.append(
        SavedHistory(
          folder: folder, version: StateName.version(inFolder: folder),
          firstSequence: manifest.runs.first.map { $0.begin.addingSaturated(1) },
          sequence: manifest.runs.last?.end ?? 0,
          runCount: manifest.runs.count,
          byteCount: manifest.runs.reduce(0) { $0.addingSaturated($1.length) }))
    }
    return histories
  }
}
