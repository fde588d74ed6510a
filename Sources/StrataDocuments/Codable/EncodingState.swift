// The state of one call of the encoder: the bytes of all scalars in the order in which they were encoded, and a tree of
// slots that says where each belongs. Several containers may be filled at the same time and in any order; at the end
// the tree is sorted and written once.
//
//   scratch  │ key │ value │ key │ key │ value │ …
//   slots    0 root ─ first child ─▶ 1 ─ next ─▶ 2 …

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
  static let callDepthMax = 4 * CodecLimits.depthMax

  /// What owns the state if a container that it kept is in use after the call.
  final class Owner { var state: EncodingState? }

  let userInfo: [CodingUserInfoKey: any Sendable]
  /// The containers of the root in calls before this one; nil if no call follows.
  private let kept: KeptContainers<Owner>?
  @exclusivity(unchecked) var scratch = CBORWriter(capacity: 512)
  @exclusivity(unchecked) var slots: UnsafeMutablePointer<EncodingSlot>
  @exclusivity(unchecked) var slotCount = 1
  @exclusivity(unchecked) var slotCapacity = 12
  @exclusivity(unchecked) var callDepth = 0

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
