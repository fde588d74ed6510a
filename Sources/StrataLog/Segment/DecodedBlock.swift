// A block's decoded payload, which it owns, and the walks over all its appends and events.

internal import StrataBase

/// Why a block's content cannot be delivered.
package enum ContentProblem: Error, Equatable, Sendable {
  case damaged(String)
  case unsupported(String)

  package init(_ problem: DecodingProblem) {
    switch problem {
    case .damaged(let what): self = .damaged(what)
    case .unsupported(let what): self = .unsupported(what)
    }
  }
}

/// The raw payload of one event block. Immutable, so it may be shared between threads.
package final class DecodedBlock: @unchecked Sendable {
  // Safe to share: nothing changes the bytes after `init`.
  package let header: BlockHeader
  private let storage: UnsafeMutableRawPointer
  private let count: Int

  /// Decodes a stored payload. Lengths must have been checked by `BlockSource.lengthProblem`.
  package init(header: BlockHeader, stored: UnsafeRawBufferPointer) throws(ContentProblem) {
    assert(stored.count == Int(header.storedLength), "a payload is as long as its header says")
    if let problem = header.unsupported { throw .unsupported(problem) }
    self.header = header
    count = Int(header.rawLength)
    storage = .allocate(byteCount: max(1, count), alignment: 16)
    let target = UnsafeMutableRawBufferPointer(start: storage, count: count)
    if header.codec == BlockCodec.none {
      target.copyMemory(from: UnsafeRawBufferPointer(rebasing: stored[..<count]))
    } else if !Compression.decompress(stored, into: target) {
      throw .damaged("the payload is not LZ4 for \(count) bytes")
    }
  }

  deinit { storage.deallocate() }

  /// The decoded bytes. They live as long as the block: hold it while a pointer into them is in use.
  package var raw: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: count) }

  /// The same, from its begin.
  var content: ByteCursor { ByteCursor(storage, count: count) }

  /// Walks all appends: the body gets each one's view and the sequence of its first event.
  package func forEachAppend(
    _ body: (borrowing AppendView, _ first: UInt64) throws(ContentProblem) -> Void
  ) throws(ContentProblem) {
    defer { withExtendedLifetime(self) {} }
    var cursor = BlockCursor(self)
    while let append = try cursor.nextAppend() { try body(append, cursor.nextSequence) }
  }

  /// The id of the append that begins with a sequence, empty if it has none; nil if no append begins there. Looks at no
  /// append after it. Valid as long as the block.
  func id(ofAppendAt first: UInt64) throws(ContentProblem) -> UnsafeRawBufferPointer? {
    var cursor = ByteCursor(storage, count: count)
    var sequence = header.firstSequence
    while sequence <= first, cursor.remaining > 0 {
      let append: AppendView
      do throws(DecodingProblem) { append = try cursor.nextAppend() } catch { throw ContentProblem(error) }
      if sequence == first { return append.id }
      sequence = sequence.addingSaturated(UInt64(append.eventCount))
    }
    return nil
  }

  /// Walks all events of all appends.
  package func forEachEvent(
    _ body: (borrowing EventView, borrowing AppendView, _ sequence: UInt64) throws(ContentProblem) -> Void
  ) throws(ContentProblem) {
    try forEachAppend { append, first throws(ContentProblem) in
      var events = append.events
      for index in 0..<append.eventCount {
        let event: EventView
        do throws(DecodingProblem) { event = try events.nextEvent() } catch { throw ContentProblem(error) }
        try body(event, append, first + UInt64(index))
      }
      guard events.remaining == 0 else { throw .damaged("an append holds more than its events") }
    }
  }

  /// Recomputes the chain over the whole block and compares counts, times and chain with the header.
  package func verifyContent() throws(ContentProblem) {
    var erasures = ErasureMark()
    try verifyContent(marking: &erasures)
  }

  /// The same, and adds the erased events to a mark.
  func verifyContent(marking erasures: inout ErasureMark) throws(ContentProblem) {
    var chain = header.chainBefore
    var appends: UInt32 = 0
    var lastTime = FormatLimits.noTime
    var lastAppend: UnsafeRawPointer?
    var headHash: UInt64 = 0
    try forEachEvent { event, append, sequence throws(ContentProblem) in
      if append.head.baseAddress != lastAppend {
        if lastAppend == nil, append.commitTime != header.firstTime {
          throw .damaged("the block's first time is not that of its first append")
        }
        guard append.commitTime >= lastTime else { throw .damaged("the time of an append runs backwards") }
        lastAppend = append.head.baseAddress
        lastTime = append.commitTime
        headHash = XXH64.of(append.head)
        appends += 1
      }
      guard event.stream.isUTF8, event.type.isUTF8 else {
        throw .damaged("the stream or type of event \(sequence) is not UTF-8")
      }
      if event.kind == EventKind.erased { erasures.add(sequence) }
      chain = Chain.next(
        after: chain, sequence: sequence, revision: event.revision, head: headHash,
        names: XXH64.of(event.names), content: event.contentHash)
    }
    guard appends == header.appendCount else {
      throw .damaged("the block holds \(appends) appends, and its header counts \(header.appendCount)")
    }
    guard lastTime == header.lastTime else {
      throw .damaged("the block's last time is not that of its last append")
    }
    guard chain == header.chainAfter else {
      throw .damaged("the chain over the block's events does not match")
    }
  }

  /// The chain after each append of this block, by the append's last sequence. O(bytes of the block).
  package func chainsAfterAppends() throws(ContentProblem) -> [UInt64: UInt64] {
    var chains: [UInt64: UInt64] = [:]
    var chain = header.chainBefore
    var (last, headHash): (UInt64, UInt64) = (header.firstSequence - 1, 0)
    try forEachEvent { event, append, sequence throws(ContentProblem) in
      if sequence > last {
        last = sequence + UInt64(append.eventCount) - 1
        headHash = XXH64.of(append.head)
      }
      chain = Chain.next(
        after: chain, sequence: sequence, revision: event.revision, head: headHash,
        names: XXH64.of(event.names), content: event.contentHash)
      if sequence == last { chains[sequence] = chain }
    }
    guard chain == header.chainAfter else {
      throw .damaged("the chain over the block's events does not match")
    }
    return chains
  }

  /// The chain after one event of this block.
  package func chain(after sequence: UInt64) throws(ContentProblem) -> UInt64 {
    if sequence == header.nextSequence - 1 { return header.chainAfter }
    var chain = header.chainBefore
    try forEachEvent { event, append, number throws(ContentProblem) in
      guard number <= sequence else { return }
      chain = Chain.next(
        after: chain, sequence: number, revision: event.revision, head: XXH64.of(append.head),
        names: XXH64.of(event.names), content: event.contentHash)
    }
    return chain
  }
}

