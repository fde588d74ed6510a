// What a field of a table holds.

public import StrataDocuments

/// A field of the rows of a table: how many have it, and its most common values.
public struct FieldSummary: Sendable, Hashable {
  /// A value, and how many rows have it.
  public struct Value: Sendable, Hashable {
    public var value: DocumentValue
    public var rowCount: Int
  }

  /// The type of a value.
  public enum ValueType: String, CaseIterable, Sendable {
    case null, boolean, integer, number, string, bytes, array, object, tagged
  }

  /// The path of the field as filters and requests write it: `status`, `address.city`.
  public var path: String
  /// How many rows have the field, with null or another value.
  public var rowCount: Int
  /// In how many of these it is null.
  public var nullCount: Int
  /// How many rows have a value of each type. Objects with fields are here, and not in `rowCount`: their fields are listed.
  public var types: [ValueType: Int]
  /// How many different values there are, without null. Nil if there are more than a thousand, or one of more than 256
  /// bytes.
  public var differentValueCount: Int?
  /// The most common values that are not null, the most common first, with exact counts. Values of more than 256 bytes
  /// are left out. Where a field has more than a thousand different values, one in fewer than a thousandth of the rows
  /// may be missing.
  public var commonestValues: [Value]
}
