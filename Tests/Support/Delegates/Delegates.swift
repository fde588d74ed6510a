// Delegates as programs write them. `Tools/support/page-examples` compiles and runs this file in both isolation modes.

import Dispatch
import Strata
import StrataViews
import Synchronization

nonisolated struct Incident: Codable, Identifiable, Sendable {
  var id: String
  var status: String
}

typealias Controller = DiffableFetchController<Incident, String>
typealias Change = DiffableFetchChange<Incident, String>
typealias List = FetchController<Incident, String>
typealias Update = ListUpdate<Incident, String>

/// A class that is marked for the main actor.
@MainActor final class MarkedScreen: DiffableFetchControllerDelegate, ListChangesDelegate {
  private(set) var calls: [String] = []

  func didChangeContent(_ controller: Controller, _ change: Change) {
    MainActor.preconditionIsolated()
    calls += change.inserts
  }

  func didLoad(_ list: List, _ update: Update) { calls.append("load") }
  func willChange(_ list: List, _ update: Update) { calls.append("will") }
  func didChangeItem(_ list: List, _ id: String, _ change: ListItemChange) { calls.append(id) }
  func didChange(_ list: List, _ update: Update) {
    MainActor.preconditionIsolated()
    calls.append("did")
  }
}

/// A class without any mark: of the main actor where everything is isolated to it, and otherwise not isolated. It is not
/// `Sendable` there.
final class Screen: DiffableFetchControllerDelegate, ListContentDelegate {
  private(set) var calls: [String] = []

  func didChangeContent(_ controller: Controller, _ change: Change) {
    MainActor.preconditionIsolated()
    calls += change.inserts
  }

  func didFail(_ controller: Controller, with error: ListError) { calls.append("failed") }

  func didChange(_ list: List, _ content: ListSnapshot<Incident, String>, _ update: Update) {
    MainActor.preconditionIsolated()
    calls += content.itemIdentifiers
  }
}

/// An actor.
actor Desk: DiffableFetchControllerDelegate, ListContentDelegate {
  private(set) var calls: [String] = []

  func didChangeContent(_ controller: Controller, _ change: Change) {
    preconditionIsolated()
    calls += change.inserts
  }

  func didChange(_ list: List, _ content: ListSnapshot<Incident, String>, _ update: Update) {
    preconditionIsolated()
    calls += content.itemIdentifiers
  }
}

/// A class that is called on a queue of its own.
nonisolated final class Journal: DiffableFetchControllerDelegate, ListContentDelegate, Sendable {
  let queue = DispatchQueue(label: "journal")
  private let entries = Mutex<[String]>([])

  var calls: [String] { entries.withLock { $0 } }

  func didChangeContent(_ controller: Controller, _ change: Change) {
    dispatchPrecondition(condition: .onQueue(queue))
    entries.withLock { $0 += change.inserts }
  }

  func didChange(_ list: List, _ content: ListSnapshot<Incident, String>, _ update: Update) {
    dispatchPrecondition(condition: .onQueue(queue))
    entries.withLock { $0 += content.itemIdentifiers }
  }
}

/// The state of a screen that a request depends on.
@MainActor final class Search {
  var text = ""
}

@main struct Delegates {
  @MainActor static func main() async throws {
    let store = EventStore.inMemory()
    let incidents = store.collection("incident", of: Incident.self)
    let (marked, screen, desk, journal) = (MarkedScreen(), Screen(), Desk(), Journal())
    let controller = Controller(
      incidents, sectionKey: \.status, sortKeys: [.init(\.id)], processingQueue: .queue(journal.queue))
    try await controller.performFetch()

    controller.delegate = marked
    try await incidents.put(Incident(id: "1", status: "Open"))
    while marked.calls != ["1"] { await Task.yield() }

    controller.delegate = screen
    try await incidents.put(Incident(id: "2", status: "Open"))
    while screen.calls != ["2"] { await Task.yield() }

    controller.setDelegate(desk)
    try await incidents.put(Incident(id: "3", status: "Open"))
    while await desk.calls != ["3"] { await Task.yield() }

    controller.setDelegate(journal)
    try await incidents.put(Incident(id: "4", status: "Open"))
    while journal.calls != ["4"] { await Task.yield() }
    controller.removeDelegate()

    try await tellPlainly(incidents, marked, screen, desk, journal)
    try await configure(controller)
    print("delegates of the main actor, unmarked, of an actor, and on a queue were called where they belong")
    try await store.close()
  }

  /// The same four as delegates of a plain list.
  @MainActor private static func tellPlainly(
    _ incidents: DocumentCollection<Incident>, _ marked: MarkedScreen, _ screen: Screen, _ desk: Desk,
    _ journal: Journal
  ) async throws {
    let list = List(
      ListRequest(Incident.self).sectioned(by: \.status).sorted(by: \.id), from: incidents)
    list.setDelegate(marked)
    while marked.calls.last != "load" { await Task.yield() }
    try await incidents.put(Incident(id: "5", status: "Open"))
    while marked.calls.last != "did" { await Task.yield() }
    precondition(marked.calls == ["1", "load", "will", "5", "did"])

    list.setDelegate(screen)
    while screen.calls != ["2", "1", "2", "3", "4", "5"] { await Task.yield() }
    list.setDelegate(desk)
    while await desk.calls != ["3", "1", "2", "3", "4", "5"] { await Task.yield() }
    list.setDelegate(journal, on: .queue(journal.queue))
    while journal.calls != ["4", "1", "2", "3", "4", "5"] { await Task.yield() }
    list.removeDelegate()
  }

  /// A closure that reads the state of a screen, and the fetch that runs it.
  @MainActor private static func configure(_ controller: Controller) async throws {
    let search = Search()
    controller.configureFetch = { @MainActor [weak search] request in
      request.filter = search.map { "id == \($0.text)" }
    }
    search.text = "3"
    let found = try await controller.performFetch()
    precondition(found.itemIdentifiers == ["3"])
  }
}
