// Shows the output of every emitter on mock views, which must show the new list in the end.

@testable internal import StrataLists
@testable internal import StrataViews
internal import StrataTesting
internal import Testing

/// Two lists, and the batch between them.
struct EmitterChecks<ItemID: Hashable & Sendable, SectionID: Hashable & Sendable> {
  typealias Data = MockListData<ItemID, SectionID>

  let old: Data
  let new: Data
  let changes: ListChanges<ItemID, SectionID>
  private let cells: [ItemID: Data.Cell]
  private let sectionVersions: [SectionID: Int]

  init(old: Data, new: Data, changes: ListChanges<ItemID, SectionID>) {
    self.old = old
    self.new = new
    self.changes = changes
    // The content is new from the beginning, as it is with a store.
    var cells: [ItemID: Data.Cell] = [:]
    var versions: [SectionID: Int] = [:]
    for section in old.sections + new.sections {
      versions[section.id] = section.version
      for cell in section.cells { cells[cell.id] = cell }
    }
    (self.cells, sectionVersions) = (cells, versions)
  }

  private func require(_ view: MockListView<ItemID, SectionID>, _ what: @autoclosure () -> String) throws {
    try #require(view.staleCells == [], "\(what()): \(view.shown) instead of \(new)")
    try #require(view.staleSections == [], "\(what()): \(view.shown) instead of \(new)")
    try #require(view.shown == new, "\(what())")
  }

  func checkAll() throws {
    for style in [ListContentStyle.reconfigure, .reload] {
      try checkBatch(style)
      try checkStages(style)
    }
    try checkSteps()
    try checkDifference()
  }

  /// R40.
  func checkBatch(_ style: ListContentStyle) throws {
    let batch = changes.batch(style)
    var view = MockListView(data: old)
    do { try view.show(batch, new) } catch {
      throw EmitterFailure("\(error)\n\(batch)\n\(changes)\n\(old)\n\(new)")
    }
    try require(view, "\(batch)")
    try checkAsked(view, batch)
    if style == .reconfigure {
      let reloads = changes.updates.count(where: \.isReload)
      try #require(batch.reloads.count <= reloads)
    }
  }

  /// Checks that the view requests only the content of cells that changed.
  private func checkAsked(_ view: MockListView<ItemID, SectionID>, _ batch: ListBatch) throws {
    let asked = Set(view.askedCells)
    let rebuilt = Set(batch.sectionInsertions + batch.sectionReloads)
    let known = Set(batch.insertions + batch.reconfigures)
    let reloaded = Set(batch.reloads.map { old[$0].id })
    for place in asked where !rebuilt.contains(place.section) && !known.contains(place) {
      try #require(reloaded.contains(new[place].id), "\(place) was requested")
    }
  }

  /// R39.
  func checkStages(_ style: ListContentStyle) throws {
    let stages = try changes.staged(from: old.snapshot, style)
    try #require(stages.count <= 5)
    try #require(stages.allSatisfy { !$0.batch.isEmpty })
    try #require(zip(stages, stages.dropFirst()).allSatisfy { $0.kind.rawValue < $1.kind.rawValue })
    try #require(stages.isEmpty == changes.isEmpty)
    // A stage of headers must be the only stage.
    try #require(stages.last?.kind != .sectionUpdates || stages.count == 1)
    func data(_ snapshot: DiffableSnapshot<ItemID, SectionID>) -> Data {
      Data(snapshot, version: { cells[$0]!.version }, sectionVersion: { sectionVersions[$0]! })
    }
    var view = MockListView(data: old)
    do { try view.show(stages, data) } catch { throw EmitterFailure("\(error)\n\(stages)\n\(old)\n\(new)") }
    if let last = stages.last { try #require(data(last.data) == new, "\(stages)") }
    try require(view, "\(stages)")
    for (number, stage) in stages.enumerated() { try checkKind(stage, isLast: number == stages.count - 1) }
  }

  private func checkKind(_ stage: ListStage<ItemID, SectionID>, isLast: Bool) throws {
    var rest = stage.batch
    // Headers are updated with the last stage, whatever its kind.
    if isLast { (rest.sectionUpdates, rest.sectionReloads) = ([], []) }
    switch stage.kind {
    case .updates: (rest.reloads, rest.reconfigures) = ([], [])
    case .deletions: (rest.deletions, rest.sectionDeletions) = ([], [])
    case .sections: (rest.sectionInsertions, rest.sectionMoves) = ([], [])
    case .insertions: (rest.insertions, rest.moves) = ([], [])
    case .sectionUpdates: break
    }
    try #require(rest.isEmpty, "\(stage.kind) holds \(rest)")
  }

  /// R41.
  func checkSteps() throws {
    var view = MockOutlineView(shown: old)
    let steps = changes.steps
    for step in steps {
      do {
        try view.show(step, cell: { cells[$0]! }, sectionVersion: { sectionVersions[$0]! })
      } catch {
        throw EmitterFailure("\(error) in \(step) of\n\(steps)\n\(old)\n\(new)")
      }
    }
    try #require(view.shown == new, "\(steps)\n\(old)")
    let phases = steps.map(\.phase)
    try #require(phases == phases.sorted(), "\(steps)")
  }

  /// R42.
  func checkDifference() throws {
    // The same items without their sections.
    let (from, to) = (old.snapshot.itemIdentifiers, new.snapshot.itemIdentifiers)
    let difference = ListChanges(
      from: DiffableSnapshot(sections: [(Unsectioned(), from)]),
      to: DiffableSnapshot(sections: [(Unsectioned(), to)])
    ).difference
    try #require(from.applying(difference) == to, "\(difference)")
    let survivors = Set(from).intersection(to)
    for case .remove(_, let id, let other) in difference {
      try #require(
        (other != nil) == survivors.contains(id), "a removed item that is inserted again names its new index")
    }
  }
}

struct EmitterFailure: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

extension ListStep {
  /// 0 removed, 1 added, 2 changed.
  fileprivate var phase: Int {
    switch self {
    case .removeItem, .removeSection: 0
    case .insertSection, .insertItem: 1
    default: 2
    }
  }
}
