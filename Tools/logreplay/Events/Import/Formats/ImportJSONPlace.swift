// Finds columns in JSON text that is known to be valid, for messages.

internal import StrataDocuments

/// Finds columns in a line that is known to be a JSON value, for messages.
enum ImportJSONPlace {
  /// The column of the first character that is not white space.
  static func firstColumn(in line: UnsafeRawBufferPointer) -> Int {
    (line.firstIndex { $0 > 0x20 } ?? 0) + 1
  }

  /// Where the value of a field is: how many line feeds are before it, and its column. The first character that is not
  /// white space, if the field is not there.
  static func place(
    of field: ImportFieldPath, in text: UnsafeRawBufferPointer
  ) -> (lineOffset: UInt64, column: Int) {
    var offset = offset(ofValue: field.text, in: text)
    if offset == nil {
      var begin = 0
      for name in field.names {
        guard let inner = self.offset(ofValue: name, in: UnsafeRawBufferPointer(rebasing: text[begin...]))
        else {
          return place(ofOffset: text.firstIndex { $0 > 0x20 } ?? 0, in: text)
        }
        begin += inner
      }
      offset = begin
    }
    return place(ofOffset: offset ?? 0, in: text)
  }

  /// Where an offset is.
  static func place(
    ofOffset offset: Int, in text: UnsafeRawBufferPointer
  ) -> (lineOffset: UInt64, column: Int) {
    let before = text[..<offset]
    let begin = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    return (
      UInt64(before.count { $0 == 0x0A }), 1 + text[begin..<offset].count { $0 & 0xC0 != 0x80 }
    )
  }

  /// The offset of the value of a key in the outermost object; nil if the key is not found.
  private static func offset(ofValue key: String, in line: UnsafeRawBufferPointer) -> Int? {
    var depth = 0
    var index = line.firstIndex { $0 > 0x20 } ?? 0
    var isKey = false
    guard index < line.count, line[index] == UInt8(ascii: "{") else { return nil }
    while index < line.count {
      switch line[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        isKey = depth == 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return nil }
      case UInt8(ascii: ","): isKey = depth == 1
      case UInt8(ascii: "\""):
        let end = endOfString(at: index, in: line)
        if isKey, isString(line, index..<end, key) { return valueOffset(after: end, in: line) }
        isKey = false
        index = end - 1
      default: break
      }
      index += 1
    }
    return nil
  }

  private static func endOfString(at start: Int, in line: UnsafeRawBufferPointer) -> Int {
    var index = start + 1
    while index < line.count, line[index] != UInt8(ascii: "\"") {
      index += line[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index + 1, line.count)
  }

  private static func isString(_ line: UnsafeRawBufferPointer, _ range: Range<Int>, _ text: String) -> Bool {
    guard case .string(let found)? = try? DocumentValue(json: UnsafeRawBufferPointer(rebasing: line[range]))
    else { return false }
    return found.utf8.elementsEqual(text.utf8)
  }

  private static func valueOffset(after key: Int, in line: UnsafeRawBufferPointer) -> Int {
    line[key...].firstIndex { $0 > 0x20 && $0 != UInt8(ascii: ":") } ?? key
  }
}
