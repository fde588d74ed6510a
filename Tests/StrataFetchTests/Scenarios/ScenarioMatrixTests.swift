// The scenarios in every form: both controllers, sections of every size, with and without limit and filter.

internal import Foundation
internal import StrataEvents
internal import StrataViews
@testable internal import StrataLists
internal import StrataTables
internal import Testing

/// One way to run a scenario.
struct ScenarioCase: Sendable, CustomTestStringConvertible {
  enum Form: String, CaseIterable, Sendable { case all, limited, including, excluding }

  var kind: ListKind
  var form: Form
  var section: String

  static let all = ListKind.allCases.flatMap { kind in
    Form.allCases.flatMap { form in
      ScenarioRun.names.map { ScenarioCase(kind: kind, form: form, section: $0) }
    }
  }

  var testDescription: String { "\(kind.rawValue), \(form.rawValue), \(section)" }

  func showing(_ item: UUID) -> Showing {
    switch form {
    case .all: .all
    case .limited: .limited(ScenarioRun.limit)
    case .including: .including
    case .excluding: .excluding(item)
    }
  }

  /// Whether the list shows everything that the scenario is about.
  var isWhole: Bool { form == .all || form == .including }
  /// The number of events of the section.
  var size: Int { section == "Ant" ? 1 : section == "Bat" ? 2 : 20 }
  var place: Int { ScenarioRun.names.firstIndex(of: section)! }
}

@Suite struct ScenarioMatrixTests {
  @Test(arguments: ScenarioCase.all)
  func `S1 A list shows every section and every item in order, within its limit`(_ test: ScenarioCase)
    async throws
  {
    let run = try await ScenarioRun()
    let item = try run.id(test.section, 0)
    try await run.show(test.kind, test.showing(item))
  }

  @Test(arguments: ScenarioCase.all)
  func `S2 A change that no order depends on is one update without a snapshot`(_ test: ScenarioCase)
    async throws
  {
    let run = try await ScenarioRun()
    let item = try run.id(test.section, 0)
    try await run.show(test.kind, test.showing(item))
    try await run.update(item) { $0.isUninteresting.toggle() }
    let change = try await run.told()
    #expect((change == nil) == (test.form == .excluding || (test.form == .limited && test.place > 6)))
    guard let change else { return }
    #expect(change.snapshot == nil)
    #expect(change.inserts.isEmpty && change.deletes.isEmpty && change.moves.isEmpty)
    #expect(change.updates == [item])
    #expect(change.changes.count == 1)
    #expect(run.list.row(item)?.isUninteresting == false)
  }

  @Test(arguments: ScenarioCase.all)
  func `S3 The last item of a section that gets the newest time is one move to its front`(
    _ test: ScenarioCase
  ) async throws {
    let run = try await ScenarioRun()
    let item = try run.id(test.section, -1)
    try await run.show(test.kind, test.showing(item))
    try await run.update(item) { $0.timestamp = run.now }
    let change = try await run.told()
    guard let change else {
      #expect(test.form == .excluding || (test.form == .limited && test.place > 6))
      return
    }
    // In the section that the limit cuts, the item comes from beyond the limit.
    if test.form == .limited, test.section == "Lion" {
      #expect(change.inserts == [item] && change.deletes.count == 1 && change.moves.isEmpty)
      return
    }
    #expect(change.updates == [item])
    #expect(change.inserts.isEmpty && change.deletes.isEmpty)
    #expect(change.changes.count == 1)
    #expect(change.update.after.index(of: item) == ListIndex(section: test.place, item: 0))
    // The only item of a section cannot move.
    #expect(change.moves == (test.size == 1 ? [] : [item]))
    #expect((change.snapshot == nil) == (test.size == 1))
    if let move = change.changes.moves.first {
      #expect(move.from == ListIndex(section: test.place, item: test.size - 1) && move.isChanged)
    }
  }

  @Test(arguments: ScenarioCase.all)
  func `S4 An item that changes its section is one move across`(_ test: ScenarioCase) async throws {
    let run = try await ScenarioRun()
    let item = try run.id(test.section, 0)
    try await run.show(test.kind, test.showing(item))
    let target = test.section == "Tiger" ? "Bear" : "Tiger"
    try await run.update(item) { $0.sectionName = target }
    let change = try await run.told()
    guard let change else {
      #expect(test.form != .all && test.form != .including)
      return
    }
    #expect(change.changes.sectionDeletions.map(\.section) == (test.size == 1 ? [test.section] : []))
    guard test.isWhole else { return }
    #expect(change.updates == [item] && change.moves == [item])
    #expect(change.inserts.isEmpty && change.deletes.isEmpty)
    let snapshot = try #require(change.snapshot)
    let move = try #require(change.changes.moves.first)
    #expect(move.from == ListIndex(section: test.place, item: 0) && move.isChanged)
    #expect(snapshot.sectionIdentifier(containingItem: item) == target)
    #expect(!snapshot.itemIdentifiers(inSection: test.section).contains(item))
    #expect(run.list.row(item)?.sectionName == target)
  }

  @Test(arguments: ScenarioCase.all)
  func `S5 A new event is one insert, first in its section`(_ test: ScenarioCase) async throws {
    let run = try await ScenarioRun()
    // Into an existing section, and into a new one.
    for name in [test.section, test.section + "s"] {
      let event = run.newEvent(in: name)
      try await run.show(test.kind, test.showing(event.id))
      try await run.put(event)
      let change = try await run.told()
      guard let change, change.inserts.contains(event.id) else {
        #expect(!test.isWhole)
        continue
      }
      #expect(change.updates.isEmpty && change.moves.isEmpty)
      #expect(change.inserts == [event.id])
      // A full window drops its last item.
      #expect(change.deletes.count == (test.form == .limited ? 1 : 0))
      let snapshot = try #require(change.snapshot)
      let index = try #require(snapshot.index(of: event.id))
      #expect(index.item == 0 && snapshot.sectionIdentifier(at: index.section) == name)
      #expect(change.changes.insertions.first?.to == index)
      #expect(run.list.row(event.id) == event)
    }
  }

  @Test(arguments: ScenarioCase.all)
  func `S6 An event that is deleted is one delete, and nobody gets it any more`(_ test: ScenarioCase)
    async throws
  {
    let run = try await ScenarioRun()
    let item = try run.id(test.section, 0)
    try await run.show(test.kind, test.showing(item))
    try await run.delete(item)
    let change = try await run.told()
    #expect(run.list.row(item) == nil)
    guard let change, change.deletes.contains(item) else {
      #expect(!test.isWhole)
      return
    }
    #expect(change.updates.isEmpty && change.moves.isEmpty)
    #expect(change.deletes == [item])
    // The next item enters a full window.
    #expect(change.inserts.count == (test.form == .limited ? 1 : 0))
    #expect(change.changes.deletions.first?.from == ListIndex(section: test.place, item: 0))
    let snapshot = try #require(change.snapshot)
    #expect(snapshot.indexOfSection(test.section) == (test.size == 1 ? nil : test.place))
  }
}
