// The past with Strata: a kept list, shown by a fetch controller, and a history. Only what an application can use.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

struct StrataPast: PastLibrary {
  typealias Request = ListRequest<PastRow, DocumentValue>
  typealias Snapshot = ListSnapshot<PastRow, DocumentValue>
  typealias Controller = FetchController<PastRow, DocumentValue>

  static let name = "Strata"
  static let category = "incident"
  /// The name that the list is kept under.
  static let view = "by product"

  static func path(in folder: String) -> String { "\(folder)/strata" }

  let store: EventStore
  let list: Controller
  private let byNote: ListRequest<PastRow, Unsectioned>

  init(_ folder: String) async throws {
    try await self.init(EventStore.open(at: Self.path(in: folder), .readOnly))
  }

  init(_ store: EventStore) throws {
    self.store = store
    byNote = ListRequest(PastRow.self).sorted(byField: try FieldPath("note"))
    list = FetchController(try Self.request(), from: store.collection(Self.category, of: PastRow.self))
  }

  /// The list by product, newest first.
  static func request() throws -> Request {
    try ListRequest(PastRow.self).sectioned(byField: FieldPath("product"))
      .sorted(byField: FieldPath("time"), .reverse).kept(as: view)
  }

  private func snapshot(_ point: Int) async throws -> Snapshot {
    try await list.snapshot(at: .sequence(UInt64(point)))
  }

  func ids(_ offsets: Range<Int>, at point: Int) async throws -> [Int] {
    try await snapshot(point).itemIdentifiers(in: offsets)
  }

  func firstRows(_ count: Int, at point: Int) async throws -> [PastRow] {
    try await snapshot(point).rows(in: 0..<count)
  }

  func counts(at point: Int) async throws -> [Int] {
    let snapshot = try await snapshot(point)
    return (0..<snapshot.numberOfSections).map { snapshot.numberOfItems(inSectionAt: $0) }
  }

  func rank(of id: Int, at point: Int) async throws -> Int? { try await snapshot(point).indexOfItem(id) }

  func changedIDs(from start: Int, to end: Int) async throws -> [Int] {
    try await store.collection(Self.category, of: PastRow.self)
      .changedIDs(between: .sequence(UInt64(start)), and: .sequence(UInt64(end))).sorted()
  }

  func changes(from start: Int, to end: Int) async throws -> [Int] {
    try await list.changes(from: .sequence(UInt64(start)), to: .sequence(UInt64(end))).sortedIDs
  }

  func changedRows(from start: Int, to end: Int) async throws -> [Int] {
    let (before, after) = (try await snapshot(start), try await snapshot(end))
    return ListChanges(from: before, to: after).sortedIDs.flatMap { id in
      [id, Self.differences(before.row(for: id), after.row(for: id))]
    }
  }

  func firstIDsOfAnotherList(_ count: Int, at point: Int) async throws -> [Int] {
    try await list.snapshot(at: .sequence(UInt64(point)), request: byNote).itemIdentifiers(in: 0..<count)
  }

  func scrub(through points: [Int], window: Int) async throws -> (times: [Double], ids: [Int]) {
    let windowed = Controller(
      try Self.request().windowed(to: .first(window)), from: store.collection(Self.category, of: PastRow.self)
    )
    let scrubber = try windowed.scrubber()
    var (times, ids): ([Double], [Int]) = ([], [])
    for point in points {
      let start = ContinuousClock.now
      let shown = try await scrubber.move(to: .sequence(UInt64(point))).after
      ids = try await shown.rows(in: 0..<shown.numberOfItems).map(\.id)
      times.append(start.secondsSince)
    }
    return (times, ids)
  }

  func close() async throws { try await store.close() }
}

extension ListChanges where ItemID == Int {
  /// The ids of the items that were inserted, deleted, moved or changed, ascending.
  var sortedIDs: [Int] {
    (deletions.map(\.id) + insertions.map(\.id) + moves.map(\.id) + updates.map(\.id)).sorted()
  }
}
