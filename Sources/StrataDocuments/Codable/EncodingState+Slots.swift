// The tree of slots: members that are added to a container or taken back, and the path to one.

extension EncodingState {
  /// Adds a member at the end of an array.
  @inline(__always)
  func appendChild(of parent: Int) -> Int {
    if slotCount == slotCapacity { growSlots() }
    let child = slotCount
    slotCount &+= 1
    (slots + child).initialize(to: EncodingSlot())
    slots[child].parent = Int32(truncatingIfNeeded: parent)
    slots[child].depth = slots[parent].depth &+ 1
    let index = Int32(truncatingIfNeeded: child)
    let last = Int(slots[parent].lastChild)
    if last == 0 { slots[parent].firstChild = index } else { slots[last].nextSibling = index }
    slots[parent].lastChild = index
    slots[parent].childCount &+= 1
    return child
  }

  /// The last member so far; 0 if there is none.
  func lastChild(of parent: Int) -> Int32 { slots[parent].lastChild }

  /// Removes a member that did not encode, for a type that catches the error and goes on. `previous` is what was the
  /// last member before it was added.
  @inline(never)
  func remove(_ child: Int, after previous: Int32) {
    let parent = Int(slots[child].parent)
    let next = slots[child].nextSibling
    if previous == 0 { slots[parent].firstChild = next } else { slots[Int(previous)].nextSibling = next }
    if next == 0 { slots[parent].lastChild = previous }
    slots[parent].childCount &-= 1
    forgetMembers(of: child)
    slots[child].kind = .scalar
  }

  /// Empties a slot whose value did not encode.
  @inline(never)
  func clear(_ slot: Int) {
    forgetMembers(of: slot)
    slots[slot].kind = .empty
    slots[slot].firstChild = 0
    slots[slot].lastChild = 0
    slots[slot].childCount = 0
  }

  /// Makes scalars of all slots below one, which is no longer written, so that their depth is not looked at.
  private func forgetMembers(of slot: Int) {
    var open = [slot]
    while let parent = open.popLast() {
      var child = Int(slots[parent].firstChild)
      while child != 0 {
        slots[child].kind = .scalar
        open.append(child)
        child = Int(slots[child].nextSibling)
      }
    }
  }

  /// Adds a member to an object.
  @inline(__always)
  func appendChild(of parent: Int, key: String) -> Int {
    let child = appendChild(of: parent)
    let start = scratch.count
    scratch.writeText(key)
    let end = scratch.count
    scratch.reserve(8)
    slots[child].keyStart = start
    slots[child].keyEnd = end
    var prefix = UInt64(bigEndian: (scratch.base + start).loadUnaligned(as: UInt64.self))
    if end &- start < 8 { prefix &= ~0 &<< UInt64(truncatingIfNeeded: 64 &- 8 &* (end &- start)) }
    slots[child].keyPrefix = prefix
    return child
  }

  private func growSlots() {
    precondition(slotCapacity < Int(Int32.max) / 2, "a document has at most a billion values")
    let larger = UnsafeMutablePointer<EncodingSlot>.allocate(capacity: slotCapacity * 2)
    larger.moveInitialize(from: slots, count: slotCount)
    slots.deallocate()
    slots = larger
    slotCapacity *= 2
  }

  /// The coding path of a slot, for errors and for types that read it. O(depth + siblings).
  func path(to slot: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var current = slot
    while current != Self.root {
      let parent = Int(slots[current].parent)
      if slots[current].keyEnd > slots[current].keyStart {
        path.append(DocumentKey(stringValue: keyText(of: current)))
      } else {
        var index = 0
        var sibling = Int(slots[parent].firstChild)
        while sibling != current {
          sibling = Int(slots[sibling].nextSibling)
          index += 1
        }
        path.append(DocumentKey(intValue: index))
      }
      current = parent
    }
    return path.reversed()
  }

  private func keyText(of slot: Int) -> String {
    let key = UnsafeRawBufferPointer(
      start: scratch.base + slots[slot].keyStart,
      count: slots[slot].keyEnd - slots[slot].keyStart)
    var reader = CBORReader(key)
    return (try? reader.readText()) ?? ""
  }
}
