// A history as a store on disk, for a look at it with the tool.

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import StrataEvents

extension EventHistory {
  /// Writes the events into a store in a folder, in place of the one that an earlier run wrote there.
  ///
  /// - Parameter folder: the folder; by default that of the environment variable `CHECK_FAILURES`, or else the
  ///   system's for temporary files.
  /// - Returns: lines for a counterexample: where the store is, and how to look at it.
  nonisolated(nonsending) func keep(in folder: String?, name: String) async -> [String] {
    let files = FileManager.default
    let folder =
      folder ?? ProcessInfo.processInfo.environment["CHECK_FAILURES"]
      ?? files.temporaryDirectory.appendingPathComponent("strata-check").path
    let plain = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" })
    let path = "\(folder)/\(plain).strata"
    do {
      try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
      if files.fileExists(atPath: path) { try files.removeItem(atPath: path) }
      let store = try await EventStore.open(at: path)
      try await append(to: store)
      try await store.close()
      return ["its \(eventCount) events are in a store: logreplay log \(path)"]
    } catch {
      return ["its events could not be written to \(path): \(error)"]
    }
  }
}
