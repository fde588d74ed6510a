// Texts and bytes as `hex` prints them, in the encoding of the database.

internal import StrataDocuments

/// The reading of hexadecimal digits.
enum ImportSQLiteText {
  /// How a database keeps its texts.
  enum Encoding: String {
    case utf8 = "UTF-8"
    case utf16le = "UTF-16le"
    case utf16be = "UTF-16be"

    /// The text that `hex` printed; nil if it is damaged.
    func text(hex digits: some Collection<UInt8>) -> String? {
      guard let bytes = ImportSQLiteText.bytes(digits) else { return nil }
      guard self != .utf8 else { return String(validating: bytes, as: UTF8.self) }
      guard bytes.count % 2 == 0 else { return nil }
      let units = stride(from: 0, to: bytes.count, by: 2).map { index in
        let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
        return self == .utf16le ? second << 8 | first : first << 8 | second
      }
      return String(validating: units, as: UTF16.self)
    }
  }

  /// The bytes of an even number of digits; nil for anything else.
  static func bytes(_ digits: some Collection<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var high: UInt8?
    for digit in digits {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0")
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = digit - UInt8(ascii: "A") + 10
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }
}
