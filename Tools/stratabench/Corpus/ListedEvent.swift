// The row with which the public interface is measured: an event in one of seven sections, as in the predecessor's
// benchmark.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables
internal import StrataSimulation

struct ListedEvent: Codable, Identifiable, Sendable {
  var id: UUID
  var sectionName: String
  var timestamp: Date
  var isUninteresting = true

  private static let sectionNames = ["Bear", "Dog", "Tiger", "Cat", "Lion", "Snake", "Eagle"]
  private static let begin = Date(timeIntervalSince1970: 1_700_000_000)

  /// Sections by name, newest first.
  static let request = ListRequest(ListedEvent.self)
    .sectioned(by: \.sectionName)
    .sorted(by: \.timestamp, .reverse)

  /// The same list over documents that are not decoded.
  static var requestByFields: ListRequest<DocumentRow, DocumentValue> {
    ListRequest(DocumentRow.self)
      .sectioned(byField: FieldPath(names: ["sectionName"]))
      .sorted(byField: FieldPath(names: ["timestamp"]), .reverse)
  }

  static func rows(_ count: Int) -> [ListedEvent] {
    var random = SeededGenerator(seed: 7)
    return (0..<count).map { number in
      ListedEvent(
        id: UUID(number, random.next()), sectionName: sectionNames[Int.random(in: 0..<7, using: &random)],
        timestamp: begin + Double(number) / 1_000)
    }
  }

  /// A random row with a time newer than that of all others.
  static func renewed(in rows: inout [ListedEvent], _ random: inout SeededGenerator) -> ListedEvent {
    let place = Int.random(in: rows.indices, using: &random)
    rows[place].timestamp = begin + Double(rows.count) + Double(random.next() % 1_000_000_000) / 1_000
    return rows[place]
  }

  /// A store with `count` rows, in memory, or on disk if a path is given.
  static func store(of count: Int, at path: String? = nil) async throws -> EventStore {
    let store: EventStore
    if let path { store = try await EventStore.open(at: path) } else { store = EventStore.inMemory() }
    let events = store.collection("event", of: ListedEvent.self)
    let all = rows(count)
    for start in stride(from: 0, to: count, by: 10_000) {
      try await events.put(Array(all[start..<min(start + 10_000, count)]))
    }
    return store
  }
}

extension UUID {
  fileprivate init(_ number: Int, _ word: UInt64) {
    var bytes = [UInt8](repeating: 0, count: 16)
    withUnsafeBytes(of: word.bigEndian) { bytes.replaceSubrange(0..<8, with: $0) }
    withUnsafeBytes(of: UInt64(number).bigEndian) { bytes.replaceSubrange(8..<16, with: $0) }
    self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
