// Setting and removing.

extension Tree {
  /// Sets the value of a key. Returns true if the key is new.
  ///
  /// O(log n), plus a copy of one page per level if pages are shared with another tree. Setting an equal value leaves
  /// the tree unchanged.
  @discardableResult
  package mutating func set(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
    set(key, value) { _ in true }
  }

  /// Sets the value of a key if the body agrees, in one descent of the tree. Returns true if the key is new.
  ///
  /// - Parameter isWanted: receives the key's current value, nil if the key is new. It may still write to the bytes
  ///   that `value` points to, but not change their number. It must not touch the tree.
  @discardableResult
  @inline(__always)
  package mutating func set(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    where isWanted: (_ old: UnsafeRawBufferPointer?) -> Bool
  ) -> Bool {
    precondition(key.count <= Self.keyLengthMax, "a key has at most 65,535 bytes")
    precondition(value.count <= Self.valueLengthMax, "a value has at most 2^31 bytes")
    var edit = TreeEdit(layout: layout, key: ByteRun(key), value: ByteRun(value))
    let old = find(&edit)
    guard isWanted(old) else { return false }
    set(&edit, old)
    return edit.delta > 0
  }

  /// Removes a key. Returns false if the tree does not have it. O(log n), with the same copies as `set`.
  @discardableResult
  package mutating func remove(_ key: UnsafeRawBufferPointer) -> Bool {
    remove(key) { _ in }
  }

  /// Removes a key, and lends its value to the body first. Returns false if the tree does not have the key.
  @discardableResult
  @inline(__always)
  package mutating func remove(
    _ key: UnsafeRawBufferPointer, _ willRemove: (_ old: UnsafeRawBufferPointer) -> Void
  ) -> Bool {
    let run = ByteRun(key)
    var edit = TreeEdit(layout: layout, key: run, value: ByteRun(base: run.base, count: 0))
    guard let old = find(&edit) else { return false }
    willRemove(old)
    change(&edit, isRemoving: true)
    return true
  }

  /// Finds the path to the key, and the key's value, which is valid until the tree is changed.
  ///
  /// The value is valid during the edit.
  @inline(never)
  private func find(_ edit: inout TreeEdit) -> UnsafeRawBufferPointer? {
    guard let root else { return nil }
    return withExtendedLifetime(root) { edit.find(in: PageRef(root).loaded) }
  }

  @inline(never)
  private mutating func set(_ edit: inout TreeEdit, _ old: UnsafeRawBufferPointer?) {
    guard root != nil else {
      root = layout.page(edit.key, edit.value).reference.takeRetainedValue()
      edit.delta = 1
      return
    }
    if let old, edit.value.equals(ByteRun(old)) { return }
    change(&edit, isRemoving: false)
  }

  /// Applies the change at the position that was found.
  @inline(never)
  private mutating func change(_ edit: inout TreeEdit, isRemoving: Bool) {
    let link = PageRef(root!)
    // The page of a stub is the stub's.
    let isOwned = !link.isStub && isKnownUniquelyReferenced(&root)
    let page = link.loaded
    let countBefore = page.total
    let outcome = edit.change(page, isOwned: isOwned, isRemoving: isRemoving)
    assert(isOwned || outcome != .inPlace, "a root shared with another tree was changed in place")
    switch outcome {
    case .inPlace: break
    case .replaced: adopt(edit.piece(0))
    case .restructured where edit.pieceCount == 0: adopt(nil)
    case .restructured:
      var draft = InnerDraft(height: page.height + 1)
      edit.append(to: &draft, separator: edit.key)
      adopt(draft.build(0..<draft.count))
    }
    assert(count == countBefore + edit.delta, "a change reports a wrong number of entries")
    assert(!TreeCheck.isOn || checkInvariants() == nil, checkInvariants() ?? "")
  }

  /// Takes an owned page as the root. While an inner page has a single child, the child is taken instead.
  private mutating func adopt(_ new: PageRef?) {
    var new = new
    while let page = new, page.height > 0, page.count == 1 {
      let child = page.child(0)
      child.retain()
      page.release()
      new = child
    }
    replaceRoot(new?.reference.takeRetainedValue())
  }

  /// Not inlined, so that no read of the old pages moves after their release.
  @inline(never)
  private mutating func replaceRoot(_ page: Page?) { root = page }
}
