// The list with Strata: kept on disk, and shown by a fetch controller.

internal import Strata
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog

struct StrataIncidents: SavedIncidents {
  static let library = "Strata"

  private static var request: ListRequest<Incident, String> {
    ListRequest(Incident.self).sectioned(by: \.product).sorted(by: \.time, .reverse).kept(as: "by product")
  }

  private let store: EventStore
  private let incidents: DocumentCollection<Incident>
  private let list: FetchController<Incident, String>

  init(_ path: String, access: SavedAccess) async throws {
    var options = StoreOptions()
    options.pageCacheSize = pageCacheSize
    store = try await EventStore.open(at: path, access == .read ? .readOnly : .readWrite, options: options)
    incidents = store.collection("incident", of: Incident.self)
    list = FetchController(Self.request, from: incidents)
  }

  func put(_ rows: [Incident]) async throws { try await incidents.put(rows) }

  func keepList() async throws {
    try await list.performFetch()
    try await store.checkpoint()
  }

  private func snapshot() async throws -> ListSnapshot<Incident, String> {
    if let snapshot = list.snapshot { snapshot } else { try await list.performFetch() }
  }

  func firstPage() async throws -> [Incident] { Self.firstPage(try await snapshot()) }

  private static func firstPage(_ snapshot: ListSnapshot<Incident, String>) -> [Incident] {
    (0..<min(pageLength, snapshot.numberOfItems(inSectionAt: 0))).compactMap {
      snapshot.row(at: ListIndex(section: 0, item: $0))
    }
  }

  func sectionCounts() async throws -> [Int] {
    let snapshot = try await snapshot()
    return (0..<snapshot.numberOfSections).map { snapshot.numberOfItems(inSectionAt: $0) }
  }

  func read(_ ids: [Int]) async throws -> Int {
    let snapshot = try await snapshot()
    return ids.count { snapshot.row(for: $0) != nil }
  }

  func changeAndShow(_ row: Incident) async throws -> [Incident] {
    let receipt = try await incidents.put(row)
    return Self.firstPage(try await list.fetch(through: receipt))
  }

  func close() async throws { try await store.close() }
}
