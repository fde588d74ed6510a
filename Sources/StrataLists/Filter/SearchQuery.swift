// A text from a search field, prepared for matching rows.

internal import StrataTables

/// The words of a text, folded. A row matches if each of them occurs somewhere in it.
struct SearchQuery: Hashable, Sendable {
  /// The number of Unicode scalars of a text that are used. People do not type longer searches. What is cut off does
  /// not narrow the result.
  static let scalarCountMax = 1_024
  /// The number of different words that are used.
  static let wordCountMax = 16

  /// The UTF-8 of each distinct word, sorted by bytes: texts of the same words make equal queries.
  let words: [[UInt8]]

  /// Nil for a text without words. O(1), whatever the text's length.
  init?(_ text: String) {
    var head = String.UnicodeScalarView()
    head.append(contentsOf: text.unicodeScalars.prefix(Self.scalarCountMax))
    let folded = String(decoding: SearchFolding.folded(String(head)), as: UTF8.self)
    var words: [[UInt8]] = []
    for part in folded.unicodeScalars.split(whereSeparator: \.properties.isWhitespace) {
      let word = Array(String(part).utf8)
      if !words.contains(word) { words.append(word) }
      if words.count == Self.wordCountMax { break }
    }
    guard !words.isEmpty else { return nil }
    self.words = words.sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Whether each word occurs in at least one of the texts. O(words × texts) for typical text.
  func matches(_ forEachText: (_ body: (UnsafeRawBufferPointer) -> Void) -> Void) -> Bool {
    // One bit for each word that is still missing.
    var missing: UInt32 = (1 << UInt32(words.count)) - 1
    forEachText { text in
      guard missing != 0 else { return }
      SearchFolding.folded(utf8: text).withUnsafeBytes { text in
        for (index, word) in words.enumerated() where missing & 1 << UInt32(index) != 0 {
          if word.withUnsafeBytes({ FilterText.contains(text, $0) }) { missing &= ~(1 << UInt32(index)) }
        }
      }
    }
    return missing == 0
  }
}

extension SearchQuery: CustomStringConvertible {
  var description: String {
    "the words \(words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " "))"
  }
}

/// A searched part of a row: a property, or a field of its document.
struct SearchPart<Item: Sendable>: Sendable {
  private enum Source: Hashable, Sendable {
    case keyPath(AnyKeyPathBox)
    case field(FieldPath)
  }

  private let source: Source
  private let read: (@Sendable (Item, (UnsafeRawBufferPointer) -> Void) -> Void)?

  var needsItem: Bool { read != nil }

  /// The field that it reads, nil if it reads a property of the item.
  var field: FieldPath? { if case .field(let path) = source { path } else { nil } }

  /// The property or the field as text, the same in every process; nil for a computed property.
  var name: String? {
    switch source {
    case .keyPath(let box): (box.keyPath as AnyKeyPath).storedName
    case .field(let path): path.description
    }
  }

  init<Value: SearchableText>(_ keyPath: any KeyPath<Item, Value> & Sendable) {
    source = .keyPath(AnyKeyPathBox(keyPath: keyPath))
    read = { item, body in
      item[keyPath: keyPath].forEachSearchedText { text in
        var text = text
        text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
      }
    }
  }

  init(field path: FieldPath) {
    source = .field(path)
    read = nil
  }

  /// Passes the texts of a property to the body.
  func forEachText(_ item: Item, _ body: (UnsafeRawBufferPointer) -> Void) { read?(item, body) }

  /// Passes the texts of a field to the body: a string, the strings of an array, or the row's id.
  func forEachText(_ row: RowView, _ body: (UnsafeRawBufferPointer) -> Void) {
    guard case .field(let path) = source else { return }
    if path.subject == .id { return body(row.id) }
    guard let item = path.find(in: row.document) else { return }
    func lend(_ value: FilterValue) -> Bool {
      if case .text(let text) = value { body(text) }
      return false
    }
    _ = FilterValue.withValue(of: item) { value in
      if case .array = value { value.hasElement(where: lend) } else { lend(value) }
    }
  }
}

extension SearchPart: Hashable {
  static func == (a: Self, b: Self) -> Bool { a.source == b.source }
  func hash(into hasher: inout Hasher) { hasher.combine(source) }
}

/// The type of a searchable property: a text, or several texts.
public protocol SearchableText: Sendable {
  /// Calls the body with each text.
  func forEachSearchedText(_ body: (String) -> Void)
}

extension String: SearchableText {
  public func forEachSearchedText(_ body: (String) -> Void) { body(self) }
}

extension Optional: SearchableText where Wrapped: SearchableText {
  public func forEachSearchedText(_ body: (String) -> Void) { self?.forEachSearchedText(body) }
}

extension Array: SearchableText where Element: SearchableText {
  public func forEachSearchedText(_ body: (String) -> Void) {
    for element in self { element.forEachSearchedText(body) }
  }
}
