// Names and texts in SQL that SQLite reads back exactly.

/// Quotes are doubled by bytes: one that a combining mark follows is no character of its own, but still a quote.
package enum SQLText {
  /// Texts with a line feed that are longer are written as hex digits: a shell looks at each line of a statement.
  private static let lineFeedLengthMax = 4096

  /// Appends a name in double quotes. It must not contain NUL.
  package static func append(name: String, to bytes: inout [UInt8]) {
    bytes.append(0x22)
    for byte in name.utf8 {
      if byte == 0x22 { bytes.append(0x22) }
      bytes.append(byte)
    }
    bytes.append(0x22)
  }

  /// Whether the shell of SQLite would read another name from its standard input: of a carriage return and a line feed it
  /// reads the line feed, and a name has no other form.
  package static func losesBytes(name: String) -> Bool {
    var last: UInt8 = 0
    for byte in name.utf8 {
      if last == 0x0D, byte == 0x0A { return true }
      last = byte
    }
    return false
  }

  package static func name(_ name: String) -> String {
    var bytes: [UInt8] = []
    append(name: name, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A text as a literal.
  package static func literal(_ text: String) -> String {
    var text = text
    var bytes: [UInt8] = []
    text.withUTF8 { append(text: UnsafeRawBufferPointer($0), to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends UTF-8 as a text. The shell of SQLite ends a statement at NUL, and reads a carriage return and a line feed as
  /// a line feed: a text with either is written as hex digits.
  package static func append(text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    var hasQuote = false
    var hasLineFeed = false
    for byte in text where byte <= 0x27 {
      switch byte {
      case 0x27: hasQuote = true
      case 0x0A: hasLineFeed = true
      case 0, 0x0D:
        bytes += "CAST(".utf8
        appendBlob(text, to: &bytes)
        bytes += " AS TEXT)".utf8
        return
      default: break
      }
    }
    if hasLineFeed, text.count > lineFeedLengthMax {
      bytes += "CAST(".utf8
      appendBlob(text, to: &bytes)
      bytes += " AS TEXT)".utf8
      return
    }
    bytes.append(0x27)
    if hasQuote {
      for byte in text {
        if byte == 0x27 { bytes.append(0x27) }
        bytes.append(byte)
      }
    } else {
      bytes += text
    }
    bytes.append(0x27)
  }

  /// `x'0A1B'`
  package static func appendBlob(_ content: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "x"))
    bytes.append(0x27)
    for byte in content {
      bytes.append(digit(byte >> 4))
      bytes.append(digit(byte & 15))
    }
    bytes.append(0x27)
  }

  private static func digit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "A") + nibble - 10
  }
}
