// The aggregates of a list: what a request has counted, summed and compared in each section.

internal import StrataLog
public import StrataTables

/// A function of the values that the rows of a section have in one field: how many, their sum, the greatest.
///
/// A request takes it, `request.aggregated(.sum(of: \.amount))`, and each section has its result, which is exact after any
/// change and at any moment: `section.aggregates[.sum(of: \.amount)]`. See <doc:Requests>.
///
/// Null and missing values do not count. Values are compared as sort keys are: false < true < numbers < strings < bytes; a
/// NaN, an array and an object are left out, and counted in the result. Of a value longer than 32,000 bytes its
/// beginning counts.
public struct ListAggregate<Item: Sendable>: Hashable, Sendable {
  package let function: AggregateFunction
  /// Nil for the number of rows.
  let key: KeyPart<Item>?

  private init(_ function: AggregateFunction, _ key: KeyPart<Item>?) {
    (self.function, self.key) = (function, key)
  }

  private init<Value: SortKey>(_ function: AggregateFunction, _ keyPath: any KeyPath<Item, Value> & Sendable)
  {
    self.init(function, KeyPart(keyPath, []))
  }

  private init(_ function: AggregateFunction, field path: FieldPath) {
    self.init(function, KeyPart(field: path, []))
  }
}

// MARK: By properties

extension ListAggregate {
  /// How many rows there are, also those that a window hides.
  public static var count: Self { Self(.count, nil) }

  /// How many rows have a value.
  public static func count<Value: SortKey>(of keyPath: any KeyPath<Item, Value> & Sendable) -> Self {
    Self(.count, keyPath)
  }

  /// The sum of the numbers: exact, and rounded once where it is no integer.
  public static func sum<Value: SortKey>(of keyPath: any KeyPath<Item, Value> & Sendable) -> Self {
    Self(.sum, keyPath)
  }

  /// The sum of the numbers divided by how many there are, rounded once.
  public static func average<Value: SortKey>(of keyPath: any KeyPath<Item, Value> & Sendable) -> Self {
    Self(.average, keyPath)
  }

  /// The least value.
  public static func minimum<Value: SortKey>(of keyPath: any KeyPath<Item, Value> & Sendable) -> Self {
    Self(.minimum, keyPath)
  }

  /// The greatest value.
  public static func maximum<Value: SortKey>(of keyPath: any KeyPath<Item, Value> & Sendable) -> Self {
    Self(.maximum, keyPath)
  }

  /// The row with the least value; of several, the one with the least id by its bytes.
  public static func first<Value: SortKey>(by keyPath: any KeyPath<Item, Value> & Sendable) -> Self {
    Self(.first, keyPath)
  }

  /// The row with the greatest value; of several, the one with the greatest id by its bytes.
  public static func last<Value: SortKey>(by keyPath: any KeyPath<Item, Value> & Sendable) -> Self {
    Self(.last, keyPath)
  }
}

// MARK: By fields

extension ListAggregate {
  /// How many rows have a value in a field.
  public static func count(ofField path: FieldPath) -> Self { Self(.count, field: path) }

  /// The sum of the numbers in a field: exact, and rounded once where it is no integer. A decimal is what its text says.
  public static func sum(ofField path: FieldPath) -> Self { Self(.sum, field: path) }

  /// The sum of the numbers in a field divided by how many there are, rounded once.
  public static func average(ofField path: FieldPath) -> Self { Self(.average, field: path) }

  /// The least value of a field.
  public static func minimum(ofField path: FieldPath) -> Self { Self(.minimum, field: path) }

  /// The greatest value of a field.
  public static func maximum(ofField path: FieldPath) -> Self { Self(.maximum, field: path) }

  /// The row with the least value in a field; of several, the one with the least id by its bytes.
  public static func first(byField path: FieldPath) -> Self { Self(.first, field: path) }

  /// The row with the greatest value in a field; of several, the one with the greatest id by its bytes.
  public static func last(byField path: FieldPath) -> Self { Self(.last, field: path) }

