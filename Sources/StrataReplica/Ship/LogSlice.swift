// What the next object of a carrier holds: the appends after an event, of one block or several.

internal import StrataBase
internal import StrataLog

/// Reads the durable part of a log for its carrier. Used by one thread at a time.
struct LogSlices: ~Copyable {
  private let log: Log
  private var cursor: LogCursor
  private var raw = RawBuffer(capacity: 64 << 10)
  /// A block that was read, and did not fit into the object before.
  private var block: DecodedBlock?
  private var end: WireEnd

  init(_ log: Log, after end: WireEnd) {
    self.log = log
    self.end = end
    cursor = log.cursor(after: end.sequence, isDurableOnly: true)
  }

  /// The next object, nil if everything durable was returned. O(bytes of the object).
  ///
  /// - Parameter sizeTarget: how many bytes of appends an object has at most, if no single block has more.
  mutating func next(
    number: UInt64, by writer: StoreID, sizeTarget: Int
  ) throws(StoreError) -> WireObject? {
    raw.removeAll()
    var header = WireHeader(
      kind: WireKind.events, storeID: log.storeID, writer: writer, number: number,
      firstSequence: end.sequence + 1, appendsBefore: end.appends, chainBefore: end.chain,
      chainAfter: end.chain)
    while let block = try taken() {
      guard raw.count == 0 || raw.count + block.raw.count <= sizeTarget else {
        self.block = block
        break
      }
      do throws(ContentProblem) { try add(block, to: &header) } catch {
        throw error.storeError(of: block.header)
      }
    }
    guard header.eventCount > 0 else { return nil }
    return WireObject(header, payload: raw.bytes)
  }

  private mutating func taken() throws(StoreError) -> DecodedBlock? {
    if let kept = block.take() { return kept }
    return try cursor.next()
  }

  /// Adds the appends of a block after the end.
  private mutating func add(_ block: DecodedBlock, to header: inout WireHeader) throws(ContentProblem) {
    defer { withExtendedLifetime(block) {} }
    let skipped = block.header.firstSequence <= end.sequence
    var cursor = ByteCursor(block.raw.baseAddress!, count: block.raw.count)
    var (sequence, appends) = (block.header.firstSequence, block.header.appendsBefore)
    var firstTime = block.header.firstTime
    while sequence <= end.sequence {
      do throws(DecodingProblem) { sequence += UInt64(try cursor.nextAppend().eventCount) } catch {
        throw ContentProblem(error)
      }
      appends += 1
    }
    guard sequence == end.sequence + 1, appends == end.appends else {
      throw .damaged("no append of the block begins after sequence \(end.sequence)")
    }
    if skipped {
      var peek = ByteCursor(cursor.position, count: cursor.remaining)
      do throws(DecodingProblem) { firstTime = try peek.nextAppend().commitTime } catch {
        throw ContentProblem(error)
      }
    }
    if header.eventCount == 0 { header.firstTime = firstTime }
    raw.append(UnsafeRawBufferPointer(start: cursor.position, count: cursor.remaining))
    header.eventCount += UInt32(block.header.nextSequence - sequence)
    header.appendCount += UInt32(block.header.appendsBefore + UInt64(block.header.appendCount) - appends)
    header.lastTime = block.header.lastTime
    header.chainAfter = block.header.chainAfter
    end = WireEnd(
      sequence: block.header.nextSequence - 1, chain: block.header.chainAfter, time: block.header.lastTime,
      appends: block.header.appendsBefore + UInt64(block.header.appendCount))
  }
}
