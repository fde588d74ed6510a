// The name of a stream: a category, and an id in it.

/// The name of a stream, `category/id`.
///
/// The category is the part before the first `/`, and the id is everything after it. A name without a `/` is a category
/// with an empty id. A name has 1 to 1,024 bytes of UTF-8. Two names are equal if their bytes are equal.
public struct StreamName: Sendable {
  /// The whole name.
  public let text: String

  /// Creates a name from its text. An append to a stream whose name is empty or too long is refused.
  public init(_ text: String) { self.text = text }

  /// Creates the name of an id in a category. The category must not contain `/`.
  public init(category: String, id: String) { self.init("\(category)/\(id)") }

  package init(recorded bytes: UnsafeRawBufferPointer) {
    text = String(decoding: bytes, as: UTF8.self)
  }

  public var category: String {
    // By bytes, because a slash followed by a combining mark is still a slash here.
    String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
  }

  public var id: String {
    var text = text
    return text.withUTF8 { utf8 in
      guard let slash = utf8.firstIndex(of: UInt8(ascii: "/")) else { return "" }
      return String(decoding: utf8[(slash + 1)...], as: UTF8.self)
    }
  }
}

extension StreamName: Hashable {
  public static func == (a: StreamName, b: StreamName) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}

extension StreamName: ExpressibleByStringInterpolation, CustomStringConvertible {
  public init(stringLiteral text: String) { self.init(text) }

  public var description: String { text }
}
