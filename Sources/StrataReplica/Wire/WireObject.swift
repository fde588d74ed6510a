// An object of a carrier: a header, and the appends of one or more blocks.

internal import StrataBase
package import StrataLog

/// An object whose header is valid and belongs where the object was found.
package struct WireObject: Sendable {
  package let header: WireHeader
  /// The whole object.
  package let bytes: [UInt8]
  /// What its carrier calls the form of it that was read.
  package var version: String?

  /// Makes an object of the appends of some blocks, one after another.
  ///
  /// - Parameters:
  ///   - header: number, writer, sequences, times and chain.
  ///   - payload: what a block of the log has as its payload.
  package init(_ header: WireHeader, payload: UnsafeRawBufferPointer) {
    var header = header
    header.headerLength = UInt16(WireHeader.length)
    let room = max(payload.count, Compression.bound(payload.count))
    bytes = [UInt8](unsafeUninitializedCapacity: WireHeader.length + room) { buffer, count in
      let whole = UnsafeMutableRawBufferPointer(buffer)
      let body = UnsafeMutableRawBufferPointer(rebasing: whole[WireHeader.length...])
      if let stored = Compression.compress(payload, into: body) {
        header.codec = BlockCodec.lz4
        header.storedLength = UInt32(stored)
      } else {
        header.codec = BlockCodec.none
        body.copyMemory(from: payload)
        header.storedLength = UInt32(payload.count)
      }
      header.rawLength = UInt32(payload.count)
      header.payloadChecksum = CRC32C.of(
        UnsafeRawBufferPointer(rebasing: body[..<Int(header.storedLength)]))
      header.write(to: whole.baseAddress!)
      count = WireHeader.length + Int(header.storedLength)
    }
    self.header = header
  }

  /// An object that says that its writer goes on after an event.
  package static func takeover(
    of store: StoreID, by writer: StoreID, number: UInt64, after end: WireEnd
  ) -> WireObject {
    var header = WireHeader(
      kind: WireKind.takeover, storeID: store, writer: writer, number: number,
      firstSequence: end.sequence &+ 1, appendsBefore: end.appends, chainBefore: end.chain,
      chainAfter: end.chain)
    header.firstTime = end.time
    header.lastTime = end.time
    return WireObject(header, payload: UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// Takes an object that was read under a number. Its payload is checked when it is decoded.
  ///
  /// - Parameter place: what messages call the object.
  /// - Throws: `damaged` or `unsupported`, with the place and, as far as known, the events in doubt.
  package init(
    decoding found: CarrierObject, of store: StoreID?, in place: String, after: UInt64
  ) throws(StoreError) {
    let (number, bytes) = (found.number, found.bytes)
    func finding(_ kind: StoreFinding.Class, _ what: String, last: UInt64 = 0) -> StoreFinding {
      StoreFinding(kind, file: place, offset: 0, first: after &+ 1, last: max(last, after &+ 1), what: what)
    }
    guard let header = bytes.withUnsafeBytes({ WireHeader(decoding: $0) }) else {
      throw .damaged(
        finding(.corrupt, "the header of the object is not that of one, or its checksum differs"))
    }
    guard store ?? header.storeID == header.storeID else {
      throw .damaged(finding(.misplaced, "the object is of the store \(header.storeID)"))
    }
    guard header.number == number else {
      throw .damaged(
        finding(.stale, "the object has number \(header.number), and was found under \(number)"))
    }
    if let what = header.unsupported { throw .unsupported(finding(.unsupported, what)) }
    guard header.isConsistent else {
      throw .damaged(finding(.corrupt, "the header of the object contradicts itself"))
    }
    let stored = bytes.count - Int(header.headerLength)
    guard stored == Int(header.storedLength), header.rawLength <= UInt32(FormatLimits.rawLengthMax),
      Int(header.rawLength) <= Compression.rawLengthMax(stored: stored),
      header.codec != BlockCodec.none || header.rawLength == header.storedLength
    else {
      throw .damaged(
        finding(.corrupt, "the object's lengths are not those that it has", last: header.lastSequence))
    }
    self.header = header
    self.bytes = bytes
    version = found.version
  }

  /// The appends that the object holds, with the chain over them recomputed.
  ///
  /// - Throws: `damaged` or `unsupported` if a byte of the payload is not as it was put there.
  package func block(in place: String) throws(StoreError) -> DecodedBlock {
    try bytes.lendBytes { whole throws(StoreError) in
      let stored = UnsafeRawBufferPointer(rebasing: whole[Int(header.headerLength)...])
      do throws(ContentProblem) {
        guard CRC32C.of(stored) == header.payloadChecksum else {
          throw .damaged("the checksum of the object's payload differs")
        }
        let block = try DecodedBlock(header: header.block, stored: stored)
        try block.verifyContent()
        return block
      } catch {
        throw error.storeError(
          in: place, at: UInt64(header.headerLength), first: header.firstSequence, last: header.lastSequence)
      }
    }
  }

  /// The state of the log after the object.
  package var end: WireEnd {
    WireEnd(
      sequence: header.lastSequence, chain: header.chainAfter, time: header.lastTime,
      appends: header.appendsBefore &+ UInt64(header.appendCount))
  }
}

/// The state of a log after an event, as every member has it.
package struct WireEnd: Equatable, Sendable {
  package var sequence: UInt64
  package var chain: UInt64
  package var time: Int64
  package var appends: UInt64

  package init(sequence: UInt64, chain: UInt64, time: Int64, appends: UInt64) {
    self.sequence = sequence
    self.chain = chain
    self.time = time
    self.appends = appends
  }

  /// After a block of the log.
  package init(_ block: BlockHeader) {
    self.init(
      sequence: block.nextSequence - 1, chain: block.chainAfter, time: block.lastTime,
      appends: block.appendsBefore + UInt64(block.appendCount))
  }

  /// Before the first event.
  package static let beginning = WireEnd(sequence: 0, chain: 0, time: FormatLimits.noTime, appends: 0)
}
