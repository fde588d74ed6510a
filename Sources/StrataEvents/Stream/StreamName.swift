// The name of a stream: a category, and an id in it.

/// `category/id`: the category is the part before the first `/`, the id everything behind it. A name without a
/// `/` is a category with an empty id. 1 to 1,024 bytes of UTF-8; two names are equal when their bytes are.
public struct StreamName: Sendable {
  /// The whole name.
  public let text: String

  /// A name as it is written. One that is empty or too long is refused when something is appended to it.
  public init(_ text: String) { self.text = text }

  /// The stream of an id in a category. A category holds no `/`.
  public init(category: String, id: String) { self.init("\(category)/\(id)") }

  package init(recorded bytes: UnsafeRawBufferPointer) {
    text = String(decoding: bytes, as: UTF8.self)
  }

  public var category: String {
    // By bytes: a slash that a combining mark follows is still a slash.
    String(decoding: text.utf8.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
  }

  public var id: String {
    guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(text[text.utf8.index(after: slash)...])
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
