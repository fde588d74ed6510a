// Finds where one JSON value ends, by its braces and quotes alone.

/// The search for the end of the value at the beginning of bytes that may not be all there yet.
///
/// Whether the value is valid is not its matter: what is found for a text that is not valid ends at a brace that seems to
/// match, or not at all.
struct ImportJSONFraming {
  /// How many bytes of the value were looked at.
  private(set) var searched = 0
  private var depth = 0
  private var isInString = false
  private var isEscaped = false

  /// The length of the value; nil if its end is not among the bytes.
  mutating func end(in bytes: UnsafeRawBufferPointer) -> Int? {
    var index = searched
    defer { searched = index }
    while index < bytes.count {
      let byte = bytes[index]
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
          if depth == 0 { return index + 1 }
        }
      } else {
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
          // A word that the end of the array around it ends.
          if depth == 0 { return index }
          depth -= 1
          if depth == 0 { return index + 1 }
        case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
          if depth == 0 { return index }
        default: break
        }
      }
      index += 1
    }
    return nil
  }

  /// Forgets the bytes that were looked at.
  mutating func dropSearched() { searched = 0 }
}
