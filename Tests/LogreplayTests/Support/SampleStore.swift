// Stores in folders of the machine, for the command to look into.

import Foundation
import Strata
import Testing

/// A folder for one test, removed with the last reference.
final class SampleFolder: Sendable {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("logreplay-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }
  var store: String { file("support.strata") }

  /// Opens the folder's store for writing, with small segments and a clock that moves a second an append.
  func open(segmentSize: Int = 16 << 20) async throws -> EventStore {
    var options = StoreOptions()
    options.clock = .fixed
    options.durability = .buffered
    options.segmentSizeTarget = segmentSize
    options.sealsInBackground = false
    return try await EventStore.open(at: store, .readWrite, options: options)
  }

  /// A closed store: 1 alone with an id, 2…4 as one append, 5 with metadata, 6 given in the past, 7 opaque bytes.
  static func sample() async throws -> SampleFolder {
    let folder = try SampleFolder()
    let store = try await folder.open()
    try await store.append(
      [NewEvent("$put", in: "incident/1", ["status": "Open", "impact": "High"])], id: "import:1")
    try await store.append(
      [
        NewEvent("$put", in: "incident/2", ["status": "Open", "n": 1]),
        NewEvent("$merge", in: "incident/1", ["status": "Closed"]),
        NewEvent("opened", in: "ticket/42", ["title": "größer \"x\""]),
      ], id: "import:2")
    try await store.append(
      [NewEvent("closed", in: "ticket/42", .null, metadata: ["client": "web", "attempt": 2])], id: "other")
    try await store.append(
      [NewEvent("opened", in: "ticket/43", [:])], time: Timestamp("2020-01-01T00:00:00Z"))
    try await store.append([NewEvent("blob", in: "files/a", payload: .opaque([1, 2, 3]))])
    try await store.close()
    return folder
  }
}
