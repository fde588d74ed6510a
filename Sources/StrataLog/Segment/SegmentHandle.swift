// One segment, open for reading, with the table of its blocks.

internal import StrataBase
internal import Synchronization

/// A segment's header, its file, and the positions of its blocks. Shared by all its readers.
package final class SegmentHandle: Sendable {
  package let header: SegmentHeader
  package let file: any File
  /// What is cached of the file is found by this number. No other file of the process has it; the same file has it
  /// again when it is opened again, if nothing can have replaced it meanwhile.
  package let number: UInt64
  private let table: Lock<BlockTable>

  /// The block positions known so far, and the offset up to which the file was scanned.
  private struct BlockTable {
    var places: [BlockAddress] = []
    var scanned = UInt64(SegmentHeader.length)
  }

  private static let lastNumber = Atomic<UInt64>(0)

  package init(header: SegmentHeader, file: any File, number: UInt64? = nil) {
    self.header = header
    self.file = file
    self.number = number ?? Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    table = Lock(BlockTable())
  }

  deinit { file.close() }

  package var name: String { header.segment.path }

  /// Opens a segment by its first sequence and checks its header against its name and the store.
  ///
  /// - Parameter number: the number of a file with this header, if it has one already.
  package static func open(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, first: SegmentName, storeID: StoreID?,
    mode: FileOpenMode = .read, number: (SegmentHeader) -> UInt64? = { _ in nil }
  ) throws(StoreError) -> SegmentHandle {
    let file = try fileSystem.open(layout.segment(first), mode)
    let header: SegmentHeader
    do {
      header = try readHeader(of: file, first: first, storeID: storeID)
    } catch {
      file.close()
      throw error
    }
    return SegmentHandle(header: header, file: file, number: number(header))
  }

  /// Reads and checks the header of a segment's file.
  /// - Parameter hasPrevious: whether there is a segment before it, which its header must name.
  package static func readHeader(
    of file: any File, first: SegmentName, storeID: StoreID?, hasPrevious: Bool = false
  ) throws(StoreError) -> SegmentHeader {
    let name = first.path
    func finding(_ kind: StoreFinding.Class, _ what: String) -> StoreFinding {
      // HEAD may name a segment 0, which does not exist.
      StoreFinding(
        kind, file: name, offset: 0, first: first.firstSequence, last: first.lastBefore, what: what)
    }
    var bytes = [UInt8](repeating: 0, count: SegmentHeader.length)
    let count = try bytes.lendMutableBytes { buffer throws(StoreError) in try file.read(into: buffer, at: 0) }
    let header: SegmentHeader
    do throws(SegmentHeader.Problem) {
      header = try bytes.lendBytes { buffer throws(SegmentHeader.Problem) in
        try SegmentHeader(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    } catch {
      switch error {
      case .damaged(let what): throw .damaged(finding(.corrupt, what))
      case .unsupported(let what): throw .unsupported(finding(.unsupported, what))
      }
    }
    if hasPrevious, header.previousFirst == 0 {
      throw .damaged(finding(.corrupt, "the header names no segment before this one, but there is one"))
    }
    if let storeID, header.storeID != storeID {
      throw .damaged(
        finding(.misplaced, "the segment belongs to the store \(header.storeID), not to \(storeID)"))
    }
    guard header.segment == first else {
      throw .damaged(
        finding(
          .misplaced, "the segment begins at sequence \(header.firstSequence), which is not that of its name")
      )
    }
    return header
  }

  /// Adds a block that was just written or scanned, in order.
  package func add(_ place: BlockAddress, end: UInt64) {
    assert(end > place.offset, "a block ends after its beginning")
    table.withLock { table in
      guard end > table.scanned else { return }
      table.places.append(place)
      table.scanned = end
    }
  }

  /// Adopts a whole table from a footer or a derived index.
  package func adopt(_ places: [BlockAddress], end: UInt64) {
    table.withLock { table in
      guard end > table.scanned else { return }
      table = BlockTable(places: places, scanned: end)
    }
  }

  package var places: [BlockAddress] { table.withLock { $0.places } }

  /// The last block that begins at or before a sequence. Scans headers up to `end` if needed. Damage after that block
  /// does not matter here: a reader that goes on from there finds it when it reaches it.
  package func place(forSequence sequence: UInt64, end: UInt64) throws(StoreError) -> BlockAddress? {
    do throws(StoreError) { try extend(to: end) } catch {
      guard error.finding != nil || error.reason == .system,
        let known = knownPlace(where: { $0.firstSequence <= sequence })
      else { throw error }
      return known
    }
    return knownPlace { $0.firstSequence <= sequence }
  }

  /// Where an event block is, and what follows it: the next one, or the end of what is known.
  struct KnownBlock {
    var offset: UInt64
    var end: UInt64
    /// The first sequence of the next one; the largest number if none is known.
    var nextSequence: UInt64
  }

  /// The last block that begins at or before a sequence. Scans headers up to `end` if needed; damage in them makes it throw.
  func place(holding sequence: UInt64, end: UInt64) throws(StoreError) -> KnownBlock? {
    try extend(to: end)
    return knownPlace(holding: sequence)
  }

  /// The same of the blocks that are known.
  func knownPlace(holding sequence: UInt64) -> KnownBlock? {
    table.withLock { table in
      let index = table.places.countAhead { $0.firstSequence <= sequence }
      guard index > 0 else { return nil }
      let next = index < table.places.count ? table.places[index] : nil
      let (offset, end) = (table.places[index - 1].offset, next?.offset ?? table.scanned)
      // A footer that somebody forged may say that a block begins before the one that it follows.
      guard offset < end else { return nil }
      return KnownBlock(offset: offset, end: end, nextSequence: next?.firstSequence ?? .max)
    }
  }

  /// The last block that begins at or before a sequence and whose first append is not later than a time.
  package func place(
    forTime time: Int64, end: UInt64, through last: UInt64
  ) throws(StoreError) -> BlockAddress? {
    try lastPlace(end: end) { $0.firstSequence <= last && $0.firstTime <= time }
  }

  /// The last block that begins at or before a sequence and has at most that many appends before it.
  package func place(
    forAppend ordinal: UInt64, end: UInt64, through last: UInt64
  ) throws(StoreError) -> BlockAddress? {
    try lastPlace(end: end) { $0.firstSequence <= last && $0.appendsBefore <= ordinal }
  }

  /// The table may reach past `end` if another reader has scanned further.
  private func lastPlace(
    end: UInt64, where isBefore: (BlockAddress) -> Bool
  ) throws(StoreError) -> BlockAddress? {
    try extend(to: end)
    return knownPlace(where: isBefore)
  }

  private func knownPlace(where isBefore: (BlockAddress) -> Bool) -> BlockAddress? {
    table.withLock { table in
      var low = 0
      var high = table.places.count
      while low < high {
        let middle = (low + high) / 2
        if isBefore(table.places[middle]) { low = middle + 1 } else { high = middle }
      }
      return low == 0 ? nil : table.places[low - 1]
    }
  }

  /// Scans the headers between the end of the table and `end`.
  package func extend(to end: UInt64) throws(StoreError) {
    let scanned = table.withLock { $0.scanned }
    guard scanned < end else { return }
    if header.isRewritten, let places = try footer(end: end) { return adopt(places, end: end) }
    var source = BlockSource(file: file, segment: header, step: 1 << 16)
    var offset = scanned
    // The sequence that follows the last block scanned here.
    var next: UInt64?
    while offset < end {
      switch try source.header(at: offset, limit: end) {
      case .success(let block):
        if let what = block.unsupported {
          throw .unsupported(
            StoreFinding(
              .unsupported, file: name, offset: offset, first: block.firstSequence,
              last: block.nextSequence &- 1, what: what))
        }
        if block.isControl {
          table.withLock { $0.scanned = max($0.scanned, block.end) }
        } else {
          add(BlockAddress(block), end: block.end)
        }
        offset = block.end
        next = block.nextSequence
      case .failure(let problem):
        let first = next ?? header.firstSequence
        throw .damaged(problem.finding(in: name, at: offset, first: first, last: max(first, 1) - 1))
      }
    }
  }

  /// The block positions from the footer of a rewritten segment, or nil if it cannot be used and the headers must be
  /// scanned.
  private func footer(end: UInt64) throws(StoreError) -> [BlockAddress]? {
    guard header.footerOffset >= UInt64(SegmentHeader.length), header.footerOffset < end else { return nil }
    var source = BlockSource(file: file, segment: header, step: 1 << 16)
    let verdict = try source.block(at: header.footerOffset, limit: end)
    guard case .valid(let block, let payload) = verdict, block.kind == BlockKind.footer,
      let decoded = try? DecodedBlock(header: block, stored: payload)
    else { return nil }
    defer { withExtendedLifetime(decoded) {} }
    return FooterIndex.decoding(decoded.raw)
  }
}

extension BlockAddress {
  package init(_ block: BlockHeader) {
    self.init(
      firstSequence: block.firstSequence, firstTime: block.firstTime, appendsBefore: block.appendsBefore,
      offset: block.ownOffset)
  }
}

extension BlockProblem {
  /// This problem as a finding at an offset.
  package func finding(in file: String, at offset: UInt64, first: UInt64, last: UInt64) -> StoreFinding {
    switch self {
    case .corrupt(let what):
      StoreFinding(.corrupt, file: file, offset: offset, first: first, last: last, what: what)
    case .misplaced(let what):
      StoreFinding(.misplaced, file: file, offset: offset, first: first, last: last, what: what)
    case .stale(let what):
      StoreFinding(.stale, file: file, offset: offset, first: first, last: last, what: what)
    }
  }
}
