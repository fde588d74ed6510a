// The state of one call of the encoder: the bytes of all scalars in the order in which they were encoded, and a tree of
// slots that says where each belongs. Several containers may be filled at the same time and in any order; at the end
// the tree is sorted and written once.
//
//   scratch  │ key │ value │ key │ key │ value │ …
//   slots    0 root ─ first child ─▶ 1 ─ next ─▶ 2 …

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value that is or will be encoded, and its key.
struct EncodingSlot {
  enum Kind: UInt8 {
    case empty, scalar, array, map
  }

  /// The first eight bytes of the encoded key, for sorting.
  var keyPrefix: UInt64 = 0
  /// The range of the encoded key in the scratch bytes; empty for the root and in arrays.
  var keyStart = 0
  var keyEnd = 0
  /// The range of a scalar's encoded value in the scratch bytes.
  var valueStart = 0
  var valueEnd = 0
  /// The members of a container, in the order in which they were added. 0 means none, since the root is never a child.
  var firstChild: Int32 = 0
  var lastChild: Int32 = 0
  var nextSibling: Int32 = 0
  var parent: Int32 = 0
  var childCount: Int32 = 0
  var depth: Int16 = 0
  var kind = Kind.empty
  /// The number of members that stand together in an array whose members have no order: 1 for those of a set, 2 for the
  /// keys and values of a dictionary; 0 if they have one.
  var groupSize: UInt8 = 0
}

/// The scratch bytes and slots of one call. Used by one thread only.
final class EncodingState {
  /// The slot of the value that the call encodes.
  static let root = 0
  /// The maximum number of nested calls of `encode(to:)`. A value that passes another one to a single value container
  /// does not nest the document deeper, but it uses more stack.
  private static let callDepthMax = 4 * CodecLimits.depthMax

  /// What owns the state if a container that it kept is in use after the call.
  final class Owner { var state: EncodingState? }

  let userInfo: [CodingUserInfoKey: any Sendable]
  /// The containers of the root in calls before this one; nil if no call follows.
  private let kept: KeptContainers<Owner>?
  @exclusivity(unchecked) private var scratch = CBORWriter(capacity: 512)
  @exclusivity(unchecked) private var slots: UnsafeMutablePointer<EncodingSlot>
  @exclusivity(unchecked) private var slotCount = 1
  @exclusivity(unchecked) private var slotCapacity = 12
  @exclusivity(unchecked) private var callDepth = 0

  init(userInfo: [CodingUserInfoKey: any Sendable], keepsContainers: Bool = false) {
    self.userInfo = userInfo
    kept = keepsContainers ? KeptContainers() : nil
    slots = .allocate(capacity: slotCapacity)
    slots.initialize(to: EncodingSlot())
  }

  deinit { slots.deallocate() }

  /// Whether the memory is more than most values need.
  var isLarge: Bool { slotCapacity > 1_024 || scratch.count > 64 * 1_024 }

  /// Forgets what was encoded, and keeps the memory.
  func reset() {
    scratch.removeAll()
    slots.initialize(to: EncodingSlot())
    slotCount = 1
    callDepth = 0
  }

  /// Ends a call. A type that has kept a container keeps this state with it, which then serves no other call.
  func endCall() { kept?.endCall { $0.state = self } }

  /// The container of an object in a slot: one of an earlier call, or a new one.
  func container<Key: CodingKey>(keyedBy type: Key.Type, in slot: Int) -> KeyedEncodingContainer<Key> {
    if slot == Self.root, let kept, let place = kept.lend(ObjectIdentifier(Key.self)) {
      return kept.container(at: place, as: KeyedEncodingContainer<Key>.self)
    }
    return newContainer(keyedBy: type, in: slot)
  }

  /// Apart, because making a container looks up types.
  @inline(never)
  private func newContainer<Key: CodingKey>(
    keyedBy type: Key.Type, in slot: Int
  ) -> KeyedEncodingContainer<Key> {
    guard slot == Self.root, let kept else {
      return KeyedEncodingContainer(SlotKeyedContainer<Key>(state: self, slot: slot, owner: self))
    }
    let owner = Owner()
    let container = KeyedEncodingContainer(SlotKeyedContainer<Key>(state: self, slot: slot, owner: owner))
    if !kept.keep(container, ObjectIdentifier(Key.self), owner) { owner.state = self }
    return container
  }

  /// Whether anything was encoded in the slot.
  func isFilled(_ slot: Int) -> Bool { slots[slot].kind != .empty }

  /// The number of members so far.
  func count(of slot: Int) -> Int { Int(slots[slot].childCount) }

  /// Makes the slot a container. A second request of the same kind, as a subclass makes, gives the same container.
  @inline(__always)
  func begin(_ kind: EncodingSlot.Kind, in slot: Int) {
    let old = slots[slot].kind
    precondition(old == .empty || old == kind, "a value encodes itself as only one kind of item")
    slots[slot].kind = kind
    slots[slot].groupSize = 0
  }
}

