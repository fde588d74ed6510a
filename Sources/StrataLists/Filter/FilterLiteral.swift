// The types whose values can be interpolated into a filter.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import StrataDocuments
public import StrataEvents

/// A type whose values are literals of the filter language.
///
/// An enum with raw values needs no code: `enum Status: String, FilterLiteral { … }`. Any other type returns the
/// literal of a value by which documents can be compared:
///
/// ```swift
/// extension Money: FilterLiteral {
///   var filterArgument: FilterArgument { cents.filterArgument }
/// }
/// ```
public protocol FilterLiteral {
  /// The value as a literal. It must depend on the value alone.
  var filterArgument: FilterArgument { get }
}

extension FilterLiteral where Self: RawRepresentable, RawValue: FilterLiteral {
  /// The literal of the raw value.
  public var filterArgument: FilterArgument { rawValue.filterArgument }
}

/// Nil is null.
extension Optional: FilterLiteral where Wrapped: FilterLiteral {
  public var filterArgument: FilterArgument { self?.filterArgument ?? .null }
}

// MARK: Strings

extension String: FilterLiteral {
  public var filterArgument: FilterArgument { FilterArgument(.value(.string(self))) }
}

extension Substring: FilterLiteral {
  public var filterArgument: FilterArgument { String(self).filterArgument }
}

/// The text, as documents hold it: 36 characters, in capitals.
extension UUID: FilterLiteral {
  public var filterArgument: FilterArgument { text.filterArgument }
}

// MARK: Numbers

extension Bool: FilterLiteral {
  public var filterArgument: FilterArgument { FilterArgument(.value(.bool(self))) }
}

extension FilterLiteral where Self: BinaryInteger {
  public var filterArgument: FilterArgument { FilterArgument(.value(DocumentValue(self))) }
}

extension Int: FilterLiteral {}
extension Int8: FilterLiteral {}
extension Int16: FilterLiteral {}
extension Int32: FilterLiteral {}
extension Int64: FilterLiteral {}
extension Int128: FilterLiteral {}
extension UInt: FilterLiteral {}
extension UInt8: FilterLiteral {}
extension UInt16: FilterLiteral {}
extension UInt32: FilterLiteral {}
extension UInt64: FilterLiteral {}
extension UInt128: FilterLiteral {}

/// There is no literal for infinities and NaN: a filter with one is malformed.
extension Double: FilterLiteral {
  public var filterArgument: FilterArgument {
    guard isFinite else {
      return .malformed("\(self)", "the number is not finite", "compare with finite numbers only")
    }
    return FilterArgument(.value(.double(self)))
  }
}

/// The double with the same value, as documents hold it.
extension Float: FilterLiteral {
  public var filterArgument: FilterArgument { Double(self).filterArgument }
}

// MARK: Dates

/// Exactly the moment that documents hold. A filter with a date outside the years 0000 to 9999 is malformed.
extension Date: FilterLiteral {
  public var filterArgument: FilterArgument {
    guard case .string(let text)? = try? DocumentValue(encoding: self), let instant = RFC3339.instant(text)
    else {
      return .malformed(
        "\\(Date)", "the date is not between the years 0000 and 9999 in UTC", "use a date in these years")
    }
    return FilterArgument(.date(instant))
  }
}

extension Timestamp: FilterLiteral {
  public var filterArgument: FilterArgument {
    let second: Int64 = 1_000_000_000
    let seconds = nanoseconds / second - (nanoseconds % second < 0 ? 1 : 0)
    let rest = nanoseconds % second + (nanoseconds % second < 0 ? second : 0)
    return FilterArgument(.date(Instant(seconds: seconds, attoseconds: rest * second)))
  }
}

// MARK: Values of documents

/// Null, booleans, numbers and strings. A filter with any other value, and with a number that is not finite, is
/// malformed.
extension DocumentValue: FilterLiteral {
  public var filterArgument: FilterArgument {
    switch self {
    case .null, .bool, .int, .uint, .bigInt, .string: return FilterArgument(.value(self))
    case .double(let value): return value.filterArgument
    case .bytes, .array, .object, .tagged:
      return .malformed(
        "\\(DocumentValue)", "arrays, objects, bytes and tagged values are not literals",
        "interpolate null, a boolean, a number or a string")
    }
  }
}
