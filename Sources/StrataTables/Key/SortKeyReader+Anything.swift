// Reading a component of a key without knowing its type or options, to show people how a row is sorted.

package import StrataDocuments

extension SortKeyReader {
  /// Reads one component of any type, in whichever direction it was written.
  ///
  /// Strings that were folded are returned as folded, instants and UUIDs as their text.
  package mutating func readAnything() throws(SortKeyError) -> DocumentValue {
    var tag = try peek()
    while tag == SortKeyTag.presentFirst || tag == SortKeyTag.presentLast {
      offset &+= 1
      tag = try peek()
    }
    if tag == SortKeyTag.nilFirst || tag == SortKeyTag.nilLast {
      offset &+= 1
      return .null
    }
    let outer = mask
    defer { mask = outer }
    mask = tag < 0x80 ? 0 : 0xFF
    switch tag ^ mask {
    case SortKeyTag.transformedString:
      offset &+= 1
      return .string(String(decoding: try readEscaped(), as: UTF8.self))
    case SortKeyTag.uuid:
      offset &+= 1
      return .string(Self.uuidText(try readBytes(count: 16)))
    default: return try readDocumentValue()
    }
  }

  private static func uuidText(_ bytes: [UInt8]) -> String {
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      text += byte < 16 ? "0" : ""
      text += String(byte, radix: 16, uppercase: true)
    }
    return text
  }
}
