// Keys that are too long for a tree: sort keys are cut, and sections are shortened so that two stay two.

internal import CStrata
internal import StrataBase

/// A cut key is a prefix of the key and a mark that says so, so that it delimits itself as a whole key does. In a
/// string the mark is 00 02, which no string has; between two components it is 00, with which no component begins.
enum SortKeyCut {
  /// The bytes of a key that are kept, and the mark after them.
  struct Cut {
    var length: Int
    var mark: [UInt8]
  }

  /// Where to cut components so that they take at most a number of bytes; nil if they are no components. O(bytes).
  static func of(_ key: UnsafeRawBufferPointer, to lengthMax: Int) -> Cut? {
    var reader = SortKeyReader(key)
    while !reader.isAtEnd {
      let start = reader.offset
      do throws(SortKeyError) { try reader.skipComponent() } catch { return nil }
      guard reader.offset > lengthMax - 2 else { continue }
      guard let text = EscapedComponent(key, start..<reader.offset), text.content.lowerBound < lengthMax - 2
      else {
        return Cut(length: start, mark: [0])
      }
      let end = text.end(atMost: lengthMax - 2)
      return Cut(length: end, mark: [text.mask, SortKeyTag.cut ^ text.mask])
    }
    return Cut(length: key.count, mark: [])
  }
}

/// A component that is a string or bytes.
private struct EscapedComponent {
  private let key: UnsafeRawBufferPointer
  /// The escaped bytes, without the tag and the end mark.
  let content: Range<Int>
  /// 0xFF if they are inverted.
  let mask: UInt8
  let isText: Bool

  /// Nil for a component of another class.
  init?(_ key: UnsafeRawBufferPointer, _ range: Range<Int>) {
    var start = range.lowerBound
    while start < range.upperBound,
      key[start] == SortKeyTag.presentFirst || key[start] == SortKeyTag.presentLast
    {
      start += 1
    }
    guard start + 3 <= range.upperBound else { return nil }
    mask = key[start] < 0x80 ? 0 : 0xFF
    switch key[start] ^ mask {
    case SortKeyTag.string, SortKeyTag.transformedString: isText = true
    case SortKeyTag.bytes: isText = false
    default: return nil
    }
    self.key = key
    content = start + 1..<range.upperBound - 2
  }

  /// Whether a text ends in an ellipsis and 32 digits of a hash.
  var endsInHash: Bool {
    let tail = key[content].suffix("…".utf8.count + 32)
    return tail.starts(with: "…".utf8) && tail.suffix(32).allSatisfy { 48...57 ~= $0 || 97...102 ~= $0 }
  }

  /// The end of a prefix of the content that divides neither a character nor an escaped zero.
  func end(atMost limit: Int) -> Int {
    guard limit < content.upperBound else { return content.upperBound }
    var end = max(limit, content.lowerBound)
    if isText {
      while end > content.lowerBound, (key[end] ^ mask) & 0xC0 == 0x80 { end -= 1 }
    }
    if end > content.lowerBound, key[end] ^ mask == SortKeyTag.escaped, key[end - 1] == mask { end -= 1 }
    return end
  }
}

/// The keys of sections.
package enum SectionBytes {
  /// The longest key of a section.
  package static let lengthMax = 32_000

  /// A section's key, shortened if it is too long: of each long string a prefix, an ellipsis and 32 digits of a hash
  /// of the whole string are kept, of bytes a prefix and the 16 bytes of the hash. That is the key of a value that
  /// can be shown, and of another value for another section. Nil if even that is too long. O(bytes).
  package static func shortened(_ key: [UInt8]) -> [UInt8]? {
    guard key.count > lengthMax else { return key }
    return key.withUnsafeBytes { key in
      guard let components = components(of: key) else { return nil }
      let share = lengthMax / max(components.count, 1)
      var result: [UInt8] = []
      for component in components {
        if component.count > share, let text = EscapedComponent(key, component), text.mask == 0 {
          append(text, of: component, share, key, to: &result)
        } else {
          result.append(contentsOf: key[component])
        }
      }
      return result.count <= lengthMax ? result : nil
    }
  }

  /// Where each component is; nil if not all bytes are components.
  private static func components(of key: UnsafeRawBufferPointer) -> [Range<Int>]? {
    var components: [Range<Int>] = []
    var reader = SortKeyReader(key)
    while !reader.isAtEnd {
      let start = reader.offset
      do throws(SortKeyError) { try reader.skipComponent() } catch { return nil }
      components.append(start..<reader.offset)
    }
    return components
  }

  private static func append(
    _ text: EscapedComponent, of component: Range<Int>, _ share: Int, _ key: UnsafeRawBufferPointer,
    to result: inout [UInt8]
  ) {
    let hash = hash(UnsafeRawBufferPointer(rebasing: key[text.content]))
    let tail = text.isText ? Array("…".utf8) + hash.flatMap(digits) : hash
    // Each byte of the tail may be a zero, which takes two.
    let end = text.end(atMost: component.lowerBound + share - 2 - 2 * tail.count)
    result.append(contentsOf: key[component.lowerBound..<end])
    tail.withUnsafeBytes { result.appendEscaped($0) }
  }

  /// 128 bits: two hashes with different seeds.
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    ([0, 1] as [UInt64]).flatMap { seed in
      withUnsafeBytes(of: strata_xxh64(bytes.baseAddress, bytes.count, seed).bigEndian) { Array($0) }
    }
  }

  private static func digits(_ byte: UInt8) -> [UInt8] {
    [byte >> 4, byte & 15].map { $0 < 10 ? $0 + UInt8(ascii: "0") : $0 - 10 + UInt8(ascii: "a") }
  }

  /// Whether a key may be a shortened one, so that its value may be that of no row: a text in it is about as long as its
  /// share and ends as a shortened one does. O(bytes).
  package static func mayBeShortened(_ key: [UInt8]) -> Bool {
    key.withUnsafeBytes { key in
      guard key.count <= lengthMax, let components = components(of: key) else { return true }
      let share = lengthMax / max(components.count, 1)
      return components.contains { component in
        guard component.count > share - 128, let text = EscapedComponent(key, component), text.mask == 0
        else {
          return false
        }
        return !text.isText || text.endsInHash
      }
    }
  }
}

extension SortKeyWriter {
  /// Shortens the section that is all that was written. Returns whether it was too long; throws if it cannot be
  /// shortened.
  package mutating func shortenSection() throws(RowProblem) -> Bool {
    guard count > SectionBytes.lengthMax else { return false }
    guard let shortened = SectionBytes.shortened(bytes) else {
      throw RowProblem(
        what:
          "its section takes \(count) bytes, and has no long text that could be shortened to \(SectionBytes.lengthMax)"
      )
    }
    removeAll()
    shortened.withUnsafeBytes { append(raw: $0) }
    return true
  }
}
