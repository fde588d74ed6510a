// Reads XML element by element in bounded memory: what logs of events need of XML, and nothing that opens other files.

internal import LogreplayShell
internal import StrataDocuments

/// A pull reader of elements and their attributes.
///
/// It reads UTF-8 without text between elements, which is white space only. Comments and processing instructions are
/// passed over. A document type is refused, and with it every entity of its own: there is no expansion that grows, and
/// nothing outside of the input is read. Tags must match, an attribute must not come twice, and a tag has a limit.
struct XMLReader {
  enum Token {
    /// An element begins. One that is empty has an `end` after it, too.
    case start(name: String, attributes: [(name: String, value: String)])
    case end(name: String)
  }

  static let tagLengthMax = 16 << 20
  static let depthMax = 100

  private let window: ImportWindow
  private let input: String
  /// The line of what is read next, from 1.
  private(set) var line: UInt64 = 1
  private var open: [String] = []
  /// Whether the end of the last element, which is empty, is to be returned.
  private var endsElement = false
  private var isAtBeginning = true
  private var hasRoot = false

  init(_ input: any ImportByteSource, name: String) {
    window = ImportWindow(input)
    self.input = name
  }

  /// How many elements are open.
  var depth: Int { open.count }

  /// The next token; nil at the end of a complete document.
  mutating func next() throws(CommandFailure) -> Token? {
    if endsElement {
      endsElement = false
      return .end(name: open.removeLast())
    }
    while let byte = try nextByte() {
      guard byte == UInt8(ascii: "<") else {
        throw broken("text between elements, which a log does not have")
      }
      let kind = try peek(4)
      if kind.starts(with: "<?".utf8) {
        try skip(through: "?>", isDeclaration: isAtBeginning)
      } else if kind.starts(with: "<!--".utf8) {
        try skip(through: "-->")
      } else if kind.starts(with: "<!".utf8) {
        throw broken(
          "a document type or a section of text, which is not read: it could name other files and entities")
      } else if kind.starts(with: "</".utf8) {
        return try takeEnd()
      } else {
        return try takeStart()
      }
      isAtBeginning = false
    }
    guard open.isEmpty, hasRoot else {
      throw broken(
        hasRoot
          ? "the input ends inside of the element \(String(reflecting: open.last ?? ""))"
          : "there is no element")
    }
    return nil
  }

