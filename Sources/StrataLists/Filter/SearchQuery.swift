// What somebody typed into a search field, made ready for rows.

internal import StrataTables

/// The words of a text, folded. A row matches where each of them occurs somewhere in it.
struct SearchQuery: Hashable, Sendable {
  /// How much of a text is looked at: more is no search that somebody typed. What is cut off narrows nothing.
  static let scalarCountMax = 1_024
  static let wordCountMax = 16

  /// The UTF-8 of each word, each once, in order of their bytes: texts of the same words are equal queries.
  let words: [[UInt8]]

  /// Nil for a text without words: it asks for nothing. O(1), whatever the text's length.
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

  /// Whether each word occurs in some of the texts that are lent. O(words × texts) for what people write.
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

/// A place of a row that is searched: a property, or a field of its document.
struct SearchPart<Item: Sendable>: Sendable {
  private enum Source: Hashable, Sendable {
    case keyPath(AnyKeyPathBox)
    case field(FieldPath)
  }

  private let source: Source
  private let read: (@Sendable (Item, (UnsafeRawBufferPointer) -> Void) -> Void)?

  var needsItem: Bool { read != nil }

  /// The field that it reads, nil where it reads an item's property.
  var field: FieldPath? { if case .field(let path) = source { path } else { nil } }

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

  /// Lends the texts of a property.
  func forEachText(_ item: Item, _ body: (UnsafeRawBufferPointer) -> Void) { read?(item, body) }

  /// Lends the texts of a field: a string, the strings of an array, or the row's id.
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

/// What a property has to be so that it can be searched: text, or texts.
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