extension UnsafeRawBufferPointer {
  /// True for well-formed UTF-8.
  package var isText: Bool { String(validating: self, as: UTF8.self) != nil }
}

extension ContentProblem {
  /// This problem as a finding in a file.
  package func finding(in file: String, at offset: UInt64, first: UInt64, last: UInt64) -> StoreFinding {
    switch self {
    case .damaged(let what):
      StoreFinding(.corrupt, file: file, offset: offset, first: first, last: last, what: what)
    case .unsupported(let what):
      StoreFinding(.unsupported, file: file, offset: offset, first: first, last: last, what: what)
    }
  }

  /// This problem as the log's error.
  package func storeError(in file: String, at offset: UInt64, first: UInt64, last: UInt64) -> StoreError {
    let finding = finding(in: file, at: offset, first: first, last: last)
    switch self {
    case .damaged: return .damaged(finding)
    case .unsupported: return .unsupported(finding)
    }
  }

  /// This problem as the log's error, for a block, whose header says where it is and which events are in doubt.
  ///
  /// - Parameter last: the last event in doubt, if it is not the block's last.
  package func storeError(of block: BlockHeader, through last: UInt64? = nil) -> StoreError {
    storeError(
      in: block.segment.path, at: block.ownOffset, first: block.firstSequence,
      last: last ?? block.nextSequence &- 1)
  }
}

extension BlockHeader {
  /// What in a valid block a reader of 1.0 does not know and may not skip, or nil.
  package var unsupported: String? {
    if kind > BlockKind.footer, kind < BlockKind.firstSkippable { return "block kind \(kind)" }
    if kind == 0 { return "block kind 0" }
    if kind >= BlockKind.firstSkippable { return nil }
    if codec > BlockCodec.lz4 { return "payload codec \(codec)" }
    if flags & Self.refusedFlags != 0 { return "block flags \(flags & Self.refusedFlags)" }
    return nil
  }
}
