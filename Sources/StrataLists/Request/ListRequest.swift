// The description of a list: which rows, in which sections, in which order, and how many of them.

public import StrataEvents
public import StrataTables

/// The section of a list without sections.
public struct Unsectioned: Hashable, Sendable {
  /// Creates the section. All are equal.
  public init() {}
}

/// A list request as a value: built by calls that each return a new one.
///
/// ```swift
/// let request = ListRequest(Incident.self)
///   .sectioned(by: \.status)
///   .sorted(by: \.product).sorted(by: \.id, .reverse)
///   .filtered(by: "impact == 'High'")
///   .limited(to: 200)
/// ```
///
/// Two requests are equal if they are made of equal key paths, field paths, filters with the same values, limits,
/// predicates that capture the same values, and closures with the same ids. Equal requests share their work.
///
/// All of the program's code that a request calls must be pure. Key paths, `init(from:)` of the item, filters,
/// predicates, and closures that order sections must depend on the row or the section alone, and must not read a clock,
/// a locale or a setting. They are called when a row changes, and never because time passes. Even if one is not pure,
/// lists stay consistent in themselves; rows stay where their last change put them, and a row whose position no longer
/// matches the functions is reported in `ListSnapshot.problems`.
public struct ListRequest<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  package var section: KeyPart<Item>?
  /// Decodes a section from its key.
  package var decodeSection: @Sendable (UnsafeRawBufferPointer) -> Section?
  /// Encodes a section as a key, for explicit orders.
  package var encodeSection: @Sendable (Section) -> [UInt8]
  var sectionOrder = SectionOrderPart<Item, Section>.plain(.key)
  /// Whether the section nil comes after all others.
  var areNilsLast = false
  /// Sections that exist even without items.
  var declaredSections: [Section] = []
  package var sorts: [KeyPart<Item>] = []
  package var filters: [FilterPart<Item>] = []
  var window = ListWindows.all
  package var reportsTouches = false
  /// Each once.
  var aggregates: [ListAggregate<Item>] = []
  /// The name and the version under which the list is kept.
  var kept: KeptName?
}

extension ListRequest where Section == Unsectioned {
  /// All rows of a type, in the order in which they were created.
  public init(_ type: Item.Type = Item.self) {
    decodeSection = { _ in Unsectioned() }
    encodeSection = { _ in [] }
  }
}

/// A sort direction: ascending, or descending.
public enum SortDirection: Hashable, Sendable {
  case forward
  case reverse
}

// MARK: Order

extension ListRequest {
  /// Sorted by a property; later calls break ties. Remaining ties are ordered by the ids' bytes, ascending. A computed
  /// property must depend on the item alone.
  ///
  /// The key is added to those of the request: where another order is to replace it, call ``unsorted()`` first.
  ///
  /// - Parameter options: `.nilsLast`, `.caseInsensitive`, `.numeric`.
  public func sorted<Value: SortKey>(
    by keyPath: any KeyPath<Item, Value> & Sendable, _ direction: SortDirection = .forward,
    _ options: SortKeyOptions = []
  ) -> Self {
    with { $0.sorts.append(KeyPart(keyPath, options.directed(direction))) }
  }

  /// Sorted by a field of the documents, or by `$id`, `$revision` or `$time`. The key is added to those of the request,
  /// as with a property.
  ///
  /// - Parameter options: `.nilsLast`, `.caseInsensitive`, `.numeric`, `.time`.
  public func sorted(
    byField path: FieldPath, _ direction: SortDirection = .forward, _ options: SortKeyOptions = []
  ) -> Self {
    with { $0.sorts.append(KeyPart(field: path, options.directed(direction))) }
  }

  /// Without the sort keys of the request, those of `sortedManually` too: the rows are in the order of their creation
  /// until keys are added again.
  public func unsorted() -> Self { with { $0.sorts = [] } }
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
  public static func == (a: Self, b: Self) -> Bool {
    a.window == b.window && a.aggregates == b.aggregates && a.shape == b.shape
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(window)
    hasher.combine(aggregates)
    hasher.combine(shape)
  }

  /// The request without its window, aggregates and closures: closures are represented by their ids. Keeping a shape keeps
  /// nothing of the program alive, and comparing two calls none of its code.
  struct Shape: Hashable, Sendable {
    var section: KeyPart<Item>?
    var order: SectionOrderPart<Item, Section>.Identity
    var areNilsLast: Bool
    var declared: [[UInt8]]
    var sorts: [KeyPart<Item>]
    var filters: [FilterPart<Item>.Identity]
    var reportsTouches: Bool
    var kept: KeptName?
  }

  var shape: Shape {
    Shape(
      section: section, order: orderIdentity, areNilsLast: areNilsLast, declared: declaredKeys, sorts: sorts,
      filters: filters.map { $0.identity }, reportsTouches: reportsTouches, kept: kept)
  }
}
