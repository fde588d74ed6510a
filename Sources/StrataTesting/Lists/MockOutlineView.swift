// A list view like AppKit's, which performs each step before it checks the next one.

internal import StrataLists
public import StrataViews

/// A list view that shows sections of cells, and changes them step by step under the rules of `NSOutlineView`. The
/// indexes of a step refer to what is shown at that moment.
public struct MockOutlineView<ItemID: Hashable & Sendable, SectionID: Hashable & Sendable>: Sendable {
  public typealias Data = MockListData<ItemID, SectionID>

  public private(set) var shown: Data

  public init(shown: Data) { self.shown = shown }

  /// Performs one step. `cell` and `sectionVersion` return the content after all steps, by id.
  public mutating func show(
    _ step: ListStep<ItemID, SectionID>, cell: (ItemID) -> Data.Cell, sectionVersion: (SectionID) -> Int
  ) throws(MockListError) {
    switch step {
    case .removeItem(let id, let at):
      try check(id, at, "deleting")
      shown.sections[at.section].cells.remove(at: at.item)
    case .removeSection(let id, let at):
      try check(id, at, "deleting")
      guard shown.sections[at].cells.isEmpty else {
        throw .silentCorruption("section \(at) is removed with \(shown.sections[at].cells.count) items in it")
      }
      shown.sections.remove(at: at)
    case .insertSection(let id, let at):
      try checkEnd(at, shown.sections.count, parent: nil)
      shown.sections.insert(.init(id: id, version: sectionVersion(id), cells: []), at: at)
    case .insertItem(let id, let at):
      try checkSection(at.section, "inserting")
      try checkEnd(at.item, shown.sections[at.section].cells.count, parent: at.section)
      shown.sections[at.section].cells.insert(cell(id), at: at.item)
    case .moveSection(let id, let from, let to):
      try check(id, from, "moving")
      let section = shown.sections.remove(at: from)
      try checkEnd(to, shown.sections.count, parent: nil)
      shown.sections.insert(section, at: to)
    case .moveItem(let id, let from, let to, let isChanged):
      try check(id, from, "moving")
      let moved = shown.sections[from.section].cells.remove(at: from.item)
      try checkSection(to.section, "moving")
      try checkEnd(to.item, shown.sections[to.section].cells.count, parent: to.section)
      shown.sections[to.section].cells.insert(isChanged ? cell(id) : moved, at: to.item)
    case .updateItem(let id, let at):
      try check(id, at, "reloading")
      shown.sections[at.section].cells[at.item] = cell(id)
    case .updateSection(let id, let at):
      try check(id, at, "reloading")
      shown.sections[at].version = sectionVersion(id)
    }
  }

  private static func error(_ verb: String, _ position: Int, _ count: Int, parent: Int?) -> MockListError {
    .outOfBounds(
      "NSOutlineView error \(verb) child indexes <NSIndexSet: 0x0>[number of indexes: 1 (in 1 ranges), indexes: "
        + "(\(position))] in parent \(parent.map { "section \($0)" } ?? "0x0") (which has \(count) children)."
    )
  }

  private func checkSection(_ position: Int, _ verb: String) throws(MockListError) {
    guard shown.sections.indices.contains(position) else {
      throw Self.error(verb, position, shown.sections.count, parent: nil)
    }
  }

  private func checkEnd(_ position: Int, _ count: Int, parent: Int?) throws(MockListError) {
    guard (0...count).contains(position) else {
      throw Self.error("inserting", position, count, parent: parent)
    }
  }

  private func check(_ id: SectionID, _ position: Int, _ verb: String) throws(MockListError) {
    try checkSection(position, verb)
    guard shown.sections[position].id == id else {
      throw .silentCorruption(
        "section \(position) is \(shown.sections[position].id), and the step says \(id)")
    }
  }

  private func check(_ id: ItemID, _ position: ListIndex, _ verb: String) throws(MockListError) {
    try checkSection(position.section, verb)
    guard shown.contains(position) else {
      throw Self.error(
        verb, position.item, shown.sections[position.section].cells.count, parent: position.section)
    }
    guard shown[position].id == id else {
      throw .silentCorruption("\(position.path) shows \(shown[position].id), and the step says \(id)")
    }
  }
}
