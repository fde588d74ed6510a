// Finds an append by its commit time or by its number: segments by their headers, blocks by the table, appends by walking one
// block.

internal import StrataBase

/// The position of an append, and its time and number.
package struct AppendPosition: Hashable, Sendable {
  package var first: UInt64
  package var last: UInt64
  /// The commit time.
  package var time: Int64
  /// The time that was given for it, otherwise the commit time.
  package var ownTime: Int64
  /// The number of appends in the store up to and including this one.
  package var ordinal: UInt64
}

extension Log {
  /// The last append whose commit time is not later than `time`, or nil if all are later. One binary search over
  /// segments, one over blocks, one block decoded.
  package func lastAppend(
    committedNotAfter time: Int64, in mark: VisibleMark
  ) throws(StoreError) -> AppendPosition? {
    guard mark.sequence >= mark.logBegin else { return nil }
    return try search(
      in: mark,
      segment: { header in header.previousTime <= time && header.previousTime != FormatLimits.noTime },
      place: { handle, end throws(StoreError) in
        try handle.place(forTime: time, end: end, through: mark.sequence)
      },
      append: { append in append.time <= time })
  }

  /// The append with a number, counted from 1 over the life of the store.
  package func append(ordinal: UInt64) throws(StoreError) -> AppendPosition? {
    let mark = mark
    guard ordinal > 0, ordinal <= mark.appends else { return nil }
    return try search(
      in: mark,
      segment: { header in header.appendsBefore < ordinal },
      place: { handle, end throws(StoreError) in
        try handle.place(forAppend: ordinal - 1, end: end, through: mark.sequence)
      },
      append: { append in append.ordinal <= ordinal })
  }

  /// The append that holds a sequence.
  package func append(holding sequence: UInt64) throws(StoreError) -> AppendPosition? {
    guard let block = try block(holding: sequence) else { return nil }
    return try lastAppend(in: block) { $0.first <= sequence }
  }

  /// - Parameter mark: the end of the search. The files may extend past it, and so may the known blocks.
  private func search(
    in mark: VisibleMark,
    segment isBefore: (SegmentHeader) -> Bool,
    place: (SegmentHandle, UInt64) throws(StoreError) -> BlockAddress?,
    append: (AppendPosition) -> Bool
  ) throws(StoreError) -> AppendPosition? {
    let names = source.catalog.names.filter { $0 <= mark.segment }
    // The first segment always qualifies; each other one qualifies if its predecessor ends at or before the target.
    var low = 1
    var high = names.count
    while low < high {
      let middle = (low + high) / 2
      if isBefore(try source.catalog.segment(names[middle]).header) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    for number in stride(from: min(low, names.count) - 1, through: 0, by: -1) {
      let handle = try source.catalog.segment(names[number])
      let end = try source.end(of: handle, in: mark)
      guard let found = try place(handle, end) else { continue }
      let block = try block(at: found, of: handle, end: end)
      return try lastAppend(in: block) { $0.last <= mark.sequence && append($0) }
    }
    return nil
  }

  /// Reads a block of the same file in which its position was found: another file with other blocks may have the name
  /// by now.
  private func block(
    at place: BlockAddress, of handle: SegmentHandle, end: UInt64
  ) throws(StoreError) -> DecodedBlock {
    var blocks = BlockSource(file: handle.file, segment: handle.header, step: 1 << 16)
    let (offset, first) = (place.offset, place.firstSequence)
    let verdict: BlockVerdict
    do throws(StoreError) { verdict = try blocks.block(at: offset, limit: end) } catch {
      throw .unreadable(error, path: handle.file.path, offset: offset, sequences: first...first)
    }
    switch verdict {
    case .invalid(let problem):
      throw .damaged(problem.finding(in: handle.name, at: offset, first: first, last: first))
    case .valid(let header, let payload):
      if let what = header.unsupported {
        throw .unsupported(
          StoreFinding(
            .unsupported, file: handle.name, offset: offset, first: first, last: header.nextSequence &- 1,
            what: what))
      }
      do throws(ContentProblem) { return try DecodedBlock(header: header, stored: payload) } catch {
        throw error.storeError(in: handle.name, at: offset, first: first, last: header.nextSequence &- 1)
      }
    }
  }

  /// The last append of a block for which something holds, or nil.
  func lastAppend(
    in block: DecodedBlock, where isBefore: (AppendPosition) -> Bool
  ) throws(StoreError) -> AppendPosition? {
    var found: AppendPosition?
    var ordinal = block.header.appendsBefore
    do throws(ContentProblem) {
      try block.forEachAppend { append, first throws(ContentProblem) in
        ordinal += 1
        let place = AppendPosition(
          first: first, last: first + UInt64(append.eventCount) - 1, time: append.commitTime,
          ownTime: append.ownTime, ordinal: ordinal)
        assert(place.last < block.header.nextSequence, "an append is inside its block")
        if isBefore(place) { found = place }
      }
    } catch {
      throw error.storeError(of: block.header)
    }
    return found
  }
}