// MARK: Slots

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

// MARK: Values

extension EncodingState {
  /// Writes a scalar into a slot.
  @inline(__always)
  func write(in slot: Int, _ body: (inout CBORWriter) -> Void) {
    precondition(slots[slot].kind == .empty, "a value encodes itself only once")
    slots[slot].kind = .scalar
    slots[slot].valueStart = scratch.count
    body(&scratch)
    slots[slot].valueEnd = scratch.count
  }

  func encodeNil(in slot: Int) { write(in: slot) { $0.writeNull() } }
  func encode(_ value: Bool, in slot: Int) { write(in: slot) { $0.writeBool(value) } }
  func encode(_ value: Int64, in slot: Int) { write(in: slot) { $0.writeInteger(value) } }
  func encode(_ value: UInt64, in slot: Int) { write(in: slot) { $0.writeUnsigned(value) } }
  func encode(_ value: Double, in slot: Int) { write(in: slot) { $0.writeDouble(value) } }
  func encode(_ value: String, in slot: Int) { write(in: slot) { $0.writeText(value) } }
  func encode(_ value: DocumentValue, in slot: Int) { write(in: slot) { $0.write(value) } }

  /// Encodes a value of any type. The types that have their own form in documents are encoded here, all others by their
  /// `encode(to:)`.
  func encode<Value: Encodable>(_ value: Value, in slot: Int) throws {
    if Value.self == String.self { return encode(unsafeBitCast(value, to: String.self), in: slot) }
    if Value.self == Int.self { return encode(Int64(unsafeBitCast(value, to: Int.self)), in: slot) }
    if Value.self == Double.self { return encode(unsafeBitCast(value, to: Double.self), in: slot) }
    if Value.self == Date.self { return try encode(unsafeBitCast(value, to: Date.self), in: slot) }
    if Value.self == UUID.self { return encode(unsafeBitCast(value, to: UUID.self), in: slot) }
    if Value.self == Data.self { return encode(unsafeBitCast(value, to: Data.self), in: slot) }
    if Value.self == URL.self {
      return encode(unsafeBitCast(value, to: URL.self).absoluteString, in: slot)
    }
    if Value.self == Decimal.self { return try encode(unsafeBitCast(value, to: Decimal.self), in: slot) }
    if Value.self == DocumentValue.self {
      let document = unsafeBitCast(value, to: DocumentValue.self)
      let (depth, refusal) = document.measured()
      guard Int(slots[slot].depth) + depth <= CodecLimits.depthMax else {
        throw tooDeep(value, in: slot)
      }
      if let refusal { throw invalid(Value.self, "\(refusal), which could not be read back", in: slot) }
      return encode(document, in: slot)
    }
    guard slots[slot].depth <= CodecLimits.depthMax, callDepth < Self.callDepthMax else {
      throw tooDeep(value, in: slot)
    }
    callDepth &+= 1
    defer { callDepth &-= 1 }
    try value.encode(to: SlotEncoder(state: self, slot: slot))
    if slots[slot].kind == .array {
      let groupSize = UnorderedMembers.groupSize(in: Value.self)
      // What a set was passed through, such as an optional, leaves it as it is.
      if groupSize > 0 { slots[slot].groupSize = groupSize }
    }
  }

  private func encode(_ value: UUID, in slot: Int) {
    write(in: slot) { writer in
      value.withText { text in
        writer.writeHead(CBORMajor.text, UInt64(text.count))
        writer.writeEncoded(UnsafeRawBufferPointer(text))
      }
    }
  }

  private func encode(_ value: Date, in slot: Int) throws {
    let isWritten: Void? = value.instant.flatMap { instant in
      RFC3339.withText(instant) { text in
        write(in: slot) { writer in
          writer.writeHead(CBORMajor.text, UInt64(text.count))
          writer.writeEncoded(UnsafeRawBufferPointer(text))
        }
      }
    }
    guard isWritten == nil else { return }
    // The error holds the seconds and not the date, because describing such a date traps.
    throw invalid(
      value.timeIntervalSinceReferenceDate, "a date outside the years 0000…9999 (seconds since 2001)",
      in: slot)
  }

  private func encode(_ value: Data, in slot: Int) {
    write(in: slot) { writer in value.withUnsafeBytes { writer.writeBytes($0) } }
  }

  private func encode(_ value: Decimal, in slot: Int) throws {
    guard let document = value.documentValue else {
      throw invalid(value, "a decimal that is not a number", in: slot)
    }
    encode(document, in: slot)
  }

  func invalid(_ value: Any, _ explanation: String, in slot: Int) -> EncodingError {
    .invalidValue(value, .init(codingPath: path(to: slot), debugDescription: explanation))
  }

