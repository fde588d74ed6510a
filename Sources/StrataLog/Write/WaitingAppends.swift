// Admission control: which appends wait for a group, and which for room.

internal import StrataBase

/// The appends that are not finally in a group. Bounded: beyond `bytesMax` bytes an append waits outside, uncounted,
/// until there is room for it.
///
/// An append goes from `outside` to `pending` and from there into a group. It is then finished, or set `aside` until an
/// index that it needs is built; from `aside` it returns to the front of `pending`.
struct WaitingAppends {
  /// How many bytes may be pending or set aside before the next append has no room.
  let bytesMax: Int
  /// The appends for the next groups, in this order.
  private(set) var pending = AppendList()
  /// The appends that a group took and that wait for an index; in the order in which they arrived.
  private(set) var aside = AppendList()
  /// The appends of tasks for which there is no room, in the order in which they arrived; empty while there is room.
  private var outside: [PendingAppend] = []

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// The bytes of all appends that have room and are not finally in a group.
  var bytes: Int { pending.bytes + aside.bytes }
  /// How many appends these are, and those that wait for room.
  var count: Int { pending.count + aside.count + outside.count }
  var hasRoom: Bool { bytes < bytesMax }
  /// True if no group will be needed unless more is submitted.
  var isEmpty: Bool { pending.isEmpty && aside.isEmpty }

  /// Adds an append whose caller has waited for room, or does not have to.
  mutating func add(_ append: PendingAppend) { pending.add(append) }

  /// Adds an append, or keeps it outside if there is no room. True if it is pending.
  mutating func addOrKeepOutside(_ append: PendingAppend) -> Bool {
    guard hasRoom else {
      outside.append(append)
      return false
    }
    assert(outside.isEmpty, "an append does not overtake one that waits for room")
    pending.add(append)
    return true
  }

  /// Admits the appends for which there is room now.
  mutating func admit() {
    var count = 0
    while count < outside.count, hasRoom {
      pending.add(outside[count])
      count += 1
    }
    outside.removeFirst(count)
    assert(outside.isEmpty || !hasRoom, "no append waits outside while there is room")
  }

  /// Removes and returns the append of a cancelled task; nil if a group has it, or if it has not arrived yet.
  mutating func takeBack(_ draft: AppendDraft) -> PendingAppend? {
    if let index = outside.firstIndex(where: { $0.draft === draft }) { return outside.remove(at: index) }
    guard let append = pending.remove(draft) ?? aside.remove(draft) else { return nil }
    // There may never be a group that makes room.
    admit()
    return append
  }

  /// Takes the next group: the pending appends, up to this many bytes unless the first append alone is larger. Empty if
  /// all of them had to be set aside.
  mutating func takeGroup(bytesMax: Int) -> [PendingAppend] {
    holdBack(pending.takeFirst(bytesMax: bytesMax))
  }

  /// Removes and returns the appends that wait for room.
  mutating func takeOutside() -> [PendingAppend] {
    defer { outside = [] }
    return outside
  }

  /// Removes and returns all appends, in the order in which they would have been framed.
  mutating func takeAll() -> [PendingAppend] { aside.takeAll() + pending.takeAll() + takeOutside() }

  // MARK: Aside

  /// Keeps appends that a group had until `release`. They count towards the pending bytes, and can be withdrawn.
  mutating func setAside(_ appends: [PendingAppend]) {
    assert(appends.allSatisfy { !$0.isLookedUp }, "an append that was looked up is not set aside again")
    aside.insert(appends, at: aside.count)
  }

  /// Makes appends that were set aside pending, ahead of all others, to be framed even if an index has to be built. An
  /// append that must follow an earlier one stays until that one is released.
  ///
  /// - Returns: how many became pending.
  mutating func release(_ isReady: (AppendDraft) -> Bool) -> Int {
    var held: Set<ObjectIdentifier> = []
    var released = aside.take { append in
      let isHeld = append.order.map { held.contains($0) } ?? false
      if !isHeld, isReady(append.draft) { return true }
      if let order = append.order { held.insert(order) }
      return false
    }
    for index in released.indices { released[index].isLookedUp = true }
    // After those that were released earlier and still wait: they may have the same order.
    pending.insert(released, at: pending.appends.prefix { $0.isLookedUp }.count)
    assert(
      pending.appends.drop { $0.isLookedUp }.allSatisfy { !$0.isLookedUp },
      "appends that were looked up precede those that were not")
    return released.count
  }

  /// Sets aside the appends of a group that must not be framed before one that is set aside. This never applies to one
  /// that was set aside before: the appends that it must follow were released before it.
  private mutating func holdBack(_ group: [PendingAppend]) -> [PendingAppend] {
    guard !aside.isEmpty else { return group }
    let held = Set(aside.appends.compactMap(\.order))
    guard !held.isEmpty else { return group }
    return group.filter { append in
      guard !append.isLookedUp, let order = append.order, held.contains(order) else { return true }
      aside.add(append)
      return false
    }
  }
}
