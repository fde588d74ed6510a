// What a list makes of the values of its rows: which functions of which fields, and how a row's values are read.

internal import StrataBase
internal import StrataDocuments
package import StrataTables

/// A function of the values that a field has in some rows. Null and missing values do not count.
package enum AggregateFunction: String, CaseIterable, Hashable, Sendable {
  /// How many rows there are, or how many have a value.
  case count
  case sum
  case average = "avg"
  case minimum = "min"
  case maximum = "max"
  /// The id of the row with the least value, or with the greatest.
  case first
  case last

  var needsSum: Bool { self == .sum || self == .average }
  var needsOrder: Bool { [.minimum, .maximum, .first, .last].contains(self) }
}

/// The aggregates of a list as compiled for a table.
package final class AggregatePlan: Sendable {
  /// Appends a field of a row as a component of a key; the pointer is to the row's item, nil if the row was not decoded.
  typealias Append =
    @Sendable (RowView, UnsafeRawPointer?, inout SortKeyWriter) throws(RowProblem) -> Void
  /// Lends the item that a row decodes to, nil if it does not.
  typealias Lend = @Sendable (RowView, (UnsafeRawPointer?) -> Void) -> Void

  /// A field with at least one function.
  struct Field: Sendable {
    /// The field of the document; nil for a property of the item, or a value of the row's own.
    var path: FieldPath?
    var append: Append
    var needsSum: Bool
    /// The index of its tree of ordered values; nil if no function needs one.
    var order: Int?
  }

  struct Part: Sendable {
    var function: AggregateFunction
    /// The index of its field; nil for the count of all rows.
    var field: Int?
  }

  /// What makes two plans equal, and what makes two parts equal.
  let identity: ViewIdentity
  private let partIdentities: [ViewIdentity]
  let parts: [Part]
  /// The parts as text: `sum:amount`.
  package let names: [String]
  let fields: [Field]
  let orderCount: Int
  /// The fields of documents that the parts name.
  package let paths: [FieldPath]
  /// Nil if no field is a property.
  private let lend: Lend?
  /// The states that were asked for last, as long as somebody holds them.
  private let recent = Lock<[Recent]>([])

  private struct Recent: Sendable {
    weak var totals: ListTotals?
  }

  /// - Parameter lend: decodes rows; nil if no field needs that.
  init(
    identity: ViewIdentity, partIdentities: [ViewIdentity], parts: [Part], names: [String], fields: [Field],
    paths: [FieldPath], lend: Lend?
  ) {
    self.names = names
    self.identity = identity
    self.partIdentities = partIdentities
    self.parts = parts
    self.fields = fields
    self.paths = paths
    self.lend = lend
    orderCount = fields.count { $0.order != nil }
  }

  /// The index of a part, nil if the plan does not have it.
  func index(of part: ViewIdentity) -> Int? { partIdentities.firstIndex(of: part) }

  // MARK: Rows

  /// The values of a row, one for each field.
  func values(of row: RowView, _ writer: inout SortKeyWriter) -> [AggregatedValue] {
    guard let lend else { return fields.map { AggregatedValue($0, row, nil, &writer) } }
    var values: [AggregatedValue] = []
    lend(row) { item in
      // The writer of the caller cannot be lent to a closure.
      var writer = SortKeyWriter()
      values = fields.map { AggregatedValue($0, row, item, &writer) }
    }
    return values
  }

  // MARK: States

  /// How many states are remembered: the newest one, and some that are looked at beside it.
  private static let recentCountMax = 8

  func remember(_ totals: ListTotals) {
    recent.withLock { recent in
      recent.removeAll { $0.totals == nil || $0.totals === totals }
      recent.append(Recent(totals: totals))
      if recent.count > Self.recentCountMax { recent.removeFirst() }
    }
  }

  /// The states that are remembered, the one that is nearest to a sequence first.
  func remembered(near sequence: UInt64) -> [ListTotals] {
    func distance(_ totals: ListTotals) -> UInt64 {
      max(totals.sequence, sequence) - min(totals.sequence, sequence)
    }
    // What was released meanwhile is released after the lock.
    let all = recent.withLock { $0.compactMap(\.totals) }
    return all.sorted { distance($0) < distance($1) }
  }
}

/// What one field of a row adds to the aggregates.
struct AggregatedValue: Equatable {
  enum Kind: Equatable {
    /// Null or missing.
    case nothing
    /// A value with this key.
    case ordered([UInt8])
    case notANumber
    /// An array, an object, or another value without a key.
    case unordered
  }

  var kind: Kind
  var number = Summand.nothing

  init(
    _ field: AggregatePlan.Field, _ row: RowView, _ item: UnsafeRawPointer?, _ writer: inout SortKeyWriter
  ) {
    writer.removeAll()
    do throws(RowProblem) {
      try field.append(row, item, &writer)
      kind =
        if writer.isNil(from: 0) {
          .nothing
        } else if writer.isNaN {
          .notANumber
        } else {
          // Only the order needs the bytes.
          .ordered(field.order == nil ? [] : writer.bytes)
        }
    } catch {
      kind = .unordered
    }
    guard field.needsSum, kind != .nothing else { return }
    if kind == .unordered {
      number = .notNumber
    } else if let path = field.path {
      number =
        path.find(in: row.document).flatMap { try? DocumentValue(cbor: $0) }.map { Summand($0) } ?? .notNumber
    } else {
      number = writer.withUnsafeBytes { bytes in
        var reader = SortKeyReader(bytes)
        return (try? reader.readAnything()).map { Summand($0) } ?? .notNumber
      }
    }
  }
}
