// What makes a view: which rows, in which sections, in which order.

/// Names a view among those of its table: two definitions with equal identities place every row alike.
package struct ViewIdentity: Hashable, Sendable {
  /// Behind a reference, so that copies of one identity are known to be equal without a look at the value.
  private final class Box: Sendable {
    let value: any Hashable & Sendable
    init(_ value: any Hashable & Sendable) { self.value = value }
  }

  private let box: Box

  package init(_ value: some Hashable & Sendable) { box = Box(value) }

  package static func == (a: ViewIdentity, b: ViewIdentity) -> Bool {
    a.box === b.box || AnyHashable(a.box.value) == AnyHashable(b.box.value)
  }

  package func hash(into hasher: inout Hasher) { box.value.hash(into: &hasher) }
}

/// In which order the sections of a view stand. Ties stand by section key, ascending.
package enum SectionOrder: Hashable, Sendable {
  case key
  case keyDescending
  /// These sections first, in this order, and all others behind them by key.
  case list([[UInt8]])
  /// By the place that a section's first item has among all items by their sort keys.
  case first
  /// The section with the most items first.
  case count
}

/// A pure function from rows to keys, and the order of sections.
package final class ViewDefinition: Sendable {
  /// The longest key of a row in a view, in bytes. An order key may hold all of it twice, and has to be a key of
  /// a tree.
  package static let keyLengthMax = 32_000

  /// Appends section ‖ sort keys of a row, self-delimiting and in order of their bytes, and returns the length
  /// of the section's part; nil for a row that the view does not show.
  package typealias Place = @Sendable (RowView, inout SortKeyWriter) throws(RowProblem) -> Int?

  package let identity: ViewIdentity
  package let sectionOrder: SectionOrder
  package let place: Place
  /// Keys of sections that a list shows also where it shows none of their items.
  package let declaredSections: [[UInt8]]
  /// Section → its place in an explicit list.
  let listed: [[UInt8]: UInt32]

  package init(
    identity: ViewIdentity, sectionOrder: SectionOrder, declaredSections: [[UInt8]] = [],
    place: @escaping Place
  ) {
    self.identity = identity
    self.sectionOrder = sectionOrder
    self.declaredSections = declaredSections
    self.place = place
    var listed: [[UInt8]: UInt32] = [:]
    if case .list(let sections) = sectionOrder {
      for section in sections where listed[section] == nil { listed[section] = UInt32(listed.count) }
    }
    self.listed = listed
  }
}
