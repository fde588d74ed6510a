// Fields of CSV (RFC 4180) and of its variant with tabs.

/// How fields are separated and quoted. A field is in quotes if it has a quote, a line feed, a carriage return or the
/// separator; in quotes a quote is doubled, and every other byte is as it is.
package struct CSVText: Sendable {
  package static let commas = CSVText(separator: UInt8(ascii: ","))
  package static let tabs = CSVText(separator: UInt8(ascii: "\t"))

  package let separator: UInt8

  package func append(_ field: String, quoted: Bool = false, to bytes: inout [UInt8]) {
    var field = field
    field.withUTF8 { append(UnsafeRawBufferPointer($0), quoted: quoted, to: &bytes) }
  }

  /// - Parameter quoted: whether the field is in quotes even if it need not be.
  package func append(_ field: UnsafeRawBufferPointer, quoted: Bool = false, to bytes: inout [UInt8]) {
    let isPlain = !quoted && field.allSatisfy { $0 != 0x22 && $0 != separator && $0 != 0x0A && $0 != 0x0D }
    guard !isPlain else {
      bytes += field
      return
    }
    bytes.append(0x22)
    if field.contains(0x22) {
      for byte in field {
        if byte == 0x22 { bytes.append(0x22) }
        bytes.append(byte)
      }
    } else {
      bytes += field
    }
    bytes.append(0x22)
  }
}