  /// An aggregate as text: `count`, or one of `count`, `sum`, `avg`, `min`, `max`, `first` and `last`, a colon, and a field:
  /// `sum:amount`.
  ///
  /// Throws `store(.invalid)` for other text.
  public init(_ text: String) throws(ListError) {
    let name = text.prefix { $0 != ":" }
    guard let function = AggregateFunction(rawValue: String(name)) else {
      throw Self.malformed(text, "there is no function \(String(name).debugDescription)")
    }
    guard name.endIndex < text.endIndex else {
      guard function == .count else { throw Self.malformed(text, "\(function.rawValue) needs a field") }
      self = .count
      return
    }
    do throws(FieldPathError) {
      self.init(function, field: try FieldPath(String(text[text.index(after: name.endIndex)...])))
    } catch {
      throw Self.malformed(text, "\(error)")
    }
  }

  private static func malformed(_ text: String, _ what: String) -> ListError {
    let names = AggregateFunction.allCases.map(\.rawValue).joined(separator: ", ")
    return .store(
      .invalid(
        what: "the aggregate \(text.debugDescription) is none: \(what)",
        next: "write count, or one of \(names), a colon and a field, such as sum:amount"))
  }
}

extension ListAggregate: CustomStringConvertible {
  /// The aggregate as text: `sum:amount`. That of a field reads back as the same aggregate.
  public var description: String { key.map { "\(function.rawValue):\($0.name)" } ?? function.rawValue }
}

// MARK: In a request

extension ListRequest {
  /// The same list, with aggregates of each section and of the whole list. Calls add up.
  ///
  /// They are of all rows that pass the filters, as the counts of sections are, also of those that a window hides. A
  /// change of an aggregate is an update of its section, also if nothing else changed in it. They are in `ListSection` and
  /// `ListSnapshot`, at any moment: see ``ListAggregates``.
  ///
  /// O(log n) for each change of a row and each field. Least and greatest values, and first and last rows, take about as
  /// much memory as a list that is sorted by the field. The list at another moment, of which nothing is known, reads all
  /// its rows once.
  public func aggregated(_ aggregates: ListAggregate<Item>...) -> Self { aggregated(aggregates) }

  /// The same list, with aggregates of each section and of the whole list.
  public func aggregated(_ aggregates: [ListAggregate<Item>]) -> Self {
    with { request in
      for aggregate in aggregates where !request.aggregates.contains(aggregate) {
        request.aggregates.append(aggregate)
      }
    }
  }
}

extension ListRequest {
  /// The aggregates as compiled for a table; nil if there are none.
  func aggregatePlan(
    decode: @escaping @Sendable (RowView) throws(RowProblem) -> Item
  ) -> AggregatePlan? {
    guard !aggregates.isEmpty else { return nil }
    var keys: [KeyPart<Item>] = []
    for key in aggregates.compactMap(\.key) where !keys.contains(key) { keys.append(key) }
    var orderCount = 0
    let fields = keys.map { key in
      let functions = aggregates.filter { $0.key == key }.map(\.function)
      let needsOrder = functions.contains(where: \.needsOrder)
      defer { orderCount += needsOrder ? 1 : 0 }
      return AggregatePlan.Field(
        path: key.path.flatMap { $0.subject == .field ? $0 : nil }, append: key.appendAt,
        needsSum: functions.contains(where: \.needsSum), order: needsOrder ? orderCount : nil)
    }
    let lend: AggregatePlan.Lend = { row, body in
      guard let item = try? decode(row) else { return body(nil) }
      withUnsafePointer(to: item) { body(UnsafeRawPointer($0)) }
    }
    return AggregatePlan(
      identity: ViewIdentity(aggregates), partIdentities: aggregates.map { ViewIdentity($0) },
      parts: aggregates.map { aggregate in
        AggregatePlan.Part(
          function: aggregate.function, field: aggregate.key.flatMap { keys.firstIndex(of: $0) })
      },
      names: aggregates.map(\.description), fields: fields, paths: fields.compactMap(\.path),
      lend: keys.contains(where: \.needsItem) ? lend : nil)
  }
}
