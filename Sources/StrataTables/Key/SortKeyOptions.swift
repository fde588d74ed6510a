// How one component of a sort key is ordered.

/// Options for the order of one component of a key.
public struct SortKeyOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// In descending order. The position of nil is not reversed.
  package static let descending = SortKeyOptions(rawValue: 1)
  /// Nil (null, a missing field) after every value, in either direction. Without this option nil comes first.
  public static let nilsLast = SortKeyOptions(rawValue: 2)
  /// Strings are compared by their case folding: ẞ, ß and ss are one key. Cannot be read back.
  public static let caseInsensitive = SortKeyOptions(rawValue: 4)
  /// Runs of the digits 0…9 in strings are compared by their value, however long; leading zeros do not count,
  /// so `7` and `007` are one key. Cannot be read back.
  public static let numeric = SortKeyOptions(rawValue: 8)
  /// For document values only: strings that are times as in RFC 3339 (the seconds may be omitted) are
  /// compared as instants, to 10⁻¹⁸ s. They come after numbers and before all other strings. They are read
  /// back as the text of the same instant in UTC.
  public static let time = SortKeyOptions(rawValue: 16)
}
