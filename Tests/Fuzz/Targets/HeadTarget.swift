// HEAD: what it says is believed only where the log agrees, and whatever it says nothing traps.

internal import StrataBase
internal import StrataLog

enum HeadTarget {
  /// Bits of the first byte.
  private enum Mode {
    /// The checksums of the first slot, and of the second, are made to hold.
    static let repairs: [UInt8] = [1, 2]
    /// Both slots name the store's own UUID.
    static let isOwn: UInt8 = 4
    /// There is a log; otherwise HEAD stands alone.
    static let hasLog: UInt8 = 8
  }

  private static let storeID = StoreID(low: 0x1122_3344_5566_7788, high: 0x99AA_BBCC_DDEE_FF00)

  /// The segments of a store that was closed: two, the first of them full.
  private static let log: Result<[String: [UInt8]], StoreError> = Result { () throws(StoreError) in
    let fileSystem = MemoryFileSystem()
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 4_400
    options.sealsInBackground = false
    let log = try Log.openWriter(fileSystem, path: StoreLaws.root, options: options, storeID: storeID)
    let text = Array("made/1".utf8)
    for _ in 0..<3 {
      let draft = AppendDraft()
      text.withUnsafeBytes { draft.add(stream: $0, type: $0, codec: 3, metadata: $0, payload: $0) }
      _ = try log.appendBlocking(draft)
    }
    try log.close()
    return try fileSystem.evidence(of: StoreLaws.root)
  }

  static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
    var input = FuzzInput(bytes)
    let mode = input.byte()
    var head: [UInt8] = []
    for repairs in Mode.repairs {
      var front = input.bytes(PackedStore.slotFront)
      if mode & Mode.isOwn != 0 {
        front.replaceSubrange(HeadSlot.Offset.storeID..<HeadSlot.Offset.storeID + 16, with: storeID.bytes)
      }
      head += Array(repeating: 0, count: head.isEmpty ? 0 : HeadSlot.offsets[1] - head.count)
      let whole = PackedStore.slot(front)
      head += mode & repairs != 0 ? whole : front + Array(repeating: 0, count: whole.count - front.count)
    }
    try slots(head)
    let layout = StoreLayout(root: StoreLaws.root)
    do {
      let fileSystem = MemoryFileSystem()
      try fileSystem.createDirectory(layout.log)
      if mode & Mode.hasLog != 0 {
        for (path, bytes) in try log.get() where path != layout.head { try fileSystem.add(path, bytes) }
      }
      try fileSystem.add(layout.head, head)
      try StoreLaws(fileSystem).hold()
    } catch let error as BrokenLaw {
      throw error
    } catch {
      throw BrokenLaw("a file in memory: \(error)")
    }
  }

  /// The slot that counts is the one with the highest generation of those that verify, and is written as it was read.
  private static func slots(_ head: [UInt8]) throws(BrokenLaw) {
    let found = head.withUnsafeBytes { HeadSlot.newest(in: $0) }
    var expected: HeadSlot?
    for offset in HeadSlot.offsets {
      let bytes = Array(head[offset..<offset + HeadSlot.length])
      guard let slot = bytes.withUnsafeBytes({ HeadSlot(decoding: $0) }) else { continue }
      if slot.generation > expected?.generation ?? 0 || expected == nil { expected = slot }
      let again = slot.encoded().withUnsafeBytes { HeadSlot(decoding: $0) }
      try law(again == slot, "a slot says something else when it is read back")
      let flags = bytes[HeadSlot.Offset.flags..<HeadSlot.Offset.flags + 4]
      if bytes[10] == 0, bytes[11] == 0, flags.first! < 2, flags.dropFirst().allSatisfy({ $0 == 0 }) {
        try law(slot.encoded() == bytes, "a slot is written otherwise")
      }
    }
    try law(found == expected, "another slot counts")
  }
}
