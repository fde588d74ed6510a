// The end of a call: the tree is sorted and written.

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
