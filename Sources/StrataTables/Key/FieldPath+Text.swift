// Parsing field paths and writing them as text.

extension FieldPath {
  /// The maximum length of a path, in bytes of UTF-8.
  package static let byteCountMax = 4096

  /// Parses a path. The text must contain nothing else. O(n).
  ///
  /// Throws `FieldPathError` with the position of the first error.
  public init(_ text: String) throws(FieldPathError) {
    guard text.utf8.count <= Self.byteCountMax else {
      throw FieldPathError("longer than \(Self.byteCountMax) bytes", text: "", at: 0)
    }
    let scalars = text.unicodeScalars
    var index = scalars.startIndex
    self = try Self.scan(scalars, &index)
    guard index == scalars.endIndex else { throw Self.unexpected(scalars, at: index) }
  }

  /// Parses the path that begins at an index, and moves the index past it.
  package static func scan(
    _ scalars: String.UnicodeScalarView, _ index: inout String.Index
  ) throws(FieldPathError) -> FieldPath {
    if index < scalars.endIndex, scalars[index] == "$" { return try scanOwn(scalars, &index) }
    var names = [try scanName(scalars, &index)]
    while index < scalars.endIndex, scalars[index] == "." {
      index = scalars.index(after: index)
      names.append(try scanName(scalars, &index))
    }
    return FieldPath(names: names)
  }

  private static func scanOwn(
    _ scalars: String.UnicodeScalarView, _ index: inout String.Index
  ) throws(FieldPathError) -> FieldPath {
    let start = index
    index = scalars.index(after: index)
    while index < scalars.endIndex, continuesName(scalars[index]) { index = scalars.index(after: index) }
    let name = scalars[start..<index]
    guard let found = own.first(where: { $0.name.unicodeScalars.elementsEqual(name) }) else {
      let known = own.map(\.name).joined(separator: ", ")
      throw FieldPathError(
        "a row has no value of its own with this name: there are \(known)", text: String(scalars), at: start,
        to: index)
    }
    return found.path
  }

  private static func scanName(
    _ scalars: String.UnicodeScalarView, _ index: inout String.Index
  ) throws(FieldPathError) -> String {
    guard index < scalars.endIndex else { throw unexpected(scalars, at: index) }
    if scalars[index] == "`" { return try scanQuotedName(scalars, &index) }
    let start = index
    guard beginsName(scalars[index]) else { throw unexpected(scalars, at: index) }
    while index < scalars.endIndex, continuesName(scalars[index]) { index = scalars.index(after: index) }
    return String(scalars[start..<index])
  }

  private static func scanQuotedName(
    _ scalars: String.UnicodeScalarView, _ index: inout String.Index
  ) throws(FieldPathError) -> String {
    let start = index
    var name = String.UnicodeScalarView()
    index = scalars.index(after: index)
    while index < scalars.endIndex {
      let scalar = scalars[index]
      index = scalars.index(after: index)
      if scalar == "`" {
        guard index < scalars.endIndex, scalars[index] == "`" else {
          guard !name.isEmpty else {
            throw FieldPathError("a name cannot be empty", text: String(scalars), at: start, to: index)
          }
          return String(name)
        }
        index = scalars.index(after: index)
      }
      name.append(scalar)
    }
    throw FieldPathError(
      "the closing backquote is missing", text: String(scalars), at: start, to: scalars.endIndex)
  }

  private static func unexpected(_ scalars: String.UnicodeScalarView, at index: String.Index)
    -> FieldPathError
  {
    guard index < scalars.endIndex else {
      return FieldPathError("a name is missing", text: String(scalars), at: index)
    }
    return FieldPathError(
      "names with characters other than letters, digits and _ must be in backquotes", text: String(scalars),
      at: index, to: scalars.index(after: index))
  }

  /// Whether a name without backquotes can begin with this character.
  package static func beginsName(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "_" || scalar.properties.isAlphabetic
  }

  /// Whether a name without backquotes can continue with this character.
  package static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
    if beginsName(scalar) { return true }
    switch scalar.properties.generalCategory {
    case .decimalNumber, .nonspacingMark, .spacingMark: return true
    default: return false
    }
  }

  /// The name as it is written in a path: in backquotes if necessary.
  package static func quoted(_ name: String, always: Bool = false) -> String {
    let scalars = name.unicodeScalars
    if !always, let first = scalars.first, beginsName(first), scalars.allSatisfy(continuesName) {
      return name
    }
    var text = "`"
    for scalar in scalars {
      if scalar == "`" { text.unicodeScalars.append("`") }
      text.unicodeScalars.append(scalar)
    }
    text.unicodeScalars.append("`")
    return text
  }
}

extension FieldPath: CustomStringConvertible {
  /// The path as text that reads back as the same path.
  public var description: String {
    Self.own.first { $0.path.subject == subject }?.name
      ?? names.map { Self.quoted($0) }.joined(separator: ".")
  }
}

/// The error for text that is not a field path.
public struct FieldPathError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The mistake.
  public let message: String
  /// The text, empty if it is too long.
  package let text: String
  /// The position of the error, in UTF-8 bytes of the text.
  package let byteRange: Range<Int>

  init(_ message: String, text: String, at start: String.Index, to end: String.Index? = nil) {
    let first = text.utf8.distance(from: text.startIndex, to: start)
    self.init(
      message, text: text, at: first, to: end.map { text.utf8.distance(from: text.startIndex, to: $0) })
  }

  init(_ message: String, text: String, at start: Int, to end: Int? = nil) {
    self.message = message
    self.text = text
    byteRange = start..<max(start, end ?? start)
  }

  public var description: String {
    "field path \(String(reflecting: text)), byte \(byteRange.lowerBound): \(message)"
  }
}
