// A list at one moment, typed: sections, items, rows.

public import StrataEvents
package import StrataTables

/// The position of an item in a list: the index of its section, and its index in the section.
public struct ListIndex: Hashable, Comparable, Codable, Sendable {
  public var section: Int
  public var item: Int

  public init(section: Int, item: Int) {
    self.section = section
    self.item = item
  }

  public static func < (a: ListIndex, b: ListIndex) -> Bool { (a.section, a.item) < (b.section, b.item) }
}

extension ListIndex: CustomStringConvertible {
  /// `[section, item]`.
  public var description: String { "[\(section), \(item)]" }
}

/// A list at one moment. It is an immutable value, costs nothing to copy, and is safe on any thread.
///
/// Counts and identifiers are those of the shown items; a window hides the rest.
public struct ListSnapshot<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  package let version: ListVersion
  let decode: @Sendable (RowView) throws(RowProblem) -> Item
  let decodeSection: @Sendable (UnsafeRawBufferPointer) -> Section?
  package let encodeSection: @Sendable (Section) -> [UInt8]
  private let tokenSource: ListTokenSource

  package init(
    version: ListVersion, decode: @escaping @Sendable (RowView) throws(RowProblem) -> Item,
    decodeSection: @escaping @Sendable (UnsafeRawBufferPointer) -> Section?,
    encodeSection: @escaping @Sendable (Section) -> [UInt8], token: ListTokenSource = .known(nil)
  ) {
    self.version = version
    self.decode = decode
    self.decodeSection = decodeSection
    self.encodeSection = encodeSection
    tokenSource = token
  }

  /// The token to resume from: `controller.updates(since:)`. Nil for a list that no controller made, and if the chain
  /// of the log up to the state is not known. That of a list of the past is read from the log when it is first asked for:
  /// nil if the store is closed by then, or the log cannot be read there.
  public var token: ListToken? { tokenSource.token }

  /// The list includes everything up to this sequence.
  public var sequence: UInt64 { version.sequence }
  /// The own time of the last append in the list; nil before the first append.
  public var time: Timestamp? { version.time.map { Timestamp(nanoseconds: $0) } }
}

// MARK: Counts and identifiers

extension ListSnapshot {
  /// The number of shown items. O(1); if sections have windows of their own, O(sections shown).
  public var numberOfItems: Int { version.itemCount }
  /// The number of shown sections. O(1).
  public var numberOfSections: Int { version.sectionCount }
  /// The number of items that pass the filters, shown or hidden by a window. O(1).
  public var totalNumberOfItems: Int { version.view.count }
  /// The number of sections that hold items or are declared, shown or hidden by a window. O(1).
  public var totalNumberOfSections: Int { version.isSectioned ? version.view.sectionCount : 1 }

  /// The shown sections in order. O(sections).
  public var sectionIdentifiers: [Section] { (0..<numberOfSections).map { sectionIdentifier(at: $0) } }

  /// The ids of all items shown, section after section. O(n).
  public var itemIdentifiers: [Item.ID] {
    (0..<numberOfSections).flatMap { itemIdentifiers(inSectionAt: $0) }
  }

  /// The section at an index. O(log sections).
  ///
  /// Stops the program if the index is out of range.
  public func sectionIdentifier(at index: Int) -> Section {
    version.withSection(at: index) { section, _, _ in
      guard let section = decodeSection(section) else {
        preconditionFailure("the key of section \(index) does not decode as \(Section.self)")
      }
      return section
    }
  }

  /// The number of items that the section at an index shows. O(log sections).
  ///
  /// Stops the program if the index is out of range.
  public func numberOfItems(inSectionAt index: Int) -> Int {
    version.withSection(at: index) { _, _, shown in shown }
  }

  /// The number of items in the section at an index, shown or hidden by a window. O(log sections).
  ///
  /// Stops the program if the index is out of range.
  public func totalNumberOfItems(inSectionAt index: Int) -> Int {
    version.withSection(at: index) { _, count, _ in count }
  }

  /// The number of items in a section, shown or hidden by a window; the section itself may be hidden. O(log sections).
  public func totalNumberOfItems(inSection section: Section) -> Int {
    guard version.isSectioned else { return totalNumberOfItems }
    return encodeSection(section).withUnsafeBytes { version.view.itemCount(of: $0) }
  }

  /// The ids of the items that the section at an index shows. O(log n + items).
  ///
  /// Stops the program if the index is out of range.
  public func itemIdentifiers(inSectionAt index: Int) -> [Item.ID] {
    identifiers(inSectionAt: index, 0..<numberOfItems(inSectionAt: index))
  }

  /// The ids of the items that a section shows; empty if the list does not show it.
  public func itemIdentifiers(inSection section: Section) -> [Item.ID] {
    indexOfSection(section).map { itemIdentifiers(inSectionAt: $0) } ?? []
  }

  /// The number of items that a section shows; 0 if the list does not show it.
  public func numberOfItems(inSection section: Section) -> Int {
    indexOfSection(section).map { numberOfItems(inSectionAt: $0) } ?? 0
  }

  /// The index of a section, nil if the list does not show it. O(log sections).
  ///
  /// Sections are compared by the bytes of their keys: strings by their UTF-8, even where Swift considers them equal.
  public func indexOfSection(_ section: Section) -> Int? {
    encodeSection(section).withUnsafeBytes { version.index(ofSection: $0) }
  }

  /// The id of the item at an index. O(log n).
  ///
  /// Stops the program if the list shows no item there.
  public func itemIdentifier(at index: ListIndex) -> Item.ID {
    // The greatest number has no next one, and is no index of any list.
    precondition(index.item < .max, "the list shows no item at \(index)")
    return identifiers(inSectionAt: index.section, index.item..<index.item + 1)[0]
  }

