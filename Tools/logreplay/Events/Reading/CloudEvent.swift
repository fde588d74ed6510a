// The names and rules of CloudEvents 1.0 that an export and an import share.

internal import StrataDocuments

/// CloudEvents 1.0 in the JSON format, and the attributes in which Strata keeps what they have no place for.
enum CloudEvent {
  static let version = "1.0"
  /// The stream of an event that was exported.
  static let stream = "stratastream"
  /// Its revision, as text.
  static let revision = "stratarevision"
  /// Its metadata that cannot be attributes: base 64 of an object in CBOR.
  static let metadata = "stratametadata"
  /// Its position, as text of twenty digits, as the extension of this name has it: texts are in the order of events.
  static let sequence = "sequence"

  static let json = "application/json"
  static let cbor = "application/cbor"
  static let bytes = "application/octet-stream"

  /// The members that are no extension attributes, or that an export writes itself.
  static let reserved: Set<String> = [
    "specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema", "data",
    "data_base64", stream, revision, metadata, sequence,
  ]

  /// The number of digits of a sequence.
  static let sequenceLength = 20

  /// Whether a member of metadata can be an extension attribute: its name and its value are such that every program gives
  /// them back.
  static func isAttribute(_ name: String, _ value: DocumentValue) -> Bool {
    guard (1...20).contains(name.utf8.count), name.utf8.allSatisfy(isNameByte), !reserved.contains(name)
    else {
      return false
    }
    switch value {
    case .bool: return true
    case .int(let number): return Int32(exactly: number) != nil
    case .string(let text): return !text.isEmpty && isString(text)
    default: return false
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte &- UInt8(ascii: "0") <= 9
  }

  /// Whether a text is a String of CloudEvents, which has no control characters and no code points that are none.
  static func isString(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      let value = scalar.value
      return value > 0x1F && !(0x7F...0x9F).contains(value) && !(0xFDD0...0xFDEF).contains(value)
        && value & 0xFFFE != 0xFFFE
    }
  }

  /// Whether a text is a URI reference (RFC 3986), as far as its characters say.
  static func isURI(_ text: String) -> Bool {
    guard !text.isEmpty else { return false }
    let bytes = Array(text.utf8)
    for (index, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: "%") {
        guard index + 2 < bytes.count, bytes[(index + 1)...(index + 2)].allSatisfy(isHex) else {
          return false
        }
      } else if !isURIByte(byte) {
        return false
      }
    }
    return true
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    byte &- UInt8(ascii: "0") <= 9 || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }

  private static func isURIByte(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte &- UInt8(ascii: "0") <= 9
      || "-._~:/?#[]@!$&'()*+,;=".utf8.contains(byte)
  }

  /// Whether data of a content type are JSON: the type is missing, or its subtype is `json` or ends with `+json`.
  static func isJSON(_ type: String?) -> Bool {
    guard let type else { return true }
    let media = type.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" }
    guard let slash = media.firstIndex(of: "/") else { return false }
    let subtype = media[media.index(after: slash)...]
    return subtype == "json" || subtype.hasSuffix("+json")
  }
}
