// A search pattern: a regular expression, or plain bytes if it matches one text only.

package import StrataBase

/// A pattern that is searched for anywhere in a text. Searching for bytes is many times faster than matching an
/// expression, but may take text × bytes steps: a longer text than any digest or name is matched as an expression.
package struct TextPattern {
  /// The longest text that is searched for as bytes.
  static let byteCountMax = 64

  private enum Kind {
    case bytes(ByteSearch)
    case expression(Pattern)
  }

  private let kind: Kind

  /// Throws if the text is not a regular expression of the grammar that filters have.
  package init(_ text: String) throws(PatternError) {
    let pattern = try Pattern(text, isWhole: false)
    let literal = pattern.literal.flatMap { $0.count <= Self.byteCountMax ? $0 : nil }
    kind = literal.map { .bytes(ByteSearch($0)) } ?? .expression(pattern)
  }

  /// Whether the pattern occurs in a text, given as UTF-8.
  package func occurs(in text: UnsafeRawBufferPointer) -> Bool {
    switch kind {
    case .bytes(let search): search.occurs(in: text)
    case .expression(let pattern): pattern.matches(text)
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
