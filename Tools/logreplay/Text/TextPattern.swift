// A search pattern: a regular expression, or plain bytes if it has no special characters.

/// A pattern that is searched for anywhere in a text. Searching for bytes is many times faster than matching an
/// expression.
struct TextPattern {
  private enum Kind {
    case bytes(ByteSearch)
    case expression(Regex<AnyRegexOutput>)
  }

  private let kind: Kind

  /// Throws the error of `Regex` if the text is not a regular expression.
  init(_ text: String) throws {
    if let literal = Self.literal(text) {
      kind = .bytes(ByteSearch(literal))
    } else {
      kind = .expression(try Regex(text))
    }
  }

  private static let special = Set<Unicode.Scalar>(#"\.[](){}*+?^$|"#.unicodeScalars)

  /// The bytes that a pattern matches; nil if it may match more than one text. A backslash before a special character
  /// quotes that character.
  private static func literal(_ text: String) -> [UInt8]? {
    var result = String.UnicodeScalarView()
    var isQuoted = false
    for scalar in text.unicodeScalars {
      if !isQuoted, scalar == "\\" {
        isQuoted = true
        continue
      }
      guard special.contains(scalar) == isQuoted else { return nil }
      result.append(scalar)
      isQuoted = false
    }
    return isQuoted ? nil : Array(String(result).utf8)
  }

  /// Whether the pattern occurs in a text, given as UTF-8.
  func occurs(in text: UnsafeRawBufferPointer) -> Bool {
    switch kind {
    case .bytes(let search): search.occurs(in: text)
    case .expression(let expression):
      (try? expression.firstMatch(in: String(decoding: text, as: UTF8.self))) != nil
    }
  }
}

/// Searches for a byte string: the text byte under the last wanted byte determines how far to advance. (R. N. Horspool,
/// Practical fast searching in strings, 1980.)
struct ByteSearch {
  private let bytes: [UInt8]
  /// For each byte, the distance of its last occurrence from the end of the wanted bytes.
  private let steps: [Int]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var steps = [Int](repeating: max(1, bytes.count), count: 256)
    for (index, byte) in bytes.dropLast().enumerated() { steps[Int(byte)] = bytes.count - 1 - index }
    self.steps = steps
  }

  /// Whether the bytes occur in the text. O(text / bytes) for typical searches, O(text × bytes) in the worst case.
  func occurs(in text: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= text.count, !bytes.isEmpty else { return bytes.isEmpty }
    return bytes.withUnsafeBufferPointer { wanted in
      steps.withUnsafeBufferPointer { steps in
        let last = wanted.count - 1
        var end = last
        while end < text.count {
          var index = last
          while text[end - last + index] == wanted[index] {
            if index == 0 { return true }
            index -= 1
          }
          end += steps[Int(text[end])]
        }
        return false
      }
    }
  }
}
