// The blocks of one segment that are whole, whatever lies between them.

internal import StrataBase

/// Walks over a file from one whole block to the next. A block is whole if its header and its payload have their
/// checksums, it was written for its place, and its events have the chain that its header names.
///
/// Where a header is damaged, the next one is searched for at every multiple of 8 bytes. Where only a payload is, its
/// header says where it ends. What cannot be read is damage, too. O(bytes of the file).
struct SegmentSalvage: ~Copyable {
  /// What is wrong at the first place after the last whole block.
  struct Trouble {
    var offset: UInt64
    var what: String
  }

  private let segment: SegmentHeader
  private let size: UInt64
  private var source: BlockSource
  private var search: SegmentWindow
  private var offset = UInt64(SegmentHeader.length)
  /// The end of the last block that was taken.
  private var taken = UInt64(SegmentHeader.length)
  private(set) var trouble: Trouble?
  /// The last sequence of the blocks after that whose header is there.
  private(set) var lastNamed: UInt64 = 0

  init(file: any File, segment: SegmentHeader, size: UInt64) {
    self.segment = segment
    self.size = size
    source = BlockSource(file: file, segment: segment)
    search = SegmentWindow(file: file, step: Self.searchStep)
  }

  /// The most events that can have been between the last block that was taken and an offset. LZ4 leaves a 255th at
  /// best, and an event has 17 bytes at least.
  func eventsMax(before offset: UInt64) -> UInt64 {
    (max(offset, taken) - taken).multipliedReportingOverflow(by: 16).partialValue
  }

  /// The next whole block of events; nil at the end of the file.
  ///
  /// - Throws: `unsupported` for a block that a newer version wrote.
  mutating func next() throws(StoreError) -> DecodedBlock? {
    while offset < size {
      let place = offset
      switch header(at: place) {
      case .failure(let trouble):
        note(trouble.what, at: place)
        noteName(at: place)
        offset = nextHeader(after: place) ?? size
      case .success(let header):
        offset = header.end
        if let what = header.unsupported {
          throw .unsupported(
            StoreFinding(
              .unsupported, file: segment.segment.path, offset: place, first: header.firstSequence,
              last: header.nextSequence &- 1, what: what))
        }
        guard !header.isControl else { continue }
        if let block = try block(at: place) { return block }
        lastNamed = max(lastNamed, header.nextSequence &- 1)
      }
    }
    return nil
  }

  /// Notes that a block was used: what is wrong before it is known.
  mutating func take(_ block: BlockHeader) {
    taken = block.end
    trouble = nil
    lastNamed = 0
  }

  /// Notes what is wrong with a block that is not used.
  mutating func note(_ what: String, at place: UInt64) {
    if trouble == nil { trouble = Trouble(offset: place, what: what) }
  }

  // MARK: Blocks

  private mutating func header(at place: UInt64) -> Result<BlockHeader, ReadProblem> {
    do throws(StoreError) {
      return try source.header(at: place, limit: size).mapError { ReadProblem($0) }
    } catch { return .failure(ReadProblem(error)) }
  }

  /// Notes which events a header names whose block cannot be there, as where the file was cut.
  private mutating func noteName(at place: UInt64) {
    if let header = placedHeader(at: place) { lastNamed = max(lastNamed, header.nextSequence &- 1) }
  }

  /// The header that was written for an offset.
  private mutating func placedHeader(at place: UInt64) -> BlockHeader? {
    let bytes: UnsafeRawBufferPointer
    do throws(StoreError) {
      bytes = try search.bytes(at: place, length: BlockHeader.lengthMax, limit: size)
    } catch {
      return nil
    }
    guard let header = BlockHeader(decoding: bytes), header.ownOffset == place,
      header.segment == segment.segment, header.storeID == segment.storeID,
      header.nextSequence > header.firstSequence
    else { return nil }
    return header
  }

  /// The block at an offset whose header is valid; nil if the rest of it is not whole.
  private mutating func block(at place: UInt64) throws(StoreError) -> DecodedBlock? {
    let verdict: BlockVerdict
    do throws(StoreError) { verdict = try source.block(at: place, limit: size) } catch {
      note(error.what, at: place)
      return nil
    }
    switch verdict {
    case .invalid(let problem):
      note(ReadProblem(problem).what, at: place)
      return nil
    case .valid(let header, let payload):
      do throws(ContentProblem) {
        let block = try DecodedBlock(header: header, stored: payload)
        try block.verifyContent()
        return block
      } catch {
        guard case .damaged(let what) = error else { throw error.storeError(of: header) }
        note(what, at: place)
        return nil
      }
    }
  }

  // MARK: Search

  private static let searchStep = 1 << 16
  /// Of what cannot be read, this much is passed over at a time.
  private static let sector: UInt64 = 4096

  /// The offset of the next valid header after a place.
  private mutating func nextHeader(after place: UInt64) -> UInt64? {
    let magic = UInt32(littleEndian: BlockHeader.magic.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) })
    var begin = place + 8
    var step = UInt64(Self.searchStep)
    while begin < size {
      let found: (candidates: [UInt64], length: UInt64)
      do throws(StoreError) { found = try candidates(magic, from: begin, length: step) } catch {
        guard step > Self.sector else {
          begin = (begin / Self.sector + 1) * Self.sector
          continue
        }
        // The part that can be read ends at a sector.
        step = Self.sector - begin % Self.sector
        continue
      }
      // The file is shorter by now.
      guard found.length > 0 else { return nil }
      for candidate in found.candidates {
        if case .success = header(at: candidate) { return candidate }
        noteName(at: candidate)
      }
      begin += found.length
      step = begin % Self.sector == 0 ? UInt64(Self.searchStep) : Self.sector - begin % Self.sector
    }
    return nil
  }

  /// The offsets of what begins like a header that was written there, and how much was looked at.
  private mutating func candidates(
    _ magic: UInt32, from begin: UInt64, length: UInt64
  ) throws(StoreError) -> ([UInt64], UInt64) {
    let bytes = try search.bytes(at: begin, length: Int(length), limit: size)
    var found: [UInt64] = []
    for place in stride(from: 0, to: bytes.count - 3, by: 8)
    where UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)) == magic {
      // A header names its place. At the end of the bytes it may go on after them.
      let end = place + BlockHeader.Offset.ownOffset
      if end + 8 <= bytes.count {
        let own = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: end, as: UInt64.self))
        guard own == begin + UInt64(place) else { continue }
      }
      found.append(begin + UInt64(place))
    }
    return (found, UInt64(bytes.count))
  }
}

/// Why nothing can be read at an offset.
private struct ReadProblem: Error {
  var what: String

  init(_ problem: BlockProblem) {
    switch problem {
    case .corrupt(let what), .misplaced(let what), .stale(let what): self.what = what
    }
  }

  init(_ error: StoreError) { what = error.what }
}
