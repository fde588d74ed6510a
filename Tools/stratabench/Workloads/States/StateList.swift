// The list that the workload of states keeps, and its first page.

internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataTables

enum StateList {
  typealias Request = ListRequest<DocumentRow, DocumentValue>
  typealias Snapshot = ListSnapshot<DocumentRow, DocumentValue>

  static let category = "incident"
  /// The name that the list is kept under.
  static let name = "by product"
  static let pageLength = 20

  /// The list by product, newest first, which each process sorts for itself.
  static var built: Request {
    ListRequest(DocumentRow.self).sectioned(byField: FieldPath(names: ["product"]))
      .sorted(byField: FieldPath(names: ["time"]), .reverse)
  }

  static var kept: Request { built.kept(as: name) }

  static func controller(_ store: EventStore, _ request: Request) -> FetchController<
    DocumentRow, DocumentValue
  > {
    FetchController(request, from: store.documents(category))
  }

  /// Reads what a screen shows first: the number of items of each section, and the first rows.
  @discardableResult
  static func readFirstPage(_ store: EventStore, _ request: Request) async throws -> Snapshot {
    let snapshot = try await controller(store, request).performFetch()
    let counts = (0..<snapshot.numberOfSections).map { snapshot.numberOfItems(inSectionAt: $0) }
    precondition(counts.reduce(0, +) == snapshot.numberOfItems, "sections hold all items")
    for item in 0..<min(pageLength, counts[0]) {
      precondition(snapshot.row(at: ListIndex(section: 0, item: item)) != nil, "the row of an item is there")
    }
    return snapshot
  }
}
