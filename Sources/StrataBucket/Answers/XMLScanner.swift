// Reads the XML of a bucket's answers, piece by piece, from a server that is not trusted.

/// Why bytes are not XML that a bucket answers with.
enum XMLProblem: Error, Equatable {
  case truncated
  /// Not well-formed, or not UTF-8.
  case malformed
  /// Something that no bucket sends: a definition of entities, elements inside of too many others, or too long a name.
  case refused
  /// Well-formed, and another document than the one that was expected.
  case unexpected
}

/// Reads elements and their text, in one pass: O(bytes). Memory is bounded by the length of the document.
///
/// It knows what such answers have: elements, attributes, which are skipped, text, the five entities and those by number,
/// and comments and instructions, which are skipped. It refuses the rest: what defines entities can make a small document
/// grow without bound.
struct XMLScanner {
  enum Piece: Equatable {
    case begin(String)
    case text(String)
    case end(String)
  }

  static let depthMax = 16
  static let nameLengthMax = 128

  private let bytes: [UInt8]
  private var offset = 0
  private var open: [String] = []
  private var hasRoot = false
  /// The end of an element without content, which is reported next.
  private var pendingEnd = false

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
  }

  /// The next piece; nil after the end of the document.
  mutating func next() throws(XMLProblem) -> Piece? {
    if pendingEnd {
      pendingEnd = false
      return .end(open.removeLast())
    }
    while offset < bytes.count {
      guard bytes[offset] == UInt8(ascii: "<") else {
        let text = try text()
        if !open.isEmpty { return .text(text) }
        guard text.utf8.allSatisfy(Self.isSpace) else { throw .malformed }
        continue
      }
      if skip("<?") {
        try skip(through: "?>")
      } else if skip("<!--") {
        try skip(through: "-->")
      } else if skip("<!") {
        throw .refused
      } else if skip("</") {
        let name = try name()
        skipSpaces()
        guard skip(">") else { throw offset < bytes.count ? .malformed : .truncated }
        guard open.last == name else { throw .malformed }
        return .end(open.removeLast())
      } else {
        return try begin()
      }
    }
    guard open.isEmpty, hasRoot else { throw .truncated }
    return nil
  }

  private mutating func begin() throws(XMLProblem) -> Piece {
    guard !open.isEmpty || !hasRoot else { throw .malformed }
    guard open.count < Self.depthMax else { throw .refused }
    offset += 1
    let name = try name()
    try skipAttributes()
    open.append(name)
    hasRoot = true
    if skip("/>") {
      pendingEnd = true
    } else if !skip(">") {
      throw offset < bytes.count ? .malformed : .truncated
    }
    return .begin(name)
  }

  private mutating func skipAttributes() throws(XMLProblem) {
    while true {
      let before = offset
      skipSpaces()
      guard offset < bytes.count else { throw .truncated }
      if bytes[offset] == UInt8(ascii: ">") || bytes[offset] == UInt8(ascii: "/") { return }
      guard offset > before else { throw .malformed }
      _ = try name()
      skipSpaces()
      guard skip("=") else { throw offset < bytes.count ? .malformed : .truncated }
      skipSpaces()
      guard offset < bytes.count else { throw .truncated }
      let quote = bytes[offset]
      guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw .malformed }
      offset += 1
      while offset < bytes.count, bytes[offset] != quote {
        guard bytes[offset] != UInt8(ascii: "<") else { throw .malformed }
        offset += 1
      }
      guard offset < bytes.count else { throw .truncated }
      offset += 1
    }
  }

  private mutating func name() throws(XMLProblem) -> String {
    let start = offset
    while offset < bytes.count, bytes[offset].isLetterOrDigit || "-._:".utf8.contains(bytes[offset]) {
      offset += 1
      guard offset - start <= Self.nameLengthMax else { throw .refused }
    }
    guard offset < bytes.count else { throw .truncated }
    guard offset > start else { throw .malformed }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  // MARK: Text

  private mutating func text() throws(XMLProblem) -> String {
    var text: [UInt8] = []
    while offset < bytes.count, bytes[offset] != UInt8(ascii: "<") {
      if bytes[offset] == UInt8(ascii: "&") {
        text += try entity()
      } else {
        text.append(bytes[offset])
        offset += 1
      }
    }
    guard let text = String(validating: text, as: UTF8.self) else { throw .malformed }
    return text
  }

  private mutating func entity() throws(XMLProblem) -> [UInt8] {
    // The longest is of a character by its number: `&#x10FFFF;`.
    let end = bytes[offset...].prefix(12).firstIndex(of: UInt8(ascii: ";"))
    guard let end else { throw bytes.count - offset < 12 ? .truncated : .malformed }
    let name = String(decoding: bytes[(offset + 1)..<end], as: UTF8.self)
    offset = end + 1
    switch name {
    case "lt": return [UInt8(ascii: "<")]
    case "gt": return [UInt8(ascii: ">")]
    case "amp": return [UInt8(ascii: "&")]
    case "quot": return [UInt8(ascii: "\"")]
    case "apos": return [UInt8(ascii: "'")]
    default: break
    }
    guard name.hasPrefix("#") else { throw .refused }
    let digits = name.dropFirst()
    let number =
      digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    guard !digits.contains("+"), let scalar = number.flatMap(Unicode.Scalar.init), scalar.value > 0 else {
      throw .malformed
    }
    return Array(String(scalar).utf8)
  }

  // MARK: Bytes

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  private mutating func skipSpaces() {
    while offset < bytes.count, Self.isSpace(bytes[offset]) { offset += 1 }
  }

  private mutating func skip(_ text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard bytes.count - offset >= length,
      text.withUTF8Buffer({ $0.elementsEqual(bytes[offset..<(offset + length)]) })
    else { return false }
    offset += length
    return true
  }

  private mutating func skip(through text: StaticString) throws(XMLProblem) {
    while offset < bytes.count { if skip(text) { return } else { offset += 1 } }
    throw .truncated
  }
}

extension XMLScanner {
  /// Reads a whole document, and passes on the text of each element that has no others in it, with the names of the
  /// elements that it is in.
  ///
  /// - Parameter root: what the outermost element is called; nil for any name.
  static func read(
    _ bytes: [UInt8], root: String?,
    _ body: (_ path: [String], _ text: String) throws(XMLProblem) -> Void
  ) throws(XMLProblem) {
    var scanner = XMLScanner(bytes)
    var path: [String] = []
    var text = ""
    var isLeaf = false
    while let piece = try scanner.next() {
      switch piece {
      case .begin(let name):
        guard !path.isEmpty || root == nil || name == root else { throw .unexpected }
        path.append(name)
        text = ""
        isLeaf = true
      case .text(let part): text += part
      case .end:
        if isLeaf { try body(path, text) }
        path.removeLast()
        isLeaf = false
      }
    }
  }
}
