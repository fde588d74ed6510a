// The stores that differ from a whole one in a number at an end of its range.

import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

enum ExtremeStores {
  /// Calls the body with each store of a place: what is forged in it, and its files.
  static func forEach(
    _ place: ExtremePlace, _ base: NumberedStore, _ body: (String, FileBytesByPath) throws -> Void
  ) throws {
    let fields: [NumberField]
    switch place {
    case .head: fields = base.headFields
    case .segmentHeaders: fields = base.segmentHeaderFields
    case .blockHeaders: fields = base.blockHeaderFields
    case .payloads: fields = base.payloadFields
    case .indexes: fields = base.indexFields
    case .chained: return try forEachChained(base, body)
    case .indexValues: return try forEachIndex(base, body)
    case .sequences: return try forEachBeginning(body)
    case .erasures: return try forEachOrder(body)
    }
    for field in fields {
      for number in field.extremes {
        if let files = field.put(number, in: base.files) { try body("\(field): \(number)", files) }
      }
    }
  }

  /// Times and revisions in the last block under a chain that holds, and no HEAD that knows another.
  private static func forEachChained(
    _ base: NumberedStore, _ body: (String, FileBytesByPath) throws -> Void
  ) throws {
    let block = try #require(base.blocks[2].last)
    for field in base.payloadFields where field.path == base.segments[2].path {
      for number in field.extremes {
        guard var files = field.put(number, in: base.files), var bytes = files[field.path] else { continue }
        let begin = Int(block.ownOffset) + BlockHeader.length
        var (header, chain) = (block, block.chainBefore)
        let payload = Array(bytes[begin..<begin + Int(block.storedLength)])
        try payload.withUnsafeBytes { stored in
          let decoded = try DecodedBlock(header: block, stored: stored)
          try? decoded.forEachEvent { event, append, sequence in
            chain = Chain.next(
              after: chain, sequence: sequence, revision: event.revision, head: XXH64.of(append.head),
              names: XXH64.of(event.names), content: event.contentHash)
            (header.firstTime, header.lastTime) = (append.commitTime, append.commitTime)
          }
        }
        header.chainAfter = chain
        header.payloadChecksum = payload.withUnsafeBytes { CRC32C.of($0) }
        bytes.withUnsafeMutableBytes { header.write(to: $0.baseAddress! + Int(block.ownOffset)) }
        files[field.path] = bytes
        files[StoreLayout.headName] = nil
        try body("\(field): \(number), chained", files)
      }
    }
  }

  /// Indexes whose values are other numbers, written as indexes are.
  private static func forEachIndex(
    _ base: NumberedStore, _ body: (String, FileBytesByPath) throws -> Void
  ) throws {
    let first = base.segments[0]
    let layout = NumberedStore.layout
    let chain = try #require(base.blocks[0].last).chainAfter
    let identity = IndexIdentity(
      store: StoreID(low: 1, high: 2), firstSequence: first.firstSequence,
      lastSequence: base.segments[1].lastBefore, chain: chain)
    for number in NumberField.extremes {
      let streams: [[UInt64]] = [
        [number, 0], [0, number], [1, number, 0], [5, 0, number], [2, number, 0], [2, 0, number], [number],
      ]
      for stream in streams {
        let disk = NumberedStore.disk(base.files)
        let file = try disk.open(layout.index(first), .create)
        var writer = IndexFileWriter(file: file, identity: identity)
        func add(_ key: String, _ numbers: [UInt64]) throws {
          var value = RawBuffer(capacity: 64)
          for number in numbers { value.append(varint: number) }
          let bytes = Array(value.bytes)
          try Array(key.utf8).withUnsafeBytes { key in
            try bytes.withUnsafeBytes { try writer.add(key: key, value: $0) }
          }
        }
        try add("bbare", stream)
        try add("cincident", stream)
        try add("sincident/0", stream)
        try add("sincident/1", stream)
        try add("t$put", stream)
        try writer.finish(ids: [(XXH64.of(Array("a:1".utf8)), 0)])
        file.close()
        var files = base.files
        let name = "\(StoreLayout.derivedName)/\(layout.index(first).split(separator: "/").last!)"
        files[name] = disk.contents(layout.index(first))
        try body("index values \(stream)", files)
      }
    }
  }

  /// Stores whose first event has such a sequence, as a long life and a trim would leave them, and some appends.
  private static func forEachBeginning(_ body: (String, FileBytesByPath) throws -> Void) throws {
    for first in NumberField.extremes + [.max - 2, .max - 3, .max - 4] where first > 0 {
      for appends in [0, first - 1, .max - 2, .max] {
        let disk = SimulatedDisk()
        var header = SegmentHeader(
          storeID: StoreID(low: 1, high: 2), firstSequence: first, epoch: 1, created: 0)
        header.previousFirst = first > 1 ? 1 : 0
        header.previousLast = first - 1
        header.previousChain = 77
        header.previousTime = .max - 2
        header.appendsBefore = appends
        disk.add(NumberedStore.layout.segment(header.segment), header.encoded())
        let store = try EventStore.open(
          disk, path: NumberedStore.root, .readWrite, options: NumberedStore.options)
        for number in 0..<3 {
          _ = try? store.appendBlocking(
            [NewEvent("$put", in: StreamName("incident/\(number)"), ["n": 1])], id: "a:\(number)")
        }
        try store.closeBlocking()
        var files: FileBytesByPath = [:]
        for path in disk.paths {
          files[String(path.dropFirst(NumberedStore.root.count + 1))] = disk.contents(path)
        }
        try body("a log from \(first) with \(appends) appends before it", files)
      }
    }
  }

  /// Orders to erase such sequences, that nobody has carried out.
  private static func forEachOrder(_ body: (String, FileBytesByPath) throws -> Void) throws {
    for low in NumberField.extremes {
      for high in [0, 1, low, .max] {
        let disk = SimulatedDisk()
        let store = try EventStore.open(
          disk, path: NumberedStore.root, .readWrite, options: NumberedStore.options)
        for number in 0..<2 {
          try store.appendBlocking([NewEvent("$put", in: StreamName("incident/\(number)"), ["n": 1])])
        }
        let order: DocumentValue = [
          "streams": ["incident/1"], "sequences": [[DocumentValue(low), DocumentValue(high)], [1, 1]],
          "reason": "a test",
        ]
        let draft = AppendDraft()
        let (stream, type) = (Array(ErasureEvent.stream.text.utf8), Array(ErasureEvent.order.utf8))
        let payload = order.cbor()
        stream.withUnsafeBytes { stream in
          type.withUnsafeBytes { type in
            payload.withUnsafeBytes { payload in
              draft.add(
                stream: stream, type: type, codec: PayloadCodec.cbor.rawValue,
                metadata: UnsafeRawBufferPointer(start: nil, count: 0), payload: payload)
            }
          }
        }
        _ = try store.log.appendBlocking(draft)
        try store.log.setErasing(true)
        try store.closeBlocking()
        var files: FileBytesByPath = [:]
        for path in disk.paths {
          files[String(path.dropFirst(NumberedStore.root.count + 1))] = disk.contents(path)
        }
        try body("an order to erase \(low) to \(high)", files)
      }
    }
  }
}
