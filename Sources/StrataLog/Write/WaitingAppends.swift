// Admission: which appends wait for a group, and which for room.

internal import StrataBase

/// The appends that no group has for good. Bounded: beyond `bytesMax` bytes an append waits outside, uncounted, until
/// there is room for it.
///
/// An append goes from `outside` to `pending`, from there into a group, and is then finished, or set `aside` until an
/// index was built that it needs; from `aside` it goes back to the front of `pending`.
struct WaitingAppends {
  /// How many bytes may be pending or aside before the next append has no room.
  let bytesMax: Int
  /// For the next groups, in this order.
  private(set) var pending = AppendList()
  /// Taken by a group, and waiting for an index; in the order in which they came.
  private(set) var aside = AppendList()
  /// Appends of tasks for which there is no room, in the order in which they came; none while there is.
  private var outside: [PendingAppend] = []

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// Bytes of all that have room and that no group has for good.
  var bytes: Int { pending.bytes + aside.bytes }
  var hasRoom: Bool { bytes < bytesMax }
  /// True while nothing will be asked of a group any more, unless more is handed over.
  var isEmpty: Bool { pending.isEmpty && aside.isEmpty }

  /// Counts an append whose caller has waited for room, or need not.
  mutating func add(_ append: PendingAppend) { pending.add(append) }

  /// Adds an append, outside where there is no room. True where it is pending.
  mutating func addOrKeepOutside(_ append: PendingAppend) -> Bool {
    guard hasRoom else {
      outside.append(append)
      return false
    }
    assert(outside.isEmpty, "an append goes ahead of none that waits for room")
    pending.add(append)
    return true
  }

  /// Lets those in for whom there is room now.
  mutating func admit() {
    var count = 0
    while count < outside.count, hasRoom {
      pending.add(outside[count])
      count += 1
    }
    outside.removeFirst(count)
    assert(outside.isEmpty || !hasRoom, "nothing waits outside while there is room")
  }

  /// Takes an append of a task that was cancelled out again; nil where a group has it, or where it is not there yet.
  mutating func takeBack(_ draft: AppendDraft) -> PendingAppend? {
    if let index = outside.firstIndex(where: { $0.draft === draft }) { return outside.remove(at: index) }
    guard let append = pending.remove(draft) ?? aside.remove(draft) else { return nil }
    // No group may ever come that makes room.
    admit()
    return append
  }

  /// The next group: what is pending, up to this many bytes unless the first append alone is larger. Empty where all
  /// of that had to be set aside.
  mutating func takeGroup(bytesMax: Int) -> [PendingAppend] {
    holdBack(pending.takeFirst(bytesMax: bytesMax))
  }

  /// Takes out what is not counted.
  mutating func takeOutside() -> [PendingAppend] {
    defer { outside = [] }
    return outside
  }

  /// Takes out everything, in the order in which it would have been framed.
  mutating func takeAll() -> [PendingAppend] { aside.takeAll() + pending.takeAll() + takeOutside() }

  // MARK: Aside

  /// Keeps appends that a group had until `release`. They count for what may wait, and can be taken back.
  mutating func setAside(_ appends: [PendingAppend]) {
    assert(appends.allSatisfy { !$0.isLookedUp }, "what was looked up is framed, whatever has to be built")
    aside.insert(appends, at: aside.count)
  }

  /// Makes appends pending that were set aside, before all others, to be framed whatever has to be built. One whose
  /// order binds it to an earlier one stays until that one goes.
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
    // After those that were released before and still wait: their orders may be the same.
    pending.insert(released, at: pending.appends.prefix { $0.isLookedUp }.count)
    assert(
      pending.appends.drop { $0.isLookedUp }.allSatisfy { !$0.isLookedUp },
      "what was looked up is pending before all that was not")
    return released.count
  }

  /// Sets those of a group aside that may not be framed before one that is. None that was aside already: those that
  /// bind it have been released before it.
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
