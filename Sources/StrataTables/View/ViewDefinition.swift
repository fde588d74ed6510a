// What makes a view: which rows, in which sections, in which order.

internal import StrataBase

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

/// In which order the sections of a view stand. Ties stand by section key, ascending, nil where it is said to be.
package enum SectionOrder: Sendable {
  /// Makes a key of a section, whose bytes decide.
  package typealias Rank = @Sendable (_ section: UnsafeRawBufferPointer, inout SortKeyWriter) -> Void
  /// Whether one section stands before another.
  package typealias Comparison = @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool

  case key
  /// The last section first, but for nil.
  case keyDescending
  /// These sections first, in this order, and all others behind them by key.
  case list([[UInt8]])
  /// By the place that a section's first item has among all items by their sort keys.
  case first
  /// The section with the most items first.
  case count
  /// By the key that a closure makes of a section when it appears.
  case ranked(Rank)
  case compared(Comparison)
  /// By the greatest or least of the values that `place` gives for a section's items.
  case extreme(SectionAggregate)
}

/// Which of its items' values a section stands by. A nil is no value; sections without one stand last.
package struct SectionAggregate: Hashable, Sendable {
  /// The greatest value, for which nil has to come first; otherwise the least one, for which it has to come last.
  package var isMaximum: Bool
  /// Whether the section with the greatest of these stands first.
  package var isDescending: Bool

  package init(isMaximum: Bool, isDescending: Bool) {
    self.isMaximum = isMaximum
    self.isDescending = isDescending
  }
}

/// What a view's definition wrote for a row.
package struct PlacedLengths: Sendable {
  /// How many bytes at the beginning are the section's.
  package var section: Int
  /// How many bytes at the end are the value that the section's place depends on, and no part of the key.
  package var value: Int

  package init(section: Int, value: Int = 0) {
    self.section = section
    self.value = value
  }
}

/// How far the program's own code decides where a view has a row: what such code reads besides the row, as a clock
/// or a locale, makes other keys of the same row at another time.
package enum ProgramCalls: Sendable {
  /// The row's bytes alone decide.
  case none
  /// Code of the program makes keys, or the item that they are read from; what is left out follows from the row's
  /// bytes.
  case keys
  /// Code of the program decides also which rows are shown.
  case filters
}

/// A function from rows to keys, and the order of sections.
///
/// The function is meant to be pure, and a view stays consistent where it is not: see `View+Record.swift`.
package final class ViewDefinition: Sendable {
  /// The longest key of a row in a view, in bytes. An order key may hold all of it twice, and has to be a key of
  /// a tree.
  package static let keyLengthMax = 32_000

  /// Appends section ‖ sort keys of a row, self-delimiting and in order of their bytes, and behind them the value
  /// for an order by values. Returns the lengths; nil for a row that the view does not show.
  package typealias Place = @Sendable (RowView, inout SortKeyWriter) throws(RowProblem) -> PlacedLengths?

  package let identity: ViewIdentity
  package let sectionOrder: SectionOrder
  /// Whether the section nil stands behind all others where sections stand by their keys.
  package let areNilsLast: Bool
  /// Sections that are there also without items, each once.
  package let declaredSections: [[UInt8]]
  /// The fields of documents that the definition names, each once, ascending. Equal identities name equal fields.
  package let fields: [FieldPath]
  package let place: Place
  /// What of the function is the program's.
  package let calls: ProgramCalls
  let declared: Set<[UInt8]>
  /// Section → its place in an explicit list.
  let listed: [[UInt8]: UInt32]
  /// Whether the tree of sections has them in their order.
  let isOrderedByKey: Bool
  /// Whether a change of a section's items may move the section.
  let dependsOnItems: Bool
  /// Whether each section's place is kept from when it appeared.
  let holdsLabels: Bool
  /// Whether the items' values are kept.
  let holdsValues: Bool
  /// Whether the program's code is asked where a section stands by itself, and may answer otherwise the next time.
  package var asksForSectionOrder: Bool { !isCompared && (holdsLabels || (holdsValues && calls != .none)) }
  /// Whether a closure of the program compares sections.
  var isCompared: Bool { if case .compared = sectionOrder { true } else { false } }

  /// The keys of a view's items by their ids, made for readers of a view that does not keep them: of the last view
  /// that needed them.
  let lookup = Lock<(items: Tree, keys: Tree)?>(nil)

  /// - Parameters:
  ///   - declared: keys of sections, of at most `keyLengthMax` bytes.
  ///   - calls: what of `place` is the program's.
  package init(
    identity: ViewIdentity, sectionOrder: SectionOrder, areNilsLast: Bool = false, declared: [[UInt8]] = [],
    fields: [FieldPath] = [], calls: ProgramCalls = .filters, place: @escaping Place
  ) {
    self.identity = identity
    self.sectionOrder = sectionOrder
    self.areNilsLast = areNilsLast
    self.fields = fields
    self.place = place
    self.calls = calls
    var isOrderedByKey = false
    var dependsOnItems = false
    var holdsLabels = false
    var holdsValues = false
    var listed: [[UInt8]: UInt32] = [:]
    switch sectionOrder {
    case .key: isOrderedByKey = !areNilsLast
    case .keyDescending: break
    case .list(let sections):
      for section in sections where listed[section] == nil { listed[section] = UInt32(listed.count) }
    case .first, .count: dependsOnItems = true
    case .ranked, .compared: holdsLabels = true
    case .extreme: (dependsOnItems, holdsValues) = (true, true)
    }
    self.isOrderedByKey = isOrderedByKey
    self.dependsOnItems = dependsOnItems
    self.holdsLabels = holdsLabels
    self.holdsValues = holdsValues
    self.listed = listed
    var known: Set<[UInt8]> = []
    declaredSections = declared.filter { known.insert($0).inserted }
    self.declared = known
  }
}
