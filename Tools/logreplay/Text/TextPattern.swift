// What is searched for in a text: a regular expression, or bytes where it has no special characters.

/// A pattern that is looked for anywhere in a text. Bytes are found many times as fast as an expression.
struct TextPattern {
  private enum Kind {
    case bytes(ByteSearch)
    case expression(Regex<AnyRegexOutput>)
  }

  private let kind: Kind

  /// Throws what `Regex` does where the text is none.
  init(_ text: String) throws {
    if let literal = Self.literal(text) {
      kind = .bytes(ByteSearch(literal))
    } else {
      kind = .expression(try Regex(text))
    }
  }

  private static let special = Set<Unicode.Scalar>(#"\.[](){}*+?^$|"#.unicodeScalars)

  /// The bytes that a pattern stands for; nil where it stands for more than one text. A backslash before a special
  /// character stands for that character.
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

  /// Whether it occurs in a text, given as UTF-8.
  func occurs(in text: UnsafeRawBufferPointer) -> Bool {
    switch kind {
    case .bytes(let search): search.occurs(in: text)
    case .expression(let expression):
      (try? expression.firstMatch(in: String(decoding: text, as: UTF8.self))) != nil
    }
  }
}

/// Looks for bytes in others: what stands under the last of them says how far to go on. (R. N. Horspool, Practical
/// fast searching in strings, 1980.)
struct ByteSearch {
  private let bytes: [UInt8]
  /// For each byte, how far its last occurrence is from the end of what is looked for.
  private let steps: [Int]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var steps = [Int](repeating: max(1, bytes.count), count: 256)
    for (index, byte) in bytes.dropLast().enumerated() { steps[Int(byte)] = bytes.count - 1 - index }
    self.steps = steps
  }

  /// Whether the bytes occur. O(text / bytes) for what people look for, O(text × bytes) at worst.
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
