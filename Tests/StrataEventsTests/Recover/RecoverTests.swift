// Recovering a damaged store: every event of a block without damage is in the new one, at its sequence.

import Foundation
import StrataBase
import StrataDocuments
import StrataLog
import StrataSimulation
import Testing

@testable import StrataEvents

@Suite struct RecoverTests {
  @Test func `fault 110: every event of a block without damage is recovered, at its sequence`() throws {
    var (lost, kept, erased, unreadable) = (0, 0, 0, 0)
    let seeds = StrataSimulation.SeededGenerator.historySeeds(400)
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      var history = try DamagedHistory(&random)
      try history.damage(&random)
      let before = history.disk.contents(in: "/store")
      let recovery = try history.recovered()
      #expect(history.disk.contents(in: "/store") == before, "seed \(seed)")
      guard let recovery else {
        unreadable += 1
        continue
      }
      let found = try history.events(of: "/new")
      for event in history.events {
        let number = Int(event.sequence) - 1
        guard history.isWhole(event) else {
          lost += 1
          // What ends the log may be forgotten together with HEAD, and its place taken by a new note of an erasure.
          guard number < found.count else { continue }
          let isNote = !history.hasHead && found[number].isOfErasures
          #expect(found[number].isFiller || isNote, "seed \(seed), \(event.sequence)")
          continue
        }
        try #require(number < found.count, "seed \(seed), \(event.sequence)")
        if event.isErased {
          erased += 1
          #expect(found[number].isFiller, "seed \(seed), \(event.sequence)")
        } else {
          kept += 1
          #expect(found[number] == event, "seed \(seed), \(event.sequence)")
        }
      }
      let rest = found.dropFirst(history.events.count)
      #expect(rest.allSatisfy { $0.isOfErasures }, "seed \(seed)")
      if history.hasHead { #expect(found.count >= history.events.count, "seed \(seed)") }
      let fillers = found.count { $0.isFiller }
      #expect(UInt64(fillers) == recovery.lostCount + recovery.erasedCount, "seed \(seed)")
      let isWhole = history.events.allSatisfy { history.isWhole($0) }
      if isWhole { #expect(recovery.lostCount == 0, "seed \(seed): \(recovery.losses)") }
      if !isWhole || !history.hasHead { #expect(!recovery.losses.isEmpty, "seed \(seed)") }
      for loss in recovery.losses where loss.eventCount > 0 {
        #expect(
          history.events.allSatisfy {
            !(loss.first...loss.last).contains($0.sequence) || !history.isWhole($0)
          },
          "seed \(seed): \(loss)")
      }
      var verifier = LogVerifier(history.disk, path: "/new")
      let report = try verifier.run()
      #expect(report.isOK, "seed \(seed): \(report.findings)")
      try history.goesOn(found)
    }
    print(
      "recovered: \(kept) events, \(lost) lost, \(erased) erased; \(unreadable) stores without an identity")
    #expect(kept > 10_000 && lost > 1_000 && erased > 100)
    #expect(unreadable * 20 < seeds.count)
  }

  @Test func `a store without damage is recovered whole`() throws {
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: StoreOptions())
    try store.appendBlocking([NewEvent("t", in: "a/1", ["n": 1])], id: "one")
    try store.closeBlocking()
    let recovery = try EventStore.recoverBlocking(disk, from: "/store", into: "/new", on: disk)
    #expect(recovery.losses == [] && recovery.eventCount == 1 && recovery.head.sequence == 1)
    let new = try EventStore.open(disk, path: "/new", .readWrite, options: StoreOptions())
    #expect(new.id != store.id)
    // What comes before a position is what came before it, so it holds.
    #expect(try new.sequenceBlocking(of: .position(store.head)) == 1)
    #expect(throws: StoreError.self) {
      try new.appendBlocking([NewEvent("t", in: LossEvent.stream, payload: .opaque([]))])
    }
    try new.closeBlocking()
  }

  @Test(arguments: [false, true])
  func `fault 110: without HEAD, a damaged last block says which events are lost`(isCut: Bool) throws {
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: StoreOptions())
    for number in 1...3 { try store.appendBlocking([NewEvent("t", in: "a/1", ["n": DocumentValue(number)])]) }
    try store.closeBlocking()
    let block = try #require(DamagedHistory.blocks(disk, SegmentName(1)).last)
    let path = "/store/" + block.segment.path
    let place = block.range.lowerBound + BlockHeader.length + 8
    if isCut {
      disk.replace(path, Array(try #require(disk.contents(path))[..<place]))
    } else {
      disk.flipBit(path, place * 8)
    }
    disk.delete("/store/HEAD")
    let recovery = try EventStore.recoverBlocking(disk, from: "/store", into: "/new", on: disk)
    #expect(recovery.losses.map(\.file) == [path.dropFirst("/store/".count) + "", "HEAD"])
    #expect(recovery.losses.map(\.first) == [3, 4] && recovery.losses.map(\.eventCount) == [1, 0])
    #expect(recovery.head.sequence == 3 && recovery.eventCount == 2)
  }

  /// What a recovery of a store of four events, each in a segment of its own, names as lost: files and sequences.
  private func losses(
    hasHead: Bool = true, last: UInt64 = 4, _ damage: (SimulatedDisk, [SegmentName]) throws -> Void
  ) throws -> [String] {
    let disk = SimulatedDisk()
    var options = StoreOptions()
    options.sealsInBackground = false
    options.segmentSizeTarget = 1
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    for number in 1...4 { try store.appendBlocking([NewEvent("t", in: "a/1", ["n": DocumentValue(number)])]) }
    try store.closeBlocking()
    let names = try SegmentCatalog.names(disk, StoreLayout(root: "/store"))
    try #require(names == [1, 2, 3, 4])
    try damage(disk, names)
    if !hasHead { disk.delete("/store/HEAD") }
    let recovery = try EventStore.recoverBlocking(disk, from: "/store", into: "/new", on: disk)
    #expect(recovery.head.sequence == last)
    return recovery.losses.map { loss in
      let name =
        SegmentName(fileName: String(loss.file.dropFirst("log/".count))).map(\.description) ?? loss.file
      return "\(name): \(loss.eventCount == 0 ? "none" : "\(loss.first)…\(loss.last)")"
    }
  }

  @Test func `fault 110: a loss names the file that lacks the events`() throws {
    func path(_ name: SegmentName) -> String { "/store/" + name.path }
    #expect(try losses { disk, names in disk.replace(path(names[1]), []) } == ["2: 2…2"])
    #expect(
      try losses { disk, names in
        disk.delete(path(names[1]))
        disk.replace(path(names[2]), [])
      } == ["3: 2…2", "3: 3…3"])
    #expect(
      try losses { disk, names in
        disk.flipBit(path(names[1]), 3)
        disk.replace(path(names[2]), [])
      } == ["3: 3…3"])
    // The name of a file says what was before it.
    #expect(
      try losses(hasHead: false, last: 3) { disk, names in
        for name in names[1...] { disk.replace(path(name), []) }
      } == ["2: 2…2", "3: 3…3", "4: none", "HEAD: none"])
    #expect(try losses { disk, names in disk.delete(path(names[3])) } == ["HEAD: 4…4"])
  }

  @Test func `fault 110: headers of damaged blocks say which events are lost`() throws {
    func path(_ name: SegmentName) -> String { "/store/" + name.path }
    // The payload of the last block, and the header of its file.
    #expect(
      try losses(hasHead: false) { disk, names in
        disk.flipBit(path(names[3]), (SegmentHeader.length + BlockHeader.length + 8) * 8)
        disk.flipBit(path(names[3]), 3)
      } == ["4: 4…4", "HEAD: none"])
    // The last block is cut, and the header before it is damaged.
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: StoreOptions())
    for number in 1...3 { try store.appendBlocking([NewEvent("t", in: "a/1", ["n": DocumentValue(number)])]) }
    try store.closeBlocking()
    let blocks = DamagedHistory.blocks(disk, SegmentName(1))
    let file = path(SegmentName(1))
    disk.replace(file, Array(try #require(disk.contents(file))[..<(blocks[2].range.lowerBound + 180)]))
    disk.flipBit(file, (blocks[1].range.lowerBound + 60) * 8)
    disk.delete("/store/HEAD")
    let recovery = try EventStore.recoverBlocking(disk, from: "/store", into: "/new", on: disk)
    #expect(recovery.losses.map(\.eventCount) == [2, 0] && recovery.head.sequence == 3)
  }

  @Test func `what is damaged after the last event of a file is no loss if the next file goes on`() throws {
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: StoreOptions())
    try store.appendBlocking([NewEvent("t", in: "a/1", ["n": 1])])
    _ = try store.sealBlocking()
    try store.closeBlocking()
    let names = try SegmentCatalog.names(disk, StoreLayout(root: "/store"))
    try #require(names == [1, 2])
    let end = try #require(DamagedHistory.blocks(disk, names[0]).last?.range.upperBound)
    disk.flipBit("/store/" + names[0].path, (end + 8) * 8)
    let recovery = try EventStore.recoverBlocking(disk, from: "/store", into: "/new", on: disk)
    #expect(recovery.losses == [] && recovery.head.sequence == 1)
  }

  @Test func `a header that claims an impossible sequence is no block`() throws {
    let disk = SimulatedDisk()
    var options = StoreOptions()
    options.sealsInBackground = false
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    for number in 1...3 { try store.appendBlocking([NewEvent("t", in: "a/1", ["n": DocumentValue(number)])]) }
    try store.closeBlocking()
    let path = "/store/" + SegmentName(1).path
    var bytes = try #require(disk.contents(path))
    // The second block begins far later, with a right checksum and chain of its own.
    let place = try #require(DamagedHistory.blocks(disk, SegmentName(1)).dropFirst().first).range.lowerBound
    try bytes.withUnsafeMutableBytes { bytes in
      let base = try #require(bytes.baseAddress) + place
      var header = try #require(
        BlockHeader(decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[place...])))
      header.firstSequence = 1 << 60
      header.write(to: base)
    }
    disk.replace(path, bytes)
    let recovery = try EventStore.recoverBlocking(disk, from: "/store", into: "/new", on: disk)
    #expect(recovery.head.sequence == 3)
    #expect(recovery.losses.map(\.first) == [2] && recovery.losses.map(\.last) == [2])
    #expect(recovery.eventCount == 2)
    let new = try EventStore.open(disk, path: "/new", .readOnly, options: StoreOptions())
    #expect(throws: StoreError.position(.diverged(sequence: 3))) {
      try new.sequenceBlocking(of: .position(store.head))
    }
    try new.closeBlocking()
  }

  @Test func `a file that begins impossibly late is not filled up to`() throws {
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: StoreOptions())
    try store.appendBlocking([NewEvent("t", in: "a/1", ["n": 1])])
    try store.closeBlocking()
    let first = try #require(disk.contents("/store/" + SegmentName(1).path))
    var header = try first.withUnsafeBytes {
      try SegmentHeader(decoding: UnsafeRawBufferPointer(rebasing: $0[..<SegmentHeader.length]))
    }
    header.firstSequence = 1 << 60
    var bytes = header.encoded()
    let block = try #require(DamagedHistory.blocks(disk, SegmentName(1)).first)
    var moved = Array(first[block.range])
    try moved.withUnsafeMutableBytes { bytes in
      var header = try #require(BlockHeader(decoding: UnsafeRawBufferPointer(bytes)))
      header.firstSequence = 1 << 60
      header.segment = SegmentName(1 << 60)
      let payload = UnsafeRawBufferPointer(
        rebasing: UnsafeRawBufferPointer(bytes)[Int(header.headerLength)...])
      let decoded = try DecodedBlock(
        header: header,
        stored: UnsafeRawBufferPointer(rebasing: payload[..<Int(header.storedLength)]))
      try decoded.forEachEvent { event, append, sequence throws(ContentProblem) in
        header.chainAfter = Chain.next(
          after: header.chainBefore, sequence: sequence, revision: event.revision,
          head: XXH64.of(append.head),
          names: XXH64.of(event.names), content: event.contentHash)
      }
      header.write(to: try #require(bytes.baseAddress))
    }
    bytes += moved
    disk.add("/store/" + SegmentName(1 << 60).path, bytes)
    #expect {
      try EventStore.recoverBlocking(disk, from: "/store", into: "/new", on: disk)
    } throws: {
      if case .invalid(let what, _)? = $0 as? StoreError {
        what.contains("events are missing before")
      } else {
        false
      }
    }
  }

  @Test func `an event keeps the time that a lost one had raised`() throws {
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: StoreOptions())
    for time in [10, 100, 50] as [Int64] {
      try store.appendBlocking([NewEvent("t", in: "a/1", ["n": 1])], time: Timestamp(nanoseconds: time))
    }
    try store.closeBlocking()
    let block = DamagedHistory.blocks(disk, SegmentName(1))[1]
    disk.flipBit("/store/" + block.segment.path, (block.range.lowerBound + 200) * 8)
    let recovery = try EventStore.recoverBlocking(disk, from: "/store", into: "/new", on: disk)
    #expect(recovery.losses.map(\.first) == [2] && recovery.lostCount == 1)
    let new = try EventStore.open(disk, path: "/new", .readOnly, options: StoreOptions())
    #expect(try new.appendBlocking(holding: 3)?.time.nanoseconds == 100)
    #expect(try new.eventsBlocking(in: "a/1").map(\.time.nanoseconds) == [10, 50])
    try new.closeBlocking()
  }

  @Test func `a recovery writes to a new folder outside of the store, and leaves nothing if it fails`() throws
  {
    let folder = NSTemporaryDirectory() + "strata-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = "\(folder)/store"
    let store = try EventStore.openBlocking(at: path)
    try store.appendBlocking([NewEvent("t", in: "a/1", ["n": 1])])
    #expect(throws: StoreError.locked(path: path, holder: nil)) {
      try EventStore.recoverBlocking(from: path, to: "\(folder)/new")
    }
    try store.closeBlocking()
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/dangling", withDestinationPath: "\(folder)/nothing")
    try FileManager.default.createSymbolicLink(atPath: "\(folder)/inside", withDestinationPath: path)
    for target in [path, "\(path)/log/new", "\(folder)/inside/new", "\(folder)/dangling", folder] {
      #expect {
        try EventStore.recoverBlocking(from: path, to: target)
      } throws: {
        ($0 as? StoreError)?.reason == .cannotCreate
      }
    }
    #expect(throws: StoreError.self) {
      try EventStore.recoverBlocking(from: "\(folder)/nothing", to: "\(folder)/new")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(names.sorted() == ["dangling", "inside", "store"])
    let recovery = try EventStore.recoverBlocking(from: path, to: "\(folder)/new")
    #expect(recovery.eventCount == 1 && recovery.losses == [])
    try FileManager.default.copyItem(atPath: path, toPath: "\(folder)/third.unfinished")
    #expect(throws: StoreError.self) {
      try EventStore.recoverBlocking(from: "\(folder)/third.unfinished", to: "\(folder)/third")
    }
    #expect(FileManager.default.fileExists(atPath: "\(folder)/third.unfinished/HEAD"))
    // What was lost once is not there the second time.
    let second = try EventStore.recoverBlocking(from: "\(folder)/new", to: "\(folder)/second")
    #expect(second.head == recovery.head)
  }
}
