// Many values to the right of `in`: a part of a filter that has no text, and values that are looked up.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataTables

/// The values of a program's array or set that is too long to be written as text. By reference, so that a filter is
/// copied without them.
package final class FilterSet: Hashable, Sendable {
  /// The most values of a list that is interpolated into a filter.
  package static let countMax = 100_000

  /// Values and dates.
  package let elements: [FilterOperand]

  package init(_ elements: [FilterOperand]) { self.elements = elements }

  package static func == (a: FilterSet, b: FilterSet) -> Bool { a === b || a.elements == b.elements }
  package func hash(into hasher: inout Hasher) { hasher.combine(elements) }
}

extension FilterSet: CustomStringConvertible {
  /// The first values, and how many there are. No text of the language.
  package var description: String {
    let first = elements.prefix(3).map { $0.description.prefix(100) }.joined(separator: ", ")
    return "{\(first), … \(elements.count) values}"
  }
}

/// The values of a list, hashed so that a row's value is found in O(1).
struct FilterLookup: Sendable {
  /// The values that are no number, date, null or boolean; folded if case is ignored.
  private var texts: ByteTable
  /// Integers below 2⁶⁴, whatever they are written as.
  private var integers: Set<Int128> = []
  /// The sort keys of all other numbers, which are equal if the numbers are.
  private var numbers: ByteTable
  /// The moments that dates are, and those that dates, texts and integers are read as beside a date.
  private var dates: Set<Instant> = []
  private var instants: Set<Instant> = []
  private var hasNull = false
  private var booleans: Set<Bool> = []
  private let ignoresCase: Bool

  init(_ operands: [FilterOperand], ignoresCase: Bool) {
    self.ignoresCase = ignoresCase
    var (texts, numbers): ([[UInt8]], [[UInt8]]) = ([], [])
    (self.texts, self.numbers) = (ByteTable([]), ByteTable([]))
    for operand in operands {
      switch operand {
      case .date(let instant):
        dates.insert(instant)
        instants.insert(instant)
      case .value(let value):
        value.cbor().withUnsafeBytes { bytes in
          _ = FilterValue.withValue(of: bytes) { value in
            add(value, &texts, &numbers)
            return true
          }
        }
      case .field, .list, .set: break  // a list holds literals
      }
    }
    (self.texts, self.numbers) = (ByteTable(texts), ByteTable(numbers))
  }

  private mutating func add(_ value: FilterValue, _ texts: inout [[UInt8]], _ numbers: inout [[UInt8]]) {
    if let instant = value.instant { instants.insert(instant) }
    switch value {
    case .null: hasNull = true
    case .bool(let value): booleans.insert(value)
    case .integer, .double, .bigInteger:
      if let integer = value.smallInteger {
        integers.insert(integer)
      } else {
        numbers.append(value.key ?? [])
      }
    case .text(let utf8): texts.append(ignoresCase ? CaseFolding.folded(utf8) : Array(utf8))
    case .bytes, .array, .other, .date, .time: break
    }
  }

  /// Whether one of the values equals this one.
  func contains(_ value: FilterValue) -> Bool {
    switch value {
    case .null: return hasNull
    case .bool(let value): return booleans.contains(value)
    case .integer, .double, .bigInteger:
      if let integer = value.smallInteger {
        if integers.contains(integer) { return true }
      } else if value.key?.withUnsafeBytes({ numbers.contains($0) }) ?? false {
        return true
      }
      return !dates.isEmpty && value.instant.map { dates.contains($0) } ?? false
    case .text(let utf8):
      return hasText(utf8) || !dates.isEmpty && value.instant.map { dates.contains($0) } ?? false
    case .date: return value.instant.map { instants.contains($0) } ?? false
    case .time:
      return value.instant.map { instants.contains($0) } ?? false || value.withText { hasText($0) } ?? false
    case .bytes, .array, .other: return false
    }
  }

  private func hasText(_ utf8: UnsafeRawBufferPointer) -> Bool {
    guard ignoresCase else { return texts.contains(utf8) }
    return CaseFolding.folded(utf8).withUnsafeBytes { texts.contains($0) }
  }
}

extension FilterValue {
  /// An integral number below 2⁶⁴.
  fileprivate var smallInteger: Int128? {
    switch self {
    case .integer(let magnitude, let isNegative): isNegative ? -Int128(magnitude) : Int128(magnitude)
    case .double(let value) where value.magnitude < 0x1p64: Int128(exactly: value)
    default: nil
    }
  }
}