  /// The index of an item, nil if it is not shown. O(log n).
  public func index(of id: Item.ID) -> ListIndex? {
    var text = id.documentID
    return text.withUTF8 { id in
      version.position(of: UnsafeRawBufferPointer(id))
    }
  }

  /// Whether the list shows an item. O(log n).
  public func contains(_ id: Item.ID) -> Bool { index(of: id) != nil }

  /// The section that shows an item, nil if none does. O(log n).
  public func sectionIdentifier(containingItem id: Item.ID) -> Section? {
    index(of: id).map { sectionIdentifier(at: $0.section) }
  }

  /// The ids at a range of indexes among the items that a section shows.
  func identifiers(inSectionAt section: Int, _ indexes: Range<Int>) -> [Item.ID] {
    var ids: [Item.ID] = []
    ids.reserveCapacity(indexes.count)
    version.forEachItem(inSectionAt: section, indexes) { key in
      let text = String(decoding: key.id, as: UTF8.self)
      guard let id = Item.ID(documentID: text) else {
        preconditionFailure("the id of the row \(text) is not a valid id of \(Item.self)")
      }
      ids.append(id)
    }
    return ids
  }
}

// MARK: Rows

extension ListSnapshot {
  /// A row of the list; nil if the list does not show it. O(log n), and the decoding of the row.
  public func row(for id: Item.ID) -> Item? {
    // Finding the index of a row may decode it once more.
    guard version.showsEveryRow || contains(id) else { return nil }
    var text = id.documentID
    return text.withUTF8 { id in
      version.table.withRow(UnsafeRawBufferPointer(id)) { row in
        // Rows that do not decode are not in the list.
        row.flatMap { try? decode($0) }
      }
    }
  }

  /// The row at an index; nil if the list shows none there. O(log n), and the decoding of the row.
  public func row(at index: ListIndex) -> Item? {
    guard index.section >= 0, index.section < numberOfSections, index.item >= 0,
      index.item < numberOfItems(inSectionAt: index.section)
    else { return nil }
    // A row at an index is always shown: unlike a lookup by id, this needs no key of the row.
    var item: Item?
    version.forEachItem(inSectionAt: index.section, index.item..<index.item + 1) { key in
      version.table.withRow(key.id) { row in
        if let row { item = try? decode(row) }
      }
    }
    return item
  }

  /// Rows of one section by their indexes, loaded if necessary. O(log n + rows).
  public func rows(in indexes: Range<Int>, ofSectionAt section: Int) async throws(ListError) -> [Item] {
    guard section >= 0, section < numberOfSections else {
      throw .outOfRange("the list shows \(numberOfSections) sections; section \(section) is out of range")
    }
    let shown = numberOfItems(inSectionAt: section)
    guard indexes.lowerBound >= 0, indexes.upperBound <= shown else {
      throw .outOfRange("section \(section) shows \(shown) items; \(indexes) is out of range")
    }
    var items: [Item] = []
    items.reserveCapacity(indexes.count)
    do throws(RowProblem) {
      try version.forEachRow(inSectionAt: section, indexes) { (row) throws(RowProblem) in
        if let row { items.append(try decode(row)) }
      }
    } catch {
      throw .row(error.what)
    }
    return items
  }

  /// Rows of the whole list by their offsets in `itemIdentifiers`. O(log n + rows), plus O(log n) for each section
  /// shown before them if sections are not ordered by key or have windows of their own.
  public func rows(in indexes: Range<Int>) async throws(ListError) -> [Item] {
    guard indexes.lowerBound >= 0, indexes.upperBound <= numberOfItems else {
      throw .outOfRange("the list shows \(numberOfItems) items; \(indexes) is out of range")
    }
    var items: [Item] = []
    items.reserveCapacity(indexes.count)
    for run in version.runs(of: indexes) {
      items += try await rows(in: run.items, ofSectionAt: run.section)
    }
    return items
  }
}

// MARK: Problems

/// A row with a problem in a list. Either the list leaves it out because it cannot show it; or it shows it by less than
/// its whole key, which is longer than 32,000 bytes; or the request's functions made another key than before though the
/// row did not change: they depend on something other than the row, such as a clock or a locale. Such a row is shown
/// where its newest key puts it, and reported until it is removed.
public struct ListProblem: Hashable, Sendable {
  /// The row's id as text.
  public var id: String
  /// The sequence of the event that last changed the row; nil if no row could be made.
  public var sequence: UInt64?
  /// The problem, with the coding path if there is one.
  public var what: String
}

extension ListSnapshot {
  /// The number of rows that the list leaves out because they do not decode or because a section or sort value is
  /// invalid, plus those whose section or sort keys are too long, and those whose key changed though they did not.
  public var numberOfProblems: Int {
    version.view.problems.count + version.view.drifts.count + version.table.problems.count
  }

  /// The maximum number of problems listed.
  private static var listedProblemsMax: Int { 100 }

  /// The first hundred problems, by the bytes of their ids. O(problems listed).
  public var problems: [ListProblem] {
    var problems: [(id: [UInt8], problem: ListProblem)] = []
    for tree in [version.table.problems, version.view.problems, version.view.drifts] {
      tree.forEach(in: 0..<min(tree.count, Self.listedProblemsMax)) { id, what in
        let sequence = version.table.withRow(id) { $0?.revision }
        let problem = ListProblem(
          id: String(decoding: id, as: UTF8.self), sequence: sequence,
          what: String(decoding: what, as: UTF8.self))
        problems.append((Array(id), problem))
      }
    }
    problems.sort { $0.id.lexicographicallyPrecedes($1.id) }
    return problems.prefix(Self.listedProblemsMax).map(\.problem)
  }
}
