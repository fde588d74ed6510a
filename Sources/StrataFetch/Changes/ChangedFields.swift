// Which fields of a row changed: two documents side by side, as they lie in their tables.

internal import StrataEvents
internal import StrataLog
internal import StrataTables

extension Table.Change {
  /// The names of the top-level fields whose values are not the same bytes in both rows, ascending by their UTF-8;
  /// empty where that is not known, and nil where the content is as it was.
  ///
  /// A row that only one side has did not change: it came or went. O(bytes of both documents), without any
  /// decoding, and without a copy of what is the same.
  ///
  /// - Parameter withTouches: whether a write of an equal document is a change.
  func changedFields(withTouches: Bool) -> [String]? {
    guard let old, let new else { return [] }
    if old.document.hasSameBytes(as: new.document) { return withTouches ? [] : nil }
    return ChangedFields.between(old.document, new.document)
  }
}

/// The comparison of two documents by their fields.
enum ChangedFields {
  /// The fields that differ, ascending by UTF-8. Empty where one of the documents is no object of definite length
  /// whose keys are texts, strictly ascending by their encoding: what tables hold is, and of anything else nothing
  /// is claimed.
  static func between(_ old: UnsafeRawBufferPointer, _ new: UnsafeRawBufferPointer) -> [String] {
    guard var left = FieldWalk(old), var right = FieldWalk(new) else { return [] }
    var names: [String] = []
    while true {
      switch (left.field, right.field) {
      case (nil, nil):
        guard left.isWhole, right.isWhole else { return [] }
        names.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return names
      case (let field?, nil):
        names.append(field.name)
        left.advance()
      case (nil, let field?):
        names.append(field.name)
        right.advance()
      case (let old?, let new?):
        let order = old.key.order(new.key)
        if order < 0 {
          names.append(old.name)
        } else if order > 0 {
          names.append(new.name)
        } else if !old.value.hasSameBytes(as: new.value) {
          names.append(new.name)
        }
        if order <= 0 { left.advance() }
        if order >= 0 { right.advance() }
      }
    }
  }
}

/// The fields of one document in the order in which they lie there.
private struct FieldWalk {
  struct Field {
    /// The key with its head: what the fields of a document are ordered by.
    var key: UnsafeRawBufferPointer
    var text: UnsafeRawBufferPointer
    var value: UnsafeRawBufferPointer

    var name: String { String(decoding: text, as: UTF8.self) }
  }

  private let document: UnsafeRawBufferPointer
  private var offset: Int
  private var pending: UInt64
  /// The field at hand; nil behind the last one, and where the bytes are damaged.
  private(set) var field: Field?
  /// False once something stood there that is no field.
  private(set) var isWhole = true

  init?(_ document: UnsafeRawBufferPointer) {
    guard let head = CBORItem(document), head.major == 5, !head.isIndefinite else { return nil }
    self.document = document
    offset = head.headLength
    pending = head.argument
    advance()
  }

  mutating func advance() {
    let last = field
    field = nil
    guard isWhole, pending > 0 else { return }
    pending -= 1
    isWhole = false
    guard let key = CBORItem(document, at: offset), key.major == 3, !key.isIndefinite,
      let text = key.content(in: document, at: offset)
    else { return }
    let start = offset + key.headLength + text.count
    guard let end = CBORItem.end(of: document, at: start) else { return }
    let next = Field(
      key: UnsafeRawBufferPointer(rebasing: document[offset..<start]), text: text,
      value: UnsafeRawBufferPointer(rebasing: document[start..<end]))
    if let last, last.key.order(next.key) >= 0 { return }
    offset = end
    isWhole = true
    field = next
  }
}
