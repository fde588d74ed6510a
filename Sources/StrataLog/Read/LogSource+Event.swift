// Reads of single events: from memory, or from as little of the disk as holds them.

extension LogSource {
  /// Some events of the visible log, among them the one with a sequence; nil if the log does not have it.
  ///
  /// In any doubt, a cursor reads the block, and answers or throws as for every other read.
  ///
  /// - Parameter lastWanted: given the first sequence after a block, returns the last event before it that is wanted too:
  ///   the one that is asked for, or a later one.
  package func part(
    holding sequence: UInt64, lastWanted: ((_ end: UInt64) -> UInt64)? = nil
  ) throws(StoreError) -> EventPart? {
    if let part = partInMemory(holding: sequence, lastWanted: lastWanted) { return part }
    let mark = tail.mark
    guard sequence >= mark.logBegin, sequence <= mark.sequence else { return nil }
    if let part = try? readPart(holding: sequence, in: mark, lastWanted) { return part }
    guard let block = try block(holding: sequence) else { return nil }
    defer { withExtendedLifetime(block) {} }
    do throws(ContentProblem) {
      let whole = block.raw
      return try EventPart.decoding(
        block.header.unpacked, stored: whole, through: block.header.nextSequence - 1)
    } catch {
      throw error.storeError(of: block.header)
    }
  }

  /// The same if it is in memory: reads nothing. A reader's process asks the system whether the segment's file still has
  /// its name.
  package func partInMemory(
    holding sequence: UInt64, lastWanted: ((_ end: UInt64) -> UInt64)? = nil
  ) -> EventPart? {
    let mark = tail.mark
    guard sequence >= mark.logBegin, sequence <= mark.sequence,
      let handle = catalog.openSegment(containing: sequence),
      let place = handle.knownPlace(holding: sequence),
      let part = catalog.parts.part(
        PartCache.Key(file: handle.number, offset: place.offset), holding: sequence, lastWanted: lastWanted)
    else { return nil }
    return part
  }

  /// Reads a block, checks it as a cursor does, and decodes what is needed of it. Nil if its position is in doubt.
  private func readPart(
    holding sequence: UInt64, in mark: VisibleMark, _ lastWanted: ((UInt64) -> UInt64)?
  ) throws -> EventPart? {
    guard let handle = try catalog.segment(containing: sequence) else { return nil }
    let end = try end(of: handle, in: mark)
    guard let place = try handle.place(holding: sequence, end: end), place.end <= end else { return nil }
    var source = BlockSource(
      file: handle.file, segment: handle.header,
      step: Int(clamping: min(place.end - place.offset, LogSource.partStepMax)))
    guard case .valid(let block, let stored) = try source.block(at: place.offset, limit: end),
      !block.isControl, block.unsupported == nil, block.firstSequence <= sequence,
      sequence < block.nextSequence
    else { return nil }
    let key = PartCache.Key(file: handle.number, offset: place.offset)
    let part: EventPart
    if Int(block.rawLength) <= PartCache.shortLength {
      part = try EventPart.decoding(block, stored: stored, through: block.nextSequence - 1)
      catalog.parts.add(part, key)
    } else if catalog.parts.admits(key, block) {
      let packed = try PackedBlock(DecodedBlock(header: block, stored: stored))
      catalog.parts.add(packed, key)
      let index = packed.index(of: sequence)
      let last = lastWanted?(packed.endSequence(ofPart: index)) ?? sequence
      part = packed.part(index, holding: sequence, through: last).part
    } else {
      return try EventPart.decoding(
        block, stored: stored, through: lastWanted?(block.nextSequence) ?? sequence)
    }
    // A rewrite that ended before this was added has dropped what was there then.
    if !catalog.isCurrent(handle) { catalog.parts.drop(file: handle.number) }
    return part
  }

  /// Asks the disk for the blocks that hold these events, which ascend, unless they are in memory, and does not wait. Leaves
  /// out events whose block it could only find by reading.
  package func willRead(_ sequences: some Sequence<UInt64>) {
    var end: UInt64 = 0
    var count = 0
    for sequence in sequences where sequence >= end {
      guard count < Self.blocksAheadMax, let handle = catalog.openSegment(containing: sequence),
        let place = handle.knownPlace(holding: sequence)
      else { return }
      end = place.nextSequence
      if catalog.parts.has(PartCache.Key(file: handle.number, offset: place.offset)) { continue }
      handle.file.willRead(at: Int64(clamping: place.offset), count: Int(clamping: place.end - place.offset))
      count += 1
    }
  }

  /// How many blocks are asked for together.
  private static let blocksAheadMax = 64

  /// A longer block is read in two steps: its header first.
  private static let partStepMax: UInt64 = 1 << 20
}

extension BlockHeader {
  /// The header of a block that holds the same payload uncompressed. Only for bytes that are decoded already.
  fileprivate var unpacked: BlockHeader {
    var header = self
    header.codec = BlockCodec.none
    header.storedLength = rawLength
    return header
  }
}