  /// The failure for what cannot be read at the current line.
  func broken(_ why: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt, "line \(line): \(why)", at: "\(input):\(line)",
      next: "correct it and import again; nothing was appended")
  }

  // MARK: Tags

  private mutating func takeStart() throws(CommandFailure) -> Token {
    let tag = try takeTag()
    guard !hasRoot || !open.isEmpty else { throw broken("a second element after the end of the first") }
    hasRoot = true
    isAtBeginning = false
    var rest = tag.dropFirst().dropLast()
    endsElement = rest.last == UInt8(ascii: "/")
    if endsElement { rest = rest.dropLast() }
    let name = try takeName(&rest)
    guard open.count < Self.depthMax else {
      throw broken("more than \(Self.depthMax) elements inside each other")
    }
    var attributes: [(name: String, value: String)] = []
    var names: Set<ProcessText> = []
    while true {
      let spaces = rest.prefix { Self.isSpace($0) }.count
      rest = rest.dropFirst(spaces)
      if rest.isEmpty { break }
      guard spaces > 0 else { throw broken("a tag of \(String(reflecting: name)) that is no XML") }
      let attribute = try takeName(&rest)
      guard names.insert(ProcessText(attribute)).inserted else {
        throw broken("the attribute \(String(reflecting: attribute)) comes twice in one tag")
      }
      attributes.append((attribute, try takeValue(&rest, of: attribute)))
    }
    open.append(name)
    return .start(name: name, attributes: attributes)
  }

  private mutating func takeEnd() throws(CommandFailure) -> Token {
    let tag = try takeTag()
    var rest = tag.dropFirst(2).dropLast()
    let name = try takeName(&rest)
    guard rest.allSatisfy({ Self.isSpace($0) }), let last = open.popLast(), last.utf8.elementsEqual(name.utf8)
    else {
      throw broken("the end of an element \(String(reflecting: name)) that is not open")
    }
    return .end(name: name)
  }

  private func takeName(_ rest: inout ArraySlice<UInt8>) throws(CommandFailure) -> String {
    let bytes = rest.prefix { !Self.isSpace($0) && !"=/<>&\"'".utf8.contains($0) }
    rest = rest.dropFirst(bytes.count)
    guard !bytes.isEmpty, let name = String(validating: bytes, as: UTF8.self) else {
      throw broken("a tag that is no XML in UTF-8")
    }
    return name
  }

  /// Takes `="…"`.
  private func takeValue(
    _ rest: inout ArraySlice<UInt8>, of attribute: String
  ) throws(CommandFailure) -> String {
    rest = rest.drop { Self.isSpace($0) }
    guard rest.first == UInt8(ascii: "=") else {
      throw broken("the attribute \(String(reflecting: attribute)) has no value")
    }
    rest = rest.dropFirst().drop { Self.isSpace($0) }
    guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
      let end = rest.dropFirst().firstIndex(of: quote)
    else { throw broken("the value of \(String(reflecting: attribute)) has no quotes") }
    let raw = rest[(rest.startIndex + 1)..<end]
    rest = rest[(end + 1)...]
    return try text(of: raw, in: attribute)
  }

  // MARK: Text

  /// The text of a value, with its references replaced, and its line ends and tabs as spaces.
  private func text(of raw: ArraySlice<UInt8>, in attribute: String) throws(CommandFailure) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(raw.count)
    var rest = raw
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "&"):
        guard let end = rest.prefix(12).firstIndex(of: UInt8(ascii: ";")),
          let scalar = Self.scalar(of: rest[..<end]), XMLText.isCharacter(scalar.value)
        else {
          throw broken(
            "a reference in \(String(reflecting: attribute)) that is neither one of XML's own five nor a character"
          )
        }
        bytes += UTF8.encode(scalar).map { Array($0) } ?? []
        rest = rest[(end + 1)...]
      case UInt8(ascii: "<"): throw broken("a < in the value of \(String(reflecting: attribute))")
      case 0x0D:
        if rest.first == 0x0A { rest = rest.dropFirst() }
        bytes.append(0x20)
      case 0x09, 0x0A: bytes.append(0x20)
      case ..<0x20:
        throw broken("a control character in \(String(reflecting: attribute)), which XML does not have")
      default: bytes.append(byte)
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw broken("the value of \(String(reflecting: attribute)) is not UTF-8")
    }
    return text
  }

  private static func scalar(of reference: ArraySlice<UInt8>) -> Unicode.Scalar? {
    let name = String(decoding: reference, as: UTF8.self)
    switch name {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "quot": return "\""
    case "apos": return "'"
    default: break
    }
    guard reference.first == UInt8(ascii: "#") else { return nil }
    let isHex = reference.dropFirst().first == UInt8(ascii: "x")
    let digits = reference.dropFirst(isHex ? 2 : 1)
    // Without a sign, which a number may have elsewhere.
    guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-") else { return nil }
    return UInt32(String(decoding: digits, as: UTF8.self), radix: isHex ? 16 : 10).flatMap {
      Unicode.Scalar($0)
    }
  }

  // MARK: Bytes

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  /// The next byte that is no white space; nil at the end.
  private mutating func nextByte() throws(CommandFailure) -> UInt8? {
    if isAtBeginning {
      while window.bytes.count < 3, try window.fill() {}
      if window.bytes.starts(with: ImportLineReader.byteOrderMark) { window.take(3) }
    }
    while true {
      let bytes = window.bytes
      advance(bytes.firstIndex { !Self.isSpace($0) } ?? bytes.count)
      if let byte = window.bytes.first { return byte }
      guard try window.fill() else { return nil }
      isAtBeginning = isAtBeginning && window.bytes.count > 0
    }
  }

  private func peek(_ count: Int) throws(CommandFailure) -> [UInt8] {
    while window.bytes.count < count, try window.fill() {}
    return Array(window.bytes.prefix(count))
  }

  private mutating func advance(_ count: Int) {
    for byte in window.bytes.prefix(count) where byte == 0x0A { line += 1 }
    window.take(count)
  }

  /// Takes a tag up to its `>`, which may also be in a value.
  private mutating func takeTag() throws(CommandFailure) -> [UInt8] {
    var searched = 0
    var quote: UInt8?
    while true {
      let bytes = window.bytes
      while searched < bytes.count {
        let byte = bytes[searched]
        searched += 1
        if let open = quote {
          if byte == open { quote = nil }
        } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
          quote = byte
        } else if byte == UInt8(ascii: ">") {
          let tag = Array(bytes[..<searched])
          advance(searched)
          return tag
        }
      }
      guard searched <= Self.tagLengthMax else {
        throw broken("a tag of more than \(Self.tagLengthMax) bytes")
      }
      guard try window.fill() else { throw broken("the input ends inside of a tag") }
    }
  }

  /// Takes a comment or an instruction.
  private mutating func skip(
    through end: String, isDeclaration: Bool = false
  ) throws(CommandFailure) {
    let mark = Array(end.utf8)
    // After the mark of the beginning, with which the end has no byte in common.
    var searched = mark.count == 2 ? 2 : 4
    while true {
      let bytes = window.bytes
      if bytes.count >= searched + mark.count {
        for index in searched...(bytes.count - mark.count)
        where UnsafeRawBufferPointer(rebasing: bytes[index...]).starts(with: mark) {
          let text = String(decoding: bytes[..<index], as: UTF8.self)
          if isDeclaration { try checkEncoding(text) }
          return advance(index + mark.count)
        }
        searched = bytes.count - mark.count + 1
      }
      guard searched <= Self.tagLengthMax else {
        throw broken("a comment of more than \(Self.tagLengthMax) bytes")
      }
      guard try window.fill() else { throw broken("the input ends inside of a comment or an instruction") }
    }
  }

  /// Checks the encoding that `<?xml version="1.0" encoding="UTF-8"` names.
  private func checkEncoding(_ declaration: String) throws(CommandFailure) {
    guard declaration.hasPrefix("<?xml"), let range = declaration.firstRange(of: "encoding") else { return }
    let value = declaration[range.upperBound...].drop { $0 == " " || $0 == "=" }
    guard let quote = value.first, quote == "\"" || quote == "'" else { return }
    let encoding = value.dropFirst().prefix { $0 != quote }
    guard ["utf-8", "utf8", "us-ascii"].contains(encoding.lowercased()) else {
      throw CommandFailure(
        ExitStatus.corrupt, "the input is in the encoding \(PeopleText.printable(String(encoding)))",
        at: input,
        next:
          "make UTF-8 of it, also in its first line: iconv -f \(PeopleText.printable(String(encoding))) -t UTF-8 FILE | "
          + "sed '1s/encoding=\"[^\"]*\"/encoding=\"UTF-8\"/'")
    }
  }
}
