// The kinds of values that a column has, as SQLite tells them apart.

/// A set of kinds. Null is none.
struct ColumnKinds: OptionSet, Hashable, Sendable {
  var rawValue: UInt8

  static let integer = ColumnKinds(rawValue: 1)
  static let real = ColumnKinds(rawValue: 2)
  static let text = ColumnKinds(rawValue: 4)
  static let blob = ColumnKinds(rawValue: 8)
  /// -0.0, which a column of SQLite's type REAL does not keep.
  static let negativeZero = ColumnKinds(rawValue: 16)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(of value: ExportValue) {
    switch value {
    case .null: self = []
    case .bool, .int: self = .integer
    case .double(let number): self = number.sign == .minus && number == 0 ? .negativeZero : .real
    case .bytes: self = .blob
    case .text, .ownText, .largeInteger, .nested: self = .text
    }
  }

  /// The type with which SQLite keeps every value of these kinds as it is; empty for a column without a type, which
  /// keeps any value.
  var declaredType: String {
    switch self {
    case .integer: "INTEGER"
    case .real: "REAL"
    case .text: "TEXT"
    case .blob: "BLOB"
    default: ""
    }
  }
}
