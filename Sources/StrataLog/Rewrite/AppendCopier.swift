// Copies recorded appends into a rewritten segment: byte for byte, or without the content of some events.

package import StrataBase

/// Walks the appends of decoded blocks. An erased event keeps its names, its revision, and the hash and the length of
/// its content, so that the chain over it still verifies.
struct AppendCopier: ~Copyable {
  private let erases: ((borrowing EventView, _ sequence: UInt64) -> Bool)?
  /// The number of events whose content was removed.
  private(set) var erasedCount: UInt64 = 0
  /// The mark of all events without content, including those that had none before.
  private(set) var erasures = ErasureMark()
  /// The range of the events that keep content which should be erased: with them erased, their append would be longer
  /// than a block may be.
  private(set) var left: ClosedRange<UInt64>?
  private var rebuilt = RawBuffer(capacity: 4 << 10)

  init(erases: ((borrowing EventView, _ sequence: UInt64) -> Bool)?) { self.erases = erases }

  /// Copies all appends of a block, whose chain has been verified.
  mutating func copy(_ block: DecodedBlock, to packer: inout BlockPacker) throws(StoreError) {
    var chain = block.header.chainBefore
    var failure: StoreError?
    do throws(ContentProblem) {
      try block.forEachAppend { append, first throws(ContentProblem) in
        guard failure == nil else { return }
        let body = try copied(append, first: first, chain: &chain)
        do throws(StoreError) {
          try packer.add(
            .init(
              body: body, eventCount: append.eventCount, commitTime: append.commitTime, chainAfter: chain),
            epoch: block.header.epoch)
        } catch { failure = error }
      }
    } catch {
      throw error.storeError(of: block.header)
    }
    if let failure { throw failure }
    assert(chain == block.header.chainAfter, "a copy has the chain of the block that it copies")
  }

  /// The payload of a block whose chain has been verified, without the content of some events.
  mutating func payload(of block: DecodedBlock) throws(ContentProblem) -> RawBuffer {
    var chain = block.header.chainBefore
    var raw = RawBuffer(capacity: block.raw.count + 64)
    try block.forEachAppend { append, first throws(ContentProblem) in
      let body = try copied(append, first: first, chain: &chain)
      raw.append(varint: UInt64(body.count))
      raw.append(body)
    }
    return raw
  }

  /// How many bytes erased events may grow by. The bytes that other events shrink by are counted first, so that no long
  /// content is kept because of a short one.
  private func roomToGrow(_ append: borrowing AppendView, first: UInt64) -> Int {
    let length = append.head.count + append.events.remaining
    let limit = FormatLimits.rawLengthMax - Varint.length(UInt64(FormatLimits.rawLengthMax))
    // The extra pass over the events runs only if growth may exceed the limit.
    guard erases != nil, length + append.eventCount * ErasedForm.growthMax > limit else { return .max }
    var room = limit - length
    var events = append.events
    for number in 0..<append.eventCount {
      let start = events.position
      // The copy itself reports damage.
      guard let event = try? events.nextEvent() else { break }
      guard event.kind != EventKind.erased, erases?(event, first + UInt64(number)) == true else { continue }
      room -= min(0, event.erasedLength - (events.position - start))
    }
    return room
  }

  /// The head and events of an append, unchanged or rebuilt; valid until the next call. Advances the chain past the
  /// append.
  private mutating func copied(
    _ append: borrowing AppendView, first: UInt64, chain: inout UInt64
  ) throws(ContentProblem) -> UnsafeRawBufferPointer {
    let begin = append.head.baseAddress!
    let head = XXH64.of(append.head)
    var events = append.events
    var room = roomToGrow(append, first: first)
    /// The end of the append's own bytes that are in `rebuilt`; nil until something is rebuilt.
    var copiedTo: UnsafeRawPointer?
    for number in 0..<append.eventCount {
      let start = events.position
      let event: EventView
      do throws(DecodingProblem) { event = try events.nextEvent() } catch { throw ContentProblem(error) }
      let sequence = first + UInt64(number)
      chain = Chain.next(
        after: chain, sequence: sequence, revision: event.revision, head: head, names: XXH64.of(event.names),
        content: event.contentHash)
      let wasErased = event.kind == EventKind.erased
      guard wasErased || erases?(event, sequence) == true else { continue }
      let growth = wasErased ? 0 : event.erasedLength - (events.position - start)
      assert(growth <= ErasedForm.growthMax, "an erased event grows by growthMax at most")
      guard growth <= room else {
        left = (left?.lowerBound ?? sequence)...sequence
        continue
      }
      room -= max(0, growth)
      erasures.add(sequence)
      guard !wasErased else { continue }
      if copiedTo == nil { rebuilt.removeAll() }
      let from = copiedTo ?? begin
      rebuilt.append(UnsafeRawBufferPointer(start: from, count: start - from))
      rebuilt.append(erased: event)
      erasedCount += 1
      copiedTo = events.position
    }
    guard let copiedTo else { return UnsafeRawBufferPointer(start: begin, count: events.position - begin) }
    rebuilt.append(UnsafeRawBufferPointer(start: copiedTo, count: events.position - copiedTo))
    return rebuilt.bytes
  }
}

extension DecodedBlock {
  /// The payload without the content of the events that the body selects; the block's chain has been verified. An event
  /// that would make its append longer than a block may be keeps its content.
  package func payload(
    erasing erases: @escaping (borrowing EventView, _ sequence: UInt64) -> Bool
  ) throws(ContentProblem) -> RawBuffer {
    var copier = AppendCopier(erases: erases)
    return try copier.payload(of: self)
  }
}

extension RawBuffer {
  /// Appends the erased form of an event.
  fileprivate mutating func append(erased event: borrowing EventView) {
    let contentLength = event.erasableLength
    let length = ErasedForm.bodyLength(namesLength: event.names.count, contentLength: contentLength)
    append(varint: UInt64(length))
    append(byte: EventKind.erased)
    append(byte: 0)
    append(integer: event.revision)
    append(event.names)
    append(integer: event.contentHash)
    append(varint: UInt64(contentLength))
  }
}
