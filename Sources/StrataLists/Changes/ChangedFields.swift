// The fields of a row that changed: two encoded documents are compared side by side.

internal import StrataTables

extension Table.Change {
  /// The names of the top-level fields whose values differ in their bytes, in ascending UTF-8 order; empty if they are
  /// not known, and nil if the content did not change.
  ///
  /// A row that only one side has is an insertion or deletion and has no changed fields. O(bytes of both documents),
  /// without decoding, and without copying what is equal.
  ///
  /// - Parameter withTouches: whether a write of an equal document counts as a change.
  func changedFields(withTouches: Bool) -> [String]? {
    guard let old, let new else { return [] }
    if old.document.hasSameBytes(as: new.document) { return withTouches ? [] : nil }
    return ChangedFields.between(old.document, new.document)
  }
}

/// The comparison of two documents by their fields.
enum ChangedFields {
  /// The fields that differ, in ascending UTF-8 order. Empty unless both documents are objects of definite length with
  /// text keys in strictly ascending order of their encoding. Documents in tables always are; for anything else the
  /// result claims nothing.
  static func between(_ old: UnsafeRawBufferPointer, _ new: UnsafeRawBufferPointer) -> [String] {
    guard var left = FieldWalk(old), var right = FieldWalk(new) else { return [] }
    var names: [String] = []
    while left.pending > 0 || right.pending > 0 {
      var first: FieldWalk.Field?
      if left.pending > 0 {
        guard let field = left.field() else { return [] }
        // Most fields are equal and follow one another in both documents: one comparison detects that.
        if right.skip(field, of: left) {
          left.skip(field)
          continue
        }
        first = field
      }
      let second = right.pending > 0 ? right.field() : nil
      if right.pending > 0, second == nil { return [] }
      if let first, !left.isAscending(first) { return [] }
      if let second, !right.isAscending(second) { return [] }
      let order: Int =
        switch (first, second) {
        case (let first?, let second?): left.key(first).order(right.key(second))
        case (_?, nil): -1
        default: 1
        }
      if order <= 0, let first {
        if order < 0 { names.append(left.name(first)) }
        left.skip(first)
      }
      if order >= 0, let second {
        // A field in both documents differs here; an equal one was skipped above.
        names.append(right.name(second))
        right.skip(second)
      }
    }
    names.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return names
  }
}

/// A walk over the fields of one document, in the order in which they are encoded.
private struct FieldWalk {
  /// A field's offsets: where its key begins, where the key's text begins, and where key and value end.
  struct Field {
    var start: Int
    var textStart: Int
    var keyEnd: Int
    var end: Int
  }

  private let document: UnsafeRawBufferPointer
  private var offset: Int
  /// The number of fields that are left.
  private(set) var pending: UInt64
  /// The previous field's key; empty at the first field.
  private var lastKey = 0..<0

  init?(_ document: UnsafeRawBufferPointer) {
    guard let head = CBORItem(document), head.major == 5, !head.isIndefinite else { return nil }
    self.document = document
    offset = head.headLength
    pending = head.argument
  }

  /// The field at the current offset; nil for damaged bytes, and for a key that is not a text of definite length.
  @inline(__always)
  func field() -> Field? {
    guard let key = CBORItem(document, at: offset), key.major == 3, !key.isIndefinite,
      let text = key.content(in: document, at: offset)
    else { return nil }
    let textStart = offset &+ key.headLength
    let keyEnd = textStart &+ text.count
    guard let end = CBORItem.end(of: document, at: keyEnd) else { return nil }
    return Field(start: offset, textStart: textStart, keyEnd: keyEnd, end: end)
  }

  @inline(__always)
  mutating func skip(_ field: Field) {
    lastKey = field.start..<field.keyEnd
    offset = field.end
    pending -= 1
  }

  /// Moves past a field that has the same bytes here and in the other document. Returns false and moves nothing if the
  /// bytes differ.
  @inline(__always)
  mutating func skip(_ field: Field, of other: FieldWalk) -> Bool {
    let length = field.end &- field.start
    guard pending > 0, document.count &- offset >= length else { return false }
    let here = UnsafeRawBufferPointer(rebasing: document[offset..<offset &+ length])
    let there = UnsafeRawBufferPointer(rebasing: other.document[field.start..<field.end])
    guard here.hasSameBytes(as: there) else { return false }
    lastKey = offset..<offset &+ (field.keyEnd &- field.start)
    offset &+= length
    pending -= 1
    return true
  }

  func key(_ field: Field) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: document[field.start..<field.keyEnd])
  }

  func name(_ field: Field) -> String {
    String(decoding: document[field.textStart..<field.keyEnd], as: UTF8.self)
  }

  /// Whether the field's key is greater than the previous one.
  func isAscending(_ field: Field) -> Bool {
    lastKey.isEmpty || UnsafeRawBufferPointer(rebasing: document[lastKey]).order(key(field)) < 0
  }
}
