// What defines a view: which rows, in which sections, in which order.

internal import StrataBase

/// Identifies a view among those of its table: two definitions with equal identities place every row in the same way.
package struct ViewIdentity: Hashable, Sendable {
  /// Holds the value by reference, so that copies of one identity compare as equal without a look at the value.
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

/// The order of a view's sections. Ties are ordered by section key, ascending, with nil where `areNilsLast` puts it.
package enum SectionOrder: Sendable {
  /// Makes a key for a section; the bytes of the key decide the order.
  package typealias Rank = @Sendable (_ section: UnsafeRawBufferPointer, inout SortKeyWriter) -> Void
  /// Whether one section comes before another.
  package typealias Comparison = @Sendable (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool

  case key
  /// Descending by section key, except for nil.
  case keyDescending
  /// These sections first, in this order, then all others by key.
  case list([[UInt8]])
  /// By the position of a section's first item among all items, by their sort keys.
  case first
  /// The section with the most items first.
  case count
  /// By the key that a closure makes for a section when it appears.
  case ranked(Rank)
  case compared(Comparison)
  /// By the greatest or least of the values that `place` gives for a section's items.
  case extreme(SectionAggregate)
}

/// The value of its items by which a section is ordered. Nil does not count as a value; sections without one come last.
package struct SectionAggregate: Hashable, Sendable {
  /// True for the greatest value, which needs nil to sort first; false for the least, which needs nil to sort last.
  package var isMaximum: Bool
  /// Whether the section with the greatest of these values comes first.
  package var isDescending: Bool

  package init(isMaximum: Bool, isDescending: Bool) {
    self.isMaximum = isMaximum
    self.isDescending = isDescending
  }
}

/// The lengths of what a view's definition wrote for a row.
package struct PlacedLengths: Sendable {
  /// The length of the section, in bytes at the beginning.
  package var section: Int
  /// The length of the value that the section's position depends on, in bytes at the end. Not part of the key.
  package var value: Int
  /// Whether the section was shortened.
  package var isShortened: Bool

  package init(section: Int, value: Int = 0, isShortened: Bool = false) {
    self.section = section
    self.value = value
    self.isShortened = isShortened
  }
}

/// How far the program's own code decides where a view has a row. If such code reads anything besides the row, such as
/// a clock or a locale, it makes other keys of the same row at another time.
package enum ProgramCalls: Sendable {
  /// The row's bytes alone decide.
  case none
  /// The program's code makes keys, or the item that they are read from. The row's bytes decide what is left out.
  case keys
  /// The program's code also decides which rows are shown.
  case filters
}

/// A function from rows to keys, and the order of sections.
///
/// The function should be pure. A view stays consistent even if it is not: see `View+Record.swift`.
package final class ViewDefinition: Sendable {
  /// The maximum length of a section's key, in bytes. A longer one is shortened.
  package static let sectionLengthMax = SectionBytes.lengthMax

  /// The maximum length of the sort keys of a row with an id of that length, together, in bytes. Longer ones are cut.
  ///
  /// Section, sort keys and id are one key of a tree, and an id of more than 1,535 bytes leaves less room. So rows with
  /// equal sort keys and usual ids are ordered by their ids, however long the sort keys are.
  package static func sortLengthMax(idLength: Int) -> Int {
    min(32_000, Tree.keyLengthMax - sectionLengthMax - idLength)
  }

  /// The maximum length of an order key without the section, and without the byte for nil, that follow it.
  static let orderLengthMax = Tree.keyLengthMax - sectionLengthMax - 1

  /// Appends section ‖ sort keys of a row, self-delimiting and ordered by their bytes, then the value if sections are
  /// ordered by values. Returns the lengths, or nil for a row that the view does not show.
  package typealias Place = @Sendable (RowView, inout SortKeyWriter) throws(RowProblem) -> PlacedLengths?

  package let identity: ViewIdentity
  package let sectionOrder: SectionOrder
  /// Whether the section nil comes after all others if sections are ordered by their keys.
  package let areNilsLast: Bool
  /// Sections that the view holds even without items, each once.
  package let declaredSections: [[UInt8]]
  /// The document fields that the definition names, each once, ascending. Equal identities name equal fields.
  package let fields: [FieldPath]
  /// The document fields whose values, first to last, are the keys of all rows that make one; empty for a view with
  /// sections, with filters or with other orders. Such a view, if it is kept under a
  /// name, is an index.
  package let keyFields: [FieldPath]
  /// The ids of all rows that the view may show or report, ascending, found by the indexes over the rows; nil where reading
  /// all rows costs less.
  package typealias Candidates = @Sendable (_ indexes: [View], _ rowCount: Int) -> [[UInt8]]?

  /// Finds the rows that a view is built of. Rows that are left out are those that `place` returns nil for.
  package let candidates: Candidates?
  package let place: Place
  /// How the view is saved with its table; nil for a view that is built by each process.
  package let kept: KeptView?
  /// Which parts of the function are the program's code.
  package let calls: ProgramCalls
  let declared: Set<[UInt8]>
  /// Section → its index in an explicit list.
  let listed: [[UInt8]: UInt32]
  /// Whether the tree of sections is in the order of the sections.
  package let isOrderedByKey: Bool
  /// Whether a change of its items may move a section.
  let dependsOnItems: Bool
  /// Whether each section keeps the label that it got when it appeared.
  package let holdsLabels: Bool
  /// Whether the view stores its items' values.
  package let holdsValues: Bool
  /// Whether the program's code decides the order of each section by itself, and may return another result next time.
  package var asksForSectionOrder: Bool { !isCompared && (holdsLabels || (holdsValues && calls != .none)) }
  /// Whether a closure of the program compares sections.
  package var isCompared: Bool { if case .compared = sectionOrder { true } else { false } }

  /// The keys of a view's items by their ids, computed for readers of a view that does not keep them. Holds those of
  /// the last view that needed them.
  let lookup = Lock<(items: Tree, keys: Tree)?>(nil)

  /// - Parameters:
  ///   - declared: keys of sections, of at most `sectionLengthMax` bytes.
  ///   - calls: which parts of `place` are the program's code.
  ///   - kept: the name under which the view is saved.
  package init(
    identity: ViewIdentity, sectionOrder: SectionOrder, areNilsLast: Bool = false, declared: [[UInt8]] = [],
    fields: [FieldPath] = [], keyFields: [FieldPath] = [], calls: ProgramCalls = .filters,
    kept: KeptView? = nil, candidates: Candidates? = nil, place: @escaping Place
  ) {
    self.kept = kept
    self.identity = identity
    self.sectionOrder = sectionOrder
    self.areNilsLast = areNilsLast
    self.fields = fields
    self.keyFields = keyFields
    self.candidates = candidates
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

extension ViewDefinition {
  /// Whether the program's code is called for a row or a section, which may take any amount of time.
  package var callsProgram: Bool { calls != .none || holdsLabels }
}
