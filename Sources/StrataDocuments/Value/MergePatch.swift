// JSON merge patches, RFC 7396: applying them, and computing them from two values.

extension DocumentValue {
  /// Returns the value after a merge patch (RFC 7396, section 2): members of the patch replace members of this value,
  /// objects are merged, and null removes a member. A patch that is not an object replaces the whole value.
  ///
  /// O(patch · log of the objects), plus a copy of every object that is changed.
  public func applying(mergePatch patch: DocumentValue) -> DocumentValue {
    guard case .object(let changes) = patch else { return patch }
    let object: DocumentObject = if case .object(let object) = self { object } else { [:] }
    return .object(
      object.replacing(changes) { old, change in
        change.isNull ? nil : (old ?? .null).applying(mergePatch: change)
      })
  }

  /// Returns the smallest merge patch that turns `old` into `new`; an empty object if they are equal objects. Nil if
  /// there is no such patch: null removes a member, so a merge patch cannot set a member to null.
  ///
  /// `old.applying(mergePatch: patch) == new` holds for every patch that this returns. O(old + new).
  public static func mergePatch(from old: DocumentValue, to new: DocumentValue) -> DocumentValue? {
    guard case .object(let new) = new else { return new }
    let old: DocumentObject = if case .object(let old) = old { old } else { [:] }
    var changes: [DocumentObject.Entry] = []
    var index = 0
    for (key, value) in new {
      while index < old.count, old[index].key.bytesPrecede(key) {
        changes.append(.init(key: old[index].key, value: .null))
        index += 1
      }
      var previous: DocumentValue?
      if index < old.count, old[index].key.hasSameBytes(as: key) {
        previous = old[index].value
        index += 1
      }
      if value == previous { continue }
      guard !value.isNull, let change = mergePatch(from: previous ?? .null, to: value) else { return nil }
      changes.append(.init(key: key, value: change))
    }
    changes += old.entries[index...].map { .init(key: $0.key, value: .null) }
    return .object(DocumentObject(ascending: changes))
  }
}
