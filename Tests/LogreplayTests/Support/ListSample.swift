// A store with a table for lists, small enough to know every answer.

import Foundation
import Strata
import StrataDocuments
import StrataEvents
import Testing

extension SampleFolder {
  /// A closed store with the tables `incident` and `$own`. After 1: a. After 2…4: a, b, c, d. After 5: a is
  /// closed. After 6…7: b is gone, c has another number and no note. 8 is of another table.
  static func list() async throws -> SampleFolder {
    let folder = try SampleFolder()
    let store = try await folder.open()
    func put(_ id: String, _ fields: DocumentValue) -> NewEvent {
      NewEvent("$put", in: StreamName(category: "incident", id: id), fields)
    }
    try await store.append([put("a", ["status": "Open", "n": 1, "impact": ["level": "High"]])])
    try await store.append([
      put("b", ["status": "Open", "n": 2]),
      put("c", ["status": "Closed", "n": 3, "note": "x, \"y\"\nz"]),
      put("d", ["n": 4]),
    ])
    try await store.append([NewEvent("$merge", in: "incident/a", ["status": "Closed"])])
    try await store.append([
      NewEvent("$delete", in: "incident/b", .null), put("c", ["status": "Closed", "n": 30]),
    ])
    try await store.append([NewEvent("$put", in: "$own/x", ["n": 1])])
    try await store.close()
    return folder
  }

  /// The chain behind a sequence, in hex.
  func chain(_ sequence: UInt64) async throws -> String {
    let store = try await EventStore.open(at: self.store, .readOnly)
    let chain = try store.log.chain(after: sequence)
    try await store.close()
    return LogPosition.hex(try #require(chain))
  }

  /// What a command about this store prints; it must end well and say nothing else.
  func answer(_ command: String, _ arguments: String...) async throws -> String {
    let outcome = try await LogreplayProcess([command, store] + arguments).wait()
    #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(command) \(arguments): \(outcome.errors)")
    return outcome.output
  }
}
