// The head of a CBOR data item (RFC 8949, section 3): its kind, and its length or count.

/// The first bytes of a data item, decoded. For numbers and simple values the head is the whole item.
package enum CBORHead: Hashable, Sendable {
  case unsigned(UInt64)
  /// The integer −1 − n.
  case negative(UInt64)
  /// A byte string of `count` bytes; if nil, chunks follow, up to a break.
  case bytes(count: Int?)
  /// A text string of `count` UTF-8 bytes; if nil, chunks follow, up to a break.
  case text(count: Int?)
  /// An array of `count` items; if nil, items follow up to a break.
  case array(count: Int?)
  /// A map of `count` pairs; if nil, pairs follow up to a break.
  case map(count: Int?)
  /// A tag; the tagged item follows.
  case tag(UInt64)
  case bool(Bool)
  case null
  case undefined
  /// A simple value that has no case here: 0…19 or 32…255.
  case simple(UInt8)
  /// A float of 16, 32 or 64 bits, widened to 64.
  case float(Double)
  /// The end of an item of indefinite length.
  case breakCode

  /// The kind of the item.
  package var kind: CBORKind {
    switch self {
    case .unsigned, .negative: .integer
    case .bytes: .bytes
    case .text: .text
    case .array: .array
    case .map: .map
    case .tag(let tag): .tag(tag)
    case .bool: .bool
    case .null: .null
    case .undefined: .undefined
    case .simple(let value): .simple(value)
    case .float: .float
    case .breakCode: .breakCode
    }
  }
}

/// The kinds of data items, for messages.
package enum CBORKind: Hashable, Sendable, CustomStringConvertible {
  case integer, bytes, text, array, map, bool, null, undefined, float, breakCode
  case tag(UInt64)
  case simple(UInt8)

  package var description: String {
    switch self {
    case .integer: "an integer"
    case .bytes: "a byte string"
    case .text: "a text string"
    case .array: "an array"
    case .map: "a map"
    case .bool: "a boolean"
    case .null: "null"
    case .undefined: "undefined"
    case .float: "a float"
    case .breakCode: "a break"
    case .tag(let tag): "tag \(tag)"
    case .simple(let value): "simple value \(value)"
    }
  }
}

/// The eight major types, as the upper three bits of an initial byte.
enum CBORMajor {
  static let unsigned: UInt8 = 0x00
  static let negative: UInt8 = 0x20
  static let bytes: UInt8 = 0x40
  static let text: UInt8 = 0x60
  static let array: UInt8 = 0x80
  static let map: UInt8 = 0xA0
  static let tag: UInt8 = 0xC0
  static let simple: UInt8 = 0xE0
}

/// Initial bytes that other files use by name.
enum CBORByte {
  static let `false`: UInt8 = 0xF4
  static let `true`: UInt8 = 0xF5
  static let null: UInt8 = 0xF6
  static let undefined: UInt8 = 0xF7
  static let half: UInt8 = 0xF9
  static let single: UInt8 = 0xFA
  static let double: UInt8 = 0xFB
  static let breakCode: UInt8 = 0xFF
  static let indefinite: UInt8 = 31
}

/// Tags with a meaning here (RFC 8949, 3.4).
enum CBORTag {
  static let dateText: UInt64 = 0
  static let epochDate: UInt64 = 1
  static let positiveBignum: UInt64 = 2
  static let negativeBignum: UInt64 = 3
  static let uuid: UInt64 = 37
}
