// What the examples of the documentation take for granted: for each page that needs it, a class with the values that the
// text around the example speaks of. `Tools/support/page-examples` compiles it with them.

import Foundation
import Strata
import StrataTesting
import StrataViews

// MARK: Rows

nonisolated struct Incident: Codable, Identifiable, Sendable {
  var id: String
  var status: String
  var impact: String
  var product: String
}

nonisolated struct Card: Codable, Identifiable, Sendable {
  var id: String
  var lane: String
  var rank: String?
}

nonisolated struct Ticket: Codable, Identifiable, Sendable {
  enum Status: String, Codable, SortKey { case open, waiting, closed }

  var id: String
  var status: Status?
  var changed: Date
  var title: String
  var note: String
}

nonisolated struct SectionedEvent: Codable, Identifiable, Sendable {
  var id: UUID
  var sectionName: String
  var timestamp: Date
}

/// A database of the application's own.
actor OtherDatabase {
  func apply(_ append: RecordedAppend, position: String) async throws {}
}

struct Version: Sendable {
  var major: Int
  var minor: Int
}

// MARK: Screens

/// A view that changes with each batch.
struct Screen {
  func apply(_ changes: ListChanges<String, String>) {}
}

struct Slider {
  var points: AsyncStream<LogPoint>
}

/// The calls of `UICollectionView` that take a batch.
struct CollectionView {
  func reloadData() {}
  func performBatchUpdates(_ updates: (() -> Void)?) { updates?() }
  func deleteSections(_ sections: IndexSet) {}
  func reloadSections(_ sections: IndexSet) {}
  func insertSections(_ sections: IndexSet) {}
  func moveSection(_ section: Int, toSection newSection: Int) {}
  func deleteItems(at paths: [IndexPath]) {}
  func reloadItems(at paths: [IndexPath]) {}
  func reconfigureItems(at paths: [IndexPath]) {}
  func insertItems(at paths: [IndexPath]) {}
  func moveItem(at path: IndexPath, to newPath: IndexPath) {}
}

#if !canImport(UIKit) && !canImport(AppKit)
  // StrataViews has these where Apple's views are.
  extension ListIndex {
    var indexPath: IndexPath { IndexPath(indexes: [section, item]) }
  }

  extension [ListIndex] {
    var indexPaths: [IndexPath] { map(\.indexPath) }
  }

  extension [Int] {
    var indexSet: IndexSet { IndexSet(self) }
  }
#endif

// MARK: Pages

/// A list of incidents by status, and where it is shown.
class IncidentList {
  let store = EventStore.inMemory()
  let view = Screen()
  let request = ListRequest(Incident.self).sectioned(by: \.status)
  var incidents: DocumentCollection<Incident> { store.collection("incident") }
  var list: FetchController<Incident, String> { FetchController(request, from: incidents) }
}

final class ReadmePage: IncidentList {}
final class WindowsPage: IncidentList {}
final class StrataEventsPage: IncidentList {}
final class FetchControllerPage: IncidentList {}

final class TimePage: IncidentList {
  let slider = Slider(points: AsyncStream { $0.finish() })
  let friday = Date()
}

final class ListScrubberPage {
  let view = Screen()
  let lastFriday = Date()
  let incidents = IncidentList().list
}

final class JoinedUpdatesPage {
  let open = IncidentList().list
  let closed = IncidentList().list
  func show(_ open: ListSnapshot<Incident, String>, _ closed: ListSnapshot<Incident, String>) {}
}

/// A request for tasks of people, and the values that it is filtered by.
class TaskList {
  struct Item: Codable, Identifiable, Sendable {
    var id: Int
    var name: String
    var size: Int
    var owner: String
    var city: String?
  }

  struct City: Sendable {
    var name: String
    func distance(to other: String?) -> Double { other == name ? 0 : 1 }
  }

  let request = ListRequest(Item.self).sectioned(by: \.city)
  let text = ""
  let limit = 7
  let owner = "ann"
  let owners = ["ann", "bob"]
  let city = City(name: "Köln")
  var list: FetchController<Item, String?> {
    FetchController(request, from: EventStore.inMemory().collection("task", of: Item.self))
  }
}

final class StrataListsPage {
  let snapshot: ListSnapshot<Incident, String>
  init(_ snapshot: ListSnapshot<Incident, String>) { self.snapshot = snapshot }
}

final class RequestsPage: TaskList {}
final class ListRequestFiltersPage: TaskList {}
final class FilterTemplatePage: TaskList {}

struct Money {
  var cents: Int
}

/// A batch, and the list that a view shows: as a snapshot, and as a value.
final class BatchesPage {
  let update: ListUpdate<Incident, String>
  let view = CollectionView()
  var snapshot: ListSnapshot<Incident, String>
  var shown: DiffableSnapshot<String, String>

  init(_ update: ListUpdate<Incident, String>) throws {
    self.update = update
    snapshot = update.after
    shown = try DiffableSnapshot(update.after)
  }

  func updateHeader(ofSection section: Int) {}
}

final class DiffablePage {
  let list = IncidentList().list
  let shown = DiffableSnapshot<String, String>()
  let received = [4, 5]
  var snapshot = DiffableSnapshot<Int, String>()
}

final class DiffableSnapshotPage {
  let shown = DiffableSnapshot<Int, String>()
  var snapshot = DiffableSnapshot<Int, String>()
}

/// A screen that shows a list of events, and is its delegate.
@MainActor class EventsScreen: DiffableFetchControllerDelegate {
  let events = EventStore.inMemory().collection("event", of: SectionedEvent.self)
  var search: String?
  var controller: DiffableFetchController<SectionedEvent, String> {
    DiffableFetchController(events, sectionKey: \.sectionName, sortKeys: [.init(\.timestamp)])
  }
  func show(_ list: ListSnapshot<SectionedEvent, String>) {}
  func didChangeContent(
    _ controller: DiffableFetchController<SectionedEvent, String>,
    _ change: DiffableFetchChange<SectionedEvent, String>
  ) {}
}

final class DiffableFetchControllerPage: EventsScreen {}
final class DiffableFetchControllerFetchPage: EventsScreen {}

final class DiffableFetchRequestPage {
  struct Chore: Codable, Identifiable, Sendable {
    var id: Int
    var isDone: Bool
    var owner: String
  }

  let showsOpenOnly = true
  var request = DiffableFetchRequest<Chore, String>(sectionKey: \.owner)
}

final class MockListViewPage {
  let before = MockListData<String, String>()
  let after = MockListData<String, String>()
}
