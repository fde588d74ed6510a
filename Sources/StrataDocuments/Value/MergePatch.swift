// JSON merge patches, RFC 7396: applying them, and computing them from two values. Both go down into objects with a list
// of those that are open, so that the depth of a patch needs no stack.

extension DocumentValue {
  /// Returns the value after a merge patch (RFC 7396, section 2): members of the patch replace members of this value,
  /// objects are merged, and null removes a member. A patch that is not an object replaces the whole value.
  ///
  /// O(patch · log of the objects), plus a copy of every object that is changed.
  public func applying(mergePatch patch: DocumentValue) -> DocumentValue {
    guard case .object(let changes) = patch else { return patch }
    var outer: [PatchedObject] = []
    var current = PatchedObject(self, changes)
    while true {
      if let inner = current.advance() {
        outer.append(current)
        current = inner
      } else {
        let object = current.finish()
        guard let next = outer.popLast() else { return .object(object) }
        current = next
        current.append(.object(object))
      }
    }
  }

  /// Returns the smallest merge patch that turns `old` into `new`; an empty object if they are equal objects. Nil if
  /// there is no such patch: null removes a member, so a merge patch cannot set a member to null.
  ///
  /// `old.applying(mergePatch: patch) == new` holds for every patch that this returns. O(old + new).
  public static func mergePatch(from old: DocumentValue, to new: DocumentValue) -> DocumentValue? {
    guard case .object(let object) = new else { return new }
    var outer: [ComparedObject] = []
    var current = ComparedObject(old, object)
    while true {
      switch current.advance() {
      case .object(let inner):
        outer.append(current)
        current = inner
      case .null: return nil
      case .end:
        let changes = current.finish()
        guard let next = outer.popLast() else { return .object(changes) }
        current = next
        current.append(differenceOfObjects: changes)
      }
    }
  }
}

/// An object that a merge patch is being applied to.
private struct PatchedObject {
  private let old: DocumentObject
  private let changes: DocumentObject
  private var merged = DocumentElements<DocumentObject.Entry>()
  /// The next change, and the next member of the old object.
  private var change = 0
  private var member = 0

  init(_ old: DocumentValue?, _ changes: DocumentObject) {
    self.old = if case .object(let object)? = old { object } else { DocumentObject() }
    self.changes = changes
    merged.reserveCapacity(self.old.count + changes.count)
  }

  /// Applies changes up to the next one that is an object, and returns that; its result is to be appended. Nil at the
  /// end.
  mutating func advance() -> PatchedObject? {
    while change < changes.count {
      let (key, new) = changes[change]
      let (index, isFound) = old.position(of: key, from: member)
      for place in member..<index { merged.append(old.entries[place]) }
      member = isFound ? index + 1 : index
      if case .object(let inner) = new {
        return PatchedObject(isFound ? old.entries[index].value : nil, inner)
      }
      if new.isNull { change += 1 } else { append(new) }
    }
    return nil
  }

  /// Appends the result of the current change.
  mutating func append(_ value: DocumentValue) {
    merged.append(.init(key: changes.entries[change].key, value: value))
    change += 1
  }

  mutating func finish() -> DocumentObject {
    for place in member..<old.count { merged.append(old.entries[place]) }
    return DocumentObject(ascending: merged)
  }
}

/// Two objects whose difference is being computed.
private struct ComparedObject {
  enum Step {
    /// A member that is an object; its difference is to be appended.
    case object(ComparedObject)
    /// A member that no patch can set.
    case null
    case end
  }

  private let old: DocumentObject
  private let new: DocumentObject
  private var changes = DocumentElements<DocumentObject.Entry>()
  private var (oldIndex, newIndex) = (0, 0)
  /// Whether the current member was an object before too.
  private var wasObject = false

  init(_ old: DocumentValue?, _ new: DocumentObject) {
    self.old = if case .object(let object)? = old { object } else { DocumentObject() }
    self.new = new
  }

  mutating func advance() -> Step {
    while newIndex < new.count {
      let (key, value) = new[newIndex]
      while oldIndex < old.count, old.entries[oldIndex].key.bytesPrecede(key) { removeOld() }
      var previous: DocumentValue?
      if oldIndex < old.count, old.entries[oldIndex].key.hasSameBytes(as: key) {
        previous = old.entries[oldIndex].value
        oldIndex += 1
      }
      if case .object(let inner) = value {
        wasObject = if case .object? = previous { true } else { false }
        return .object(ComparedObject(previous, inner))
      } else if value == previous {
        newIndex += 1
      } else if value.isNull {
        return .null
      } else {
        append(value)
      }
    }
    return .end
  }

  /// Appends the difference of the current member, which is an object. There is none if it was an equal one before.
  mutating func append(differenceOfObjects changes: DocumentObject) {
    if wasObject, changes.isEmpty { newIndex += 1 } else { append(.object(changes)) }
  }

  private mutating func append(_ change: DocumentValue) {
    changes.append(.init(key: new.entries[newIndex].key, value: change))
    newIndex += 1
  }

  private mutating func removeOld() {
    changes.append(.init(key: old.entries[oldIndex].key, value: .null))
    oldIndex += 1
  }

  mutating func finish() -> DocumentObject {
    while oldIndex < old.count { removeOld() }
    return DocumentObject(ascending: changes)
  }
}