  /// The error holds the type and not the value, whose description could overflow the stack.
  private func tooDeep<Value>(_ value: Value, in slot: Int) -> EncodingError {
    invalid(Value.self, "nested deeper than \(CodecLimits.depthMax)", in: slot)
  }
}

// MARK: Writing it out

extension EncodingState {
  /// Checks the depth of all slots at the end, since containers can also be nested without a call of `encode(to:)`.
  func checkDepth() throws {
    for index in 0..<slotCount where slots[index].depth >= CodecLimits.depthMax {
      if slots[index].kind != .scalar { throw tooDeep((), in: index) }
    }
  }

  /// An upper bound for the bytes that `emit` writes: all keys and scalars, and a head for each container. Nine more
  /// make room for the longest head at any position of the writer.
  var byteCountMax: Int { scratch.count + 9 * (containerCountMax + 1) }

  private var containerCountMax: Int {
    var count = 0
    for index in 0..<slotCount where slots[index].kind != .scalar { count += 1 }
    return count
  }

  /// Writes the tree, with the keys of every object in order. A slot that is still empty is written as an empty object.
  func emit(to writer: inout CBORWriter) { emit(Self.root, to: &writer) }

  private func emit(_ slot: Int, to writer: inout CBORWriter) {
    switch slots[slot].kind {
    case .empty: writer.writeMapHead(count: 0)
    case .scalar: writer.writeEncoded(bytes(slots[slot].valueStart, slots[slot].valueEnd))
    case .array:
      writer.writeArrayHead(count: Int(slots[slot].childCount))
      if slots[slot].groupSize > 0 { return emitSorted(slot, to: &writer) }
      var child = Int(slots[slot].firstChild)
      while child != 0 {
        emit(child, to: &writer)
        child = Int(slots[child].nextSibling)
      }
    case .map:
      let count = Int(slots[slot].childCount)
      withUnsafeTemporaryAllocation(of: Int32.self, capacity: count) { buffer in
        var order = buffer
        sortChildren(of: slot, into: &order)
        let uniqueCount = dropReplaced(&order)
        writer.writeMapHead(count: uniqueCount)
        for index in 0..<uniqueCount {
          let child = Int(order[index])
          writer.writeEncoded(bytes(slots[child].keyStart, slots[child].keyEnd))
          emit(child, to: &writer)
        }
      }
    }
  }

  /// Writes the members of a set, or the pairs of a dictionary, in the order of their bytes.
  private func emitSorted(_ slot: Int, to writer: inout CBORWriter) {
    let start = writer.count
    var groups: [Range<Int>] = []
    groups.reserveCapacity(Int(slots[slot].childCount))
    var child = Int(slots[slot].firstChild)
    while child != 0 {
      let first = writer.count
      for _ in 0..<slots[slot].groupSize where child != 0 {
        emit(child, to: &writer)
        child = Int(slots[child].nextSibling)
      }
      groups.append(first - start..<writer.count - start)
    }
    writer.sort(groups, from: start)
  }

  @inline(__always)
  private func bytes(_ start: Int, _ end: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: scratch.base + start, count: end &- start)
  }

  /// Sorts the members by the bytes of their keys; members with the same key stay in the order in which they were
  /// added.
  private func sortChildren(of slot: Int, into order: inout UnsafeMutableBufferPointer<Int32>) {
    var child = slots[slot].firstChild
    var index = 0
    let isShort = order.count <= CodecLimits.insertionSortCountMax
    while child != 0 {
      var hole = index
      if isShort {
        while hole > 0, keyOrder(Int(order[hole &- 1]), Int(child)) > 0 {
          order[hole] = order[hole &- 1]
          hole &-= 1
        }
      }
      order[hole] = child
      index &+= 1
      child = slots[Int(child)].nextSibling
    }
    if !isShort {
      order.sort { a, b in
        let comparison = keyOrder(Int(a), Int(b))
        return comparison < 0 || (comparison == 0 && a < b)
      }
    }
  }

  /// Keeps only the last of several members with the same key, and returns the number of members that are left.
  private func dropReplaced(_ order: inout UnsafeMutableBufferPointer<Int32>) -> Int {
    var kept = 0
    for index in 0..<order.count {
      if kept > 0, keyOrder(Int(order[kept &- 1]), Int(order[index])) == 0 { kept &-= 1 }
      order[kept] = order[index]
      kept &+= 1
    }
    return kept
  }

  @inline(__always)
  private func keyOrder(_ a: Int, _ b: Int) -> Int {
    if slots[a].keyPrefix != slots[b].keyPrefix { return slots[a].keyPrefix < slots[b].keyPrefix ? -1 : 1 }
    return compareBytes(
      bytes(slots[a].keyStart, slots[a].keyEnd).assumingMemoryBound(to: UInt8.self),
      bytes(slots[b].keyStart, slots[b].keyEnd).assumingMemoryBound(to: UInt8.self))
  }
}
