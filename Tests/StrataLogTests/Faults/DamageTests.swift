// Cuts and flipped bits: a store opens or refuses exactly as the rule says, and a refusal changes nothing.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct DamageTests {
  private let root = GoldenStore.root

  private func readHead(_ disk: SimulatedDisk) throws -> HeadSlot? {
    try HeadFile.read(disk, path: GoldenStore.layout.head)
  }

  /// Opens a damaged copy for reading and writing, and holds both against the rule.
  private func check(_ store: GoldenStore, _ bytes: [UInt8], _ what: String) throws {
    let disk = store.damaged(bytes)
    let head = try readHead(disk)
    let expected = ExpectedRule(bytes: bytes, pristine: store.bytes, store: store, head: head)
    let count = store.appends(upTo: expected.validEnd)
    let before = disk.evidence(of: GoldenStore.layout)
    var damaged = store.options
    damaged.readsDamaged = true
    if expected.state == .corrupt {
      for isWriter in [false, true] {
        #expect(throws: StoreError.self, "\(what): the store is not refused") {
          try open(disk, store, isWriter: isWriter)
        }
      }
      // A header that does not verify leaves nothing to read.
      let reader = try? Log.openReader(disk, path: root, options: damaged)
      if let reader { #expect(try reader.modelAppends().count == count, "\(what)") }
      #expect(disk.evidence(of: GoldenStore.layout) == before, "\(what): a refusal changed something")
      return
    }
    let reader = try Log.openReader(disk, path: root, options: store.options)
    #expect(reader.mark.appends == UInt64(count), "\(what)")
    #expect((reader.tornBytes > 0) == (expected.state == .torn), "\(what)")
    #expect(store.model.difference(from: reader, countMin: count) == nil, "\(what)")
    #expect(disk.evidence(of: GoldenStore.layout) == before, "\(what): a reader changed something")
    if let head, head.segment == store.active {
      #expect(reader.mark.sequence >= head.durable.sequence, "\(what): something durable is lost silently")
    }
    try checkRecovery(store, disk, bytes, expected, count, what)
  }

  private func open(_ disk: SimulatedDisk, _ store: GoldenStore, isWriter: Bool) throws {
    let log =
      isWriter
      ? try Log.openWriter(disk, path: root, options: store.options)
      : try Log.openReader(disk, path: root, options: store.options)
    try log.close()
  }

  private func checkRecovery(
    _ store: GoldenStore, _ disk: SimulatedDisk, _ bytes: [UInt8], _ expected: ExpectedRule, _ count: Int,
    _ what: String
  ) throws {
    let log = try Log.openWriter(disk, path: root, options: store.options)
    #expect(disk.contents(store.segment) == bytes, "\(what): opening changed the segment")
    var model = store.model
    model.keepFirst(count)
    let append = ModelAppend([ModelEvent(stream: "a/0", type: "after")])
    model.add(append, time: try log.appendBlocking(append.draft()).time)
    #expect(model.difference(from: log, countMin: count + 1) == nil, "\(what)")
    try log.close()
    let kept = disk.paths.filter { $0.hasPrefix(GoldenStore.layout.quarantine) }
    if expected.state == .torn {
      let tail = Array(bytes.dropFirst(Int(expected.validEnd)))
      try #require(kept.count == 1, "\(what)")
      #expect(disk.contents(kept[0]) == tail, "\(what): the quarantine holds other bytes")
      let note = try #require(
        try self.note(in: disk, store, at: expected.validEnd), "\(what): no RECOVERY block")
      #expect(note.cutOffset == expected.validEnd && note.cutLength == UInt64(tail.count))
      #expect(note.checksum == tail.withUnsafeBytes { CRC32C.of($0) } && note.reason == 1)
      #expect("\(root)/\(note.path)" == kept[0])
    } else {
      #expect(kept.isEmpty, "\(what)")
    }
    let again = try Log.openWriter(disk, path: root, options: store.options)
    #expect(again.tornBytes == 0)
    #expect(model.difference(from: again, countMin: count + 1) == nil, "\(what): after reopening")
    try again.close()
    #expect(try disk.findings(inStore: root) == [], "\(what)")
  }

  private func note(in disk: SimulatedDisk, _ store: GoldenStore, at offset: UInt64) throws -> RecoveryNote? {
    try disk.recoveryNote(in: store.active, of: GoldenStore.layout, at: offset)
  }

  @Test(arguments: GoldenStore.Head.allCases, [false, true])
  func `an active segment cut at any byte opens or is refused as the rule says`(
    head: GoldenStore.Head, pads: Bool
  ) throws {
    let store = try GoldenStore(head, pads: pads)
    let bytes = store.bytes
    let step = pads ? 16 * Self.step + 45 : Self.step
    for length in stride(from: SegmentHeader.length, through: bytes.count, by: step) {
      try check(store, Array(bytes[..<length]), "\(head), cut at \(length)")
    }
  }

  @Test(arguments: GoldenStore.Head.allCases)
  func `a tail wiped from any byte opens or is refused as the rule says`(head: GoldenStore.Head) throws {
    let store = try GoldenStore(head)
    let bytes = store.bytes
    for length in stride(from: SegmentHeader.length, through: bytes.count, by: 7 * Self.step) {
      let wiped = bytes[..<length] + Array(repeating: 0, count: bytes.count - length)
      try check(store, Array(wiped), "\(head), zeros from \(length)")
      try check(store, wiped + Array(repeating: 0, count: 3), "\(head), zeros from \(length), and more")
      try check(store, bytes[..<length] + [0, 0, 1], "\(head), other bytes from \(length)")
    }
  }

  @Test(arguments: GoldenStore.Head.allCases)
  func `bytes behind the last block are torn, or corruption where a clean close promised none`(
    head: GoldenStore.Head
  ) throws {
    let store = try GoldenStore(head)
    for tail in [[0, 0, 0], [0, 0, 1], Array(repeating: 9, count: 600)] as [[UInt8]] {
      try check(store, store.bytes + tail, "\(head), \(tail.count) bytes more")
    }
  }

  @Test(arguments: GoldenStore.Head.allCases)
  func `any flipped bit of the blocks makes the store what the rule says`(head: GoldenStore.Head) throws {
    let store = try GoldenStore(head)
    let bytes = store.bytes
    let step = Self.step == 1 ? 1 : 23
    for bit in stride(from: SegmentHeader.length * 8, to: bytes.count * 8, by: step) {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      try check(store, damaged, "\(head), bit \(bit % 8) of byte \(bit / 8)")
    }
  }

  /// Every place in release builds; in debug builds fewer, by an odd step, so every bit of a byte in turn.
  static var step: Int {
    #if DEBUG
      5
    #else
      1
    #endif
  }

  @Test func `any flipped bit of a segment's header or of a closed segment is found and changes nothing`()
    throws
  {
    let store = try GoldenStore(.clean)
    let closed = GoldenStore.layout.segment(1)
    for path in [closed, store.segment] {
      let length = path == closed ? store.disk.contents(closed)!.count : SegmentHeader.length
      for bit in stride(from: 0, to: length * 8, by: path == closed ? 37 : 29) {
        let disk = store.disk.clone()
        disk.flipBit(path, bit)
        let before = disk.evidence(of: GoldenStore.layout)
        let findings = try disk.findings(inStore: root)
        #expect(!findings.isEmpty, "bit \(bit) of \(path) is not noticed")
        #expect(findings.allSatisfy { $0.class != .torn }, "bit \(bit) of \(path): \(findings)")
        // A closed segment's blocks are read when they are needed, its header always.
        if bit < SegmentHeader.length * 8 {
          #expect(throws: StoreError.self) { try Log.openReader(disk, path: root, options: store.options) }
          #expect(throws: StoreError.self) { try Log.openWriter(disk, path: root, options: store.options) }
        } else {
          let log = try Log.openReader(disk, path: root, options: store.options)
          #expect(throws: StoreError.self) { try log.modelAppends() }
        }
        #expect(disk.evidence(of: GoldenStore.layout) == before)
      }
    }
  }

  @Test(arguments: GoldenStore.Head.allCases)
  func `any flipped bit of HEAD leaves everything acknowledged readable`(head: GoldenStore.Head) throws {
    let store = try GoldenStore(head)
    guard let bytes = store.disk.contents(GoldenStore.layout.head) else { return }
    for bit in stride(from: 0, to: bytes.count * 8, by: 3)
    where bit / 8 < HeadSlot.length || bit / 8 >= HeadSlot.offsets[1] {
      let disk = store.disk.clone()
      disk.flipBit(GoldenStore.layout.head, bit)
      let reader = try Log.openReader(disk, path: root, options: store.options)
      #expect(store.model.difference(from: reader, countMin: store.model.appends.count) == nil)
      let log = try Log.openWriter(disk, path: root, options: store.options)
      #expect(store.model.difference(from: log, countMin: store.model.appends.count) == nil)
      try log.close()
    }
  }

  @Test func `segments that are missing, swapped or of another store are corruption`() throws {
    let store = try GoldenStore(.clean)
    let other = try GoldenStore(.clean, seed: 2)
    let layout = GoldenStore.layout
    func refused(_ what: String, _ change: (SimulatedDisk) -> Void) throws {
      let disk = store.disk.clone()
      change(disk)
      let before = disk.evidence(of: GoldenStore.layout)
      for isWriter in [false, true] {
        #expect(throws: StoreError.self, "\(what)") { try open(disk, store, isWriter: isWriter) }
      }
      var verifier = LogVerifier(disk, path: root)
      #expect(try !verifier.run().isOK, "\(what)")
      #expect(disk.evidence(of: GoldenStore.layout) == before, "\(what)")
    }
    try refused("the active segment is gone") { $0.delete(store.segment) }
    try refused("the first segment is gone") { $0.delete(layout.segment(1)) }
    try refused("all segments are gone") {
      $0.delete(layout.segment(1))
      $0.delete(store.segment)
    }
    try refused("a segment has another one's name") {
      let bytes = $0.contents(store.segment)!
      $0.add(layout.segment(SegmentName(store.active.firstSequence + 1)), bytes)
    }
    try refused("the segments are swapped") {
      let bytes = $0.contents(store.segment)!
      $0.replace(store.segment, $0.contents(layout.segment(1))!)
      $0.replace(layout.segment(1), bytes)
    }
    _ = other
  }
}
