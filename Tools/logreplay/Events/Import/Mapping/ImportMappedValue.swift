// One value of an event, as a mapping says where it comes from.

internal import StrataDocuments

/// A field of the record, a constant, or several of them joined.
///
/// | in the mapping | the value |
/// |---|---|
/// | `"a.b"` | that of a field |
/// | `{"field":"a.b"}` | the same, with more to say about it |
/// | `{"value":…}` | a constant |
/// | `{"fields":[…],"separator":"/"}` | the texts of several values, one after another |
struct ImportMappedValue: Sendable {
  indirect enum Form: Sendable {
    case field(ImportFieldPath)
    case constant(DocumentValue)
    case joined([ImportMappedValue], separator: String)
  }

  /// How the text of a field is read.
  enum Reading: String, CaseIterable, Sendable {
    /// The text is JSON, and the value is what it says.
    case json
    /// The text is base 64, and the value are its bytes.
    case base64
  }

  /// What the value is.
  enum Content {
    case cbor([UInt8])
    case bytes([UInt8])
  }

  var form: Form
  var reading: Reading?
  /// Whether it may be missing, or null.
  var isOptional = false
  /// Whether numbers in such JSON that no double keeps are rounded, and not bad.
  var roundsNumbers = false
  /// What ends the category in a stream's name of another store, in place of a slash.
  var categoryEnd: String?

  /// The constant text, if it is one.
  var constantText: String? {
    if case .constant(.string(let text)) = form { text } else { nil }
  }

  /// The fields that it is made of.
  var fields: [ImportFieldPath] {
    switch form {
    case .field(let path): [path]
    case .constant: []
    case .joined(let parts, _): parts.flatMap(\.fields)
    }
  }

  /// The text of the value: that of a string or an integer; nil if it is missing and may be.
  ///
  /// - Parameter what: what it is the text of, for messages.
  func text(of record: UnsafeRawBufferPointer, _ what: String) throws(ImportMappingProblem) -> [UInt8]? {
    switch form {
    case .constant(let value): return try Self.text(value, what, nil)
    case .field(let path):
      guard let bytes = try present(path, in: record, what) else { return nil }
      if let text = CBORFields.text(of: bytes) { return try ended(Array(text), what, path) }
      guard let value = try? DocumentValue(cbor: bytes) else {
        throw ImportMappingProblem(path, "\(what) cannot be read")
      }
      return try ended(Self.text(value, what, path), what, path)
    case .joined(let parts, let separator):
      var joined: [UInt8] = []
      for (index, part) in parts.enumerated() {
        guard let text = try part.text(of: record, what) else { return nil }
        if index > 0 { joined += separator.utf8 }
        // Otherwise two records with different parts could be one text.
        guard index == parts.count - 1 || !Self.contains(text, separator) else {
          throw ImportMappingProblem(
            part.fields.first,
            "a part of \(what) contains \(String(reflecting: separator)), which separates the parts")
        }
        joined += text
      }
      return joined
    }
  }

  /// The value itself, or the bytes that it says; nil if it is missing and may be.
  func content(of record: UnsafeRawBufferPointer, _ what: String) throws(ImportMappingProblem) -> Content? {
    switch form {
    case .constant(let value): return .cbor(value.cbor())
    case .joined:
      return try text(of: record, what).map {
        .cbor(DocumentValue.string(String(decoding: $0, as: UTF8.self)).cbor())
      }
    case .field(let path):
      guard let reading else {
        if isOptional { return try present(path, in: record, what).map { .cbor(Array($0)) } }
        guard let bytes = path.find(in: record) else { throw missing(path, what) }
        return .cbor(Array(bytes))
      }
      guard let bytes = try present(path, in: record, what) else { return nil }
      guard let text = CBORFields.text(of: bytes) else {
        throw ImportMappingProblem(path, "\(what) is not a text, but is to be read as \(reading.rawValue)")
      }
      switch reading {
      case .json:
        if text.isEmpty, isOptional { return nil }
        return .cbor(try json(text, what, path).cbor())
      case .base64:
        guard let decoded = Base64.decoded(text) else {
          throw ImportMappingProblem(path, "\(what) is not base 64")
        }
        return .bytes(decoded)
      }
    }
  }

  private func json(
    _ text: UnsafeRawBufferPointer, _ what: String, _ path: ImportFieldPath
  ) throws(ImportMappingProblem) -> DocumentValue {
    var rounded: (column: Int, value: Double)?
    let value: DocumentValue
    do throws(JSONError) { value = try DocumentValue(json: text, rounded: &rounded) } catch {
      throw ImportMappingProblem(
        path, "\(what) is not JSON: line \(error.line), column \(error.column) of it: \(error.explanation)")
    }
    if let rounded, !roundsNumbers {
      throw ImportMappingProblem(
        path,
        "\(what) has a number that a double cannot hold; the nearest one is \(rounded.value) (--round-numbers takes it)"
      )
    }
    return value
  }

  // MARK: Parts

  /// The value of a field that is neither missing nor null.
  private func present(
    _ path: ImportFieldPath, in record: UnsafeRawBufferPointer, _ what: String
  ) throws(ImportMappingProblem) -> UnsafeRawBufferPointer? {
    if let bytes = path.find(in: record), !(bytes.count == 1 && bytes[0] == Self.null) { return bytes }
    if isOptional { return nil }
    throw missing(path, what)
  }

  private static let null: UInt8 = DocumentValue.null.cbor()[0]

  private func missing(_ path: ImportFieldPath, _ what: String) -> ImportMappingProblem {
    ImportMappingProblem(path, "the field \(String(reflecting: path.text)), which is \(what), is missing")
  }

  private static func text(
    _ value: DocumentValue, _ what: String, _ path: ImportFieldPath?
  ) throws(ImportMappingProblem) -> [UInt8] {
    switch value {
    case .string(let text): return Array(text.utf8)
    case .int(let number): return Array(String(number).utf8)
    case .uint(let number): return Array(String(number).utf8)
    case .bigInt(let number): return Array(number.description.utf8)
    default: throw ImportMappingProblem(path, "\(what) is neither a text nor an integer")
    }
  }

  /// Puts a slash in place of what ends the category.
  private func ended(
    _ text: [UInt8], _ what: String, _ path: ImportFieldPath
  ) throws(ImportMappingProblem) -> [UInt8] {
    guard let categoryEnd else { return text }
    let end = Self.offset(of: Array(categoryEnd.utf8), in: text)
    // Otherwise two names, one with a slash and one without, could become one.
    guard !text[..<(end ?? text.count)].contains(UInt8(ascii: "/")) else {
      throw ImportMappingProblem(
        path, "\(what) has a slash in its category, which \(String(reflecting: categoryEnd)) ends")
    }
    guard let end else { return text }
    return text[..<end] + [UInt8(ascii: "/")] + text[(end + categoryEnd.utf8.count)...]
  }

  private static func contains(_ text: [UInt8], _ part: String) -> Bool {
    offset(of: Array(part.utf8), in: text) != nil
  }

  private static func offset(of part: [UInt8], in text: [UInt8]) -> Int? {
    guard !part.isEmpty, part.count <= text.count else { return nil }
    return (0...(text.count - part.count)).first { text[$0...].starts(with: part) }
  }
}
