// What a list shall be: which rows, in which sections, in which order, and how many of them.

public import StrataEvents
public import StrataTables

/// The section of a list without sections.
public struct Unsectioned: Hashable, Sendable {
  public init() {}
}

/// A list as a value: built up by calls that each return a new one.
///
/// ```swift
/// let request = ListRequest(Incident.self)
///   .sectioned(by: \.status)
///   .sorted(by: \.product).sorted(by: \.id, .reverse)
///   .filtered(by: "impact == 'High'")
///   .limited(to: 200)
/// ```
///
/// Two requests are equal when they are made of equal key paths, field paths, filters, limits, and closures of
/// the same name and version. Equal requests share their work.
///
/// All code of the program that a request calls has to be pure: what key paths lead to, `init(from:)` of the item,
/// filters, predicates, and closures that order sections follow from the row or the section alone, and read no clock,
/// locale or setting. They are called when a row changes and never because time passes. Where one is not pure, lists
/// still do not contradict themselves; rows stay where their last change put them, and one that is found elsewhere
/// than its functions now say is reported in `FetchSnapshot.problems`.
public struct ListRequest<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  package var section: KeyPart<Item>?
  /// How a section is read back from its key.
  package var decodeSection: @Sendable (UnsafeRawBufferPointer) -> Section?
  /// How a section becomes a key, for explicit orders.
  package var encodeSection: @Sendable (Section) -> [UInt8]
  var sectionOrder = SectionOrderPart<Item, Section>.plain(.key)
  /// Whether the section nil stands behind all others.
  var areNilsLast = false
  /// Sections that are there also without items.
  var declaredSections: [Section] = []
  package var sorts: [KeyPart<Item>] = []
  package var filters: [FilterPart<Item>] = []
  var window = ListWindows.all
  package var reportsTouches = false
}

extension ListRequest where Section == Unsectioned {
  /// All rows of a type, in the order in which they were created.
  public init(_ type: Item.Type = Item.self) {
    decodeSection = { _ in Unsectioned() }
    encodeSection = { _ in [] }
  }
}

/// From the first to the last, or the other way.
public enum SortDirection: Hashable, Sendable {
  case forward
  case reverse
}

// MARK: Order

extension ListRequest {
  /// Sorted by a property; calls after the first one break ties. Remaining ties stand by the ids' bytes,
  /// ascending. A computed property has to follow from the item alone.
  ///
  /// - Parameter options: `.nilsLast`, `.caseInsensitive`, `.numeric`.
  public func sorted<Value: SortKey>(
    by keyPath: any KeyPath<Item, Value> & Sendable, _ direction: SortDirection = .forward,
    _ options: SortKeyOptions = []
  ) -> Self {
    with { $0.sorts.append(KeyPart(keyPath, options.directed(direction))) }
  }

  /// Sorted by a field of the documents.
  ///
  /// - Parameter options: `.nilsLast`, `.caseInsensitive`, `.numeric`, `.time`.
  public func sorted(
    byField path: FieldPath, _ direction: SortDirection = .forward, _ options: SortKeyOptions = []
  ) -> Self {
    with { $0.sorts.append(KeyPart(field: path, options.directed(direction))) }
  }
}

extension ListRequest {
  /// A changed copy.
  func with(_ change: (inout Self) -> Void) -> Self {
    var copy = self
    change(&copy)
    return copy
  }
}

extension SortKeyOptions {
  func directed(_ direction: SortDirection) -> SortKeyOptions {
    direction == .reverse ? union(.descending) : subtracting(.descending)
  }
}

extension ListRequest: Hashable {
  public static func == (a: Self, b: Self) -> Bool { a.window == b.window && a.shape == b.shape }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(window)
    hasher.combine(shape)
  }

  /// What the request says of a list, but for its window: by names, and without the closures that they stand for. Who
  /// keeps it keeps nothing of the program alive, and who compares it calls nothing.
  struct Shape: Hashable, Sendable {
    var section: KeyPart<Item>?
    var order: SectionOrderPart<Item, Section>.Identity
    var areNilsLast: Bool
    var declared: [[UInt8]]
    var sorts: [KeyPart<Item>]
    var filters: [FilterPart<Item>.Identity]
    var reportsTouches: Bool
  }

  var shape: Shape {
    Shape(
      section: section, order: orderIdentity, areNilsLast: areNilsLast, declared: declaredKeys, sorts: sorts,
      filters: filters.map { $0.identity }, reportsTouches: reportsTouches)
  }
}
