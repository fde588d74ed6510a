// The naive model of aggregates: what is counted, summed and compared of the values of some rows.

internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
internal import StrataTables

/// A value that rows of the tests have, with what is known of it without the library.
struct ModelValue {
  enum Number {
    case none, notFinite, otherKind
    /// A number as text.
    case integer(String), fraction(String)
  }

  var value: DocumentValue?
  /// As what a sum takes it.
  var number: Number
  /// Its place among all values; nil if it has none. Equal values have one place.
  var rank: Int?
  /// In the form of keys, if that is another one.
  var key: DocumentValue?
  var isNaN: Bool { if case .double(let double)? = value { double.isNaN } else { false } }

  static let all: [ModelValue] = [
    ModelValue(value: nil, number: .none), ModelValue(value: .null, number: .none),
    ModelValue(value: .bool(false), number: .otherKind, rank: 0),
    ModelValue(value: .bool(true), number: .otherKind, rank: 1),
    ModelValue(value: .double(-.infinity), number: .notFinite, rank: 2),
    ModelValue(value: .double(-1e308), number: .fraction("-1e308"), rank: 3),
    ModelValue(
      value: .bigInt(DocumentInteger("-123456789012345678901234567890")!),
      number: .integer("-123456789012345678901234567890"), rank: 4),
    ModelValue(value: .int(.min), number: .integer("-9223372036854775808"), rank: 5),
    ModelValue(value: .double(-2.5), number: .fraction("-2.5"), rank: 6),
    ModelValue(value: .double(-0.0), number: .fraction("0"), rank: 7, key: .int(0)),
    ModelValue(value: .int(0), number: .integer("0"), rank: 7),
    ModelValue(value: .double(5e-324), number: .fraction("5e-324"), rank: 8),
    ModelValue(value: .double(0.1), number: .fraction("0.1"), rank: 9),
    ModelValue(value: .double(0.2), number: .fraction("0.2"), rank: 10),
    ModelValue(value: .int(3), number: .integer("3"), rank: 11),
    ModelValue(value: .double(3), number: .fraction("3"), rank: 11, key: .int(3)),
    ModelValue(value: .int(7), number: .integer("7"), rank: 12),
    ModelValue(value: .uint(.max), number: .integer("18446744073709551615"), rank: 13),
    ModelValue(value: .double(1e300), number: .fraction("1e300"), rank: 14),
    ModelValue(value: .double(1.7e308), number: .fraction("1.7e308"), rank: 15),
    ModelValue(value: .double(.infinity), number: .notFinite, rank: 16),
    ModelValue(value: .double(.nan), number: .notFinite),
    ModelValue(value: .string(""), number: .otherKind, rank: 17),
    ModelValue(
      value: .string("12345678901234567.89"), number: .fraction("12345678901234567.89"), rank: 18),
    ModelValue(value: .string("7"), number: .otherKind, rank: 19),
    ModelValue(value: .string("é"), number: .otherKind, rank: 20),
    ModelValue(value: .bytes([1]), number: .otherKind, rank: 21),
    ModelValue(value: .array([3]), number: .otherKind), ModelValue(value: .object([:]), number: .otherKind),
  ]
}

/// The results of one section, or of a whole list.
struct ModelAggregates: Equatable {
  struct Result: Equatable {
    var value: DocumentValue
    var notFiniteCount = 0
    var otherKindCount = 0

    init(_ value: DocumentValue) { self.value = value }
    init(_ value: AggregateValue) {
      self.value = value.value
      notFiniteCount = value.notFiniteCount
      otherKindCount = value.otherKindCount
    }
  }

  static let names = ["count"] + AggregateFunction.allCases.map { "\($0.rawValue):n" }
  static var request: [ListAggregate<DocumentRow>] {
    get throws { try names.map { text throws(ListError) in try ListAggregate(text) } }
  }

  var results: [String: Result] = [:]

  /// Of a snapshot.
  init(_ aggregates: ListAggregates<DocumentRow>) throws {
    for (name, aggregate) in zip(Self.names, try Self.request) {
      results[name] = aggregates[aggregate].map { Result($0) }
    }
  }

  /// Of some rows, without what is known of others.
  init(_ rows: [(id: String, value: ModelValue)]) {
    results["count"] = Result(.int(Int64(rows.count)))
    let present = rows.filter { if case .none = $0.value.number { false } else { true } }
    results["count:n"] = Result(.int(Int64(present.count)))
    let ordered = present.filter { $0.value.rank != nil }
      .sorted { ($0.value.rank!, Array($0.id.utf8)) < ($1.value.rank!, Array($1.id.utf8)) }
    let notANumberCount = present.count { $0.value.isNaN }
    func extreme(_ row: (id: String, value: ModelValue)?, isID: Bool) -> Result {
      var result = Result(.null)
      if let row { result.value = isID ? .string(row.id) : row.value.key ?? row.value.value ?? .null }
      result.notFiniteCount = notANumberCount
      result.otherKindCount = present.count - ordered.count - notANumberCount
      return result
    }
    results["min:n"] = extreme(ordered.first, isID: false)
    results["max:n"] = extreme(ordered.last, isID: false)
    results["first:n"] = extreme(ordered.first, isID: true)
    results["last:n"] = extreme(ordered.last, isID: true)
    var (sum, numberCount) = (ExactSum(), 0)
    for row in present {
      sum.add(Summand(row.value.value ?? .null))
      switch row.value.number {
      case .integer, .fraction: numberCount += 1
      default: break
      }
    }
    var result = Result(sum.value ?? .null)
    result.notFiniteCount = present.count { if case .notFinite = $0.value.number { true } else { false } }
    result.otherKindCount = present.count - numberCount - result.notFiniteCount
    results["sum:n"] = result
    result.value = numberCount == 0 ? .null : sum.average(of: numberCount).map { .double($0) } ?? .null
    results["avg:n"] = result
  }
}

private func < (a: (Int, [UInt8]), b: (Int, [UInt8])) -> Bool {
  a.0 != b.0 ? a.0 < b.0 : a.1.lexicographicallyPrecedes(b.1)
}
