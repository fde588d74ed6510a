// A disk that is full: at every byte of a group, at a roll, at HEAD, at the quarantine, at an index.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct FullDiskTests {
  private static let root = "/store"
  private static let layout = StoreLayout(root: root)

  private static func options(step: Int = 0, segmentSize: Int = 1 << 20) -> StoreOptions {
    var options = StoreOptions()
    // Stands still, so that a group has the same length whenever it is made.
    options.clock = StoreClock { 1_767_225_600_000_000_000 }
    options.headSyncInterval = .seconds(3_600)
    options.segmentSizeTarget = segmentSize
    options.writesInStep = true
    options.preallocationStep = step
    return options
  }

  private func writer(_ disk: SimulatedDisk, _ options: StoreOptions = options()) throws -> Log {
    try Log.openWriter(disk, path: Self.root, options: options, storeID: StoreID(low: 1, high: 2))
  }

  private func event(_ stream: String, _ type: String = "t", payload: Int = 9) -> ModelEvent {
    ModelEvent(stream: stream, type: type, payload: (0..<payload).map { UInt8(truncatingIfNeeded: $0 &* 37) })
  }

  /// Appends to the log and the model.
  private func append(_ append: ModelAppend, to log: Log, _ model: inout LogModel) throws {
    model.add(append, time: try log.appendBlocking(append.draft()).time)
  }

  private func checkVerifies(_ disk: SimulatedDisk, _ what: String) throws {
    let findings = try disk.findings(inStore: Self.root)
    #expect(findings == [], "\(what)")
  }

  /// A store on a disk whose last byte is taken opens, reads as the model says, and closes.
  private func checkOpens(_ disk: SimulatedDisk, _ model: LogModel, _ what: String) throws {
    let after = disk.clone()
    after.capacity = after.usedSize
    let reader = try Log.openReader(after, path: Self.root, options: Self.options())
    #expect(model.difference(from: reader, countMin: model.appends.count) == nil, "\(what)")
    let log = try writer(after)
    #expect(log.tornBytes == 0 && log.mark.sequence == model.head, "\(what)")
    #expect(model.difference(from: log, countMin: model.appends.count) == nil, "\(what)")
    try log.close()
  }

  @Test(arguments: [SystemErrorCode.noSpace, SystemErrorCode.inputOutput])
  func `a group that cannot be written at any of its bytes is refused whole, and its streams go back`(
    code: Int32
  ) throws {
    let group = [
      ModelAppend([event("a"), event("b")], id: "1"), ModelAppend([event("a", "u")]),
      ModelAppend([event("new", payload: 40)]),
    ]
    let disk = SimulatedDisk()
    var model = LogModel()
    let log = try writer(disk)
    for stream in ["a", "b", "a"] { try append(ModelAppend([event(stream)]), to: log, &model) }
    let length = try groupLength(group, on: disk.clone())
    for count in 0..<length {
      let what = "\(count) bytes of \(length)"
      if code == SystemErrorCode.noSpace {
        disk.capacity = disk.usedSize + count
      } else {
        disk.inject(SimulatedFailure(of: [.write], code: code, partOfWrite: Double(count) / Double(length)))
      }
      let before = log.mark
      for result in try log.appendBlocking(group.map { $0.draft() }) {
        switch result {
        case .success: Issue.record("\(what): it is acknowledged")
        case .failure(.full): #expect(code == SystemErrorCode.noSpace, "\(what)")
        case .failure(let error): #expect(code != SystemErrorCode.noSpace, "\(what): \(error)")
        }
      }
      #expect(log.mark == before, "\(what)")
      let bytes = try #require(disk.contents(Self.layout.segment(1)))
      #expect(bytes.count == Int(before.visible.offset), "\(what): a part of the group is left")
      if count % 16 == 0 { try checkOpens(disk, model, what) }
      disk.capacity = nil
    }
    // There is room again: revisions, sequences and ids are as if nobody had tried.
    let expecting: [(stream: String, version: ExpectedVersion)] = [
      ("a", .exactly(2)), ("b", .exactly(1)), ("new", .exactly(0)),
    ]
    let outcome = try log.appendBlocking(group[0].draft(expecting: expecting))
    #expect(outcome.first == model.head + 1 && !outcome.isKnown)
    model.add(group[0], time: outcome.time)
    for one in group.dropFirst() { try append(one, to: log, &model) }
    #expect(model.difference(from: log, countMin: model.appends.count) == nil)
    try log.close()
    try checkVerifies(disk, "afterwards")
  }

  /// The bytes that these appends take as one group.
  private func groupLength(_ group: [ModelAppend], on disk: SimulatedDisk) throws -> Int {
    let log = try writer(disk)
    let before = log.mark.visible.offset
    for result in try log.appendBlocking(group.map { $0.draft() }) { _ = try result.get() }
    let length = Int(log.mark.visible.offset - before)
    try log.close()
    return length
  }

  @Test(arguments: [0, 4_096])
  func `a disk without room for the next segment goes on in this one, and rolls when there is room`(
    step: Int
  ) throws {
    let disk = SimulatedDisk()
    var model = LogModel()
    let log = try writer(disk, Self.options(step: step, segmentSize: 9_000))
    while log.mark.visible.offset < 9_000 { try append(ModelAppend([event("s")]), to: log, &model) }
    disk.capacity = disk.usedSize + 3_000
    for _ in 0..<5 {
      try append(ModelAppend([event("s")]), to: log, &model)
      #expect(log.source.catalog.names == [1])
      #expect(disk.paths.filter { $0.hasSuffix(".tmp") } == [], "what could not be made is left")
    }
    try checkOpens(disk, model, "full at a roll")
    disk.capacity = nil
    try append(ModelAppend([event("s")]), to: log, &model)
    #expect(log.source.catalog.names.count == 2)
    try log.close()
    try checkVerifies(disk, "afterwards")
  }

  @Test func `a HEAD that cannot be written ends the writer, and what was synced before it is found again`()
    throws
  {
    let disk = SimulatedDisk()
    var model = LogModel()
    let log = try writer(disk)
    try append(ModelAppend([event("s")]), to: log, &model)
    disk.onOperation { call in
      call.operation == .write && call.path == Self.layout.head ? .fail(SystemErrorCode.noSpace) : .proceed
    }
    for _ in 0..<3 {
      #expect {
        try log.appendBlocking(ModelAppend([event("s")]).draft())
      } throws: { error in
        (error as? StoreError)?.reason == .poisoned
      }
    }
    #expect(log.mark.sequence == model.head, "what was not acknowledged is not visible")
    disk.onOperation(nil)
    #expect(throws: StoreError.self) { try log.close() }
    // The group itself reached the disk. The caller was told that it is not known, so it may be there.
    model.add(ModelAppend([event("s")]), time: nil)
    try checkOpens(disk, model, "afterwards")
  }

  @Test func `a torn tail is in the segment or whole in quarantine, however much room there is`() throws {
    let tail = (0..<99).map { UInt8($0 + 1) }
    let origin = SimulatedDisk()
    var model = LogModel()
    let first = try writer(origin)
    try append(ModelAppend([event("s")]), to: first, &model)
    let end = Int(first.mark.visible.offset)
    try first.close()
    let segment = Self.layout.segment(1)
    // A writer that died while it wrote: HEAD is not clean.
    try CrashedWriter.unclean(origin, Self.root, Self.options())
    origin.replace(segment, origin.contents(segment)! + tail)
    var refused = 0
    for room in stride(from: 0, to: 700, by: 3) {
      let disk = origin.clone()
      disk.capacity = disk.usedSize + room
      let log = try writer(disk)
      #expect(log.tornBytes == 99)
      let outcome = Result { try log.appendBlocking(ModelAppend([event("s")]).draft()) }
      let bytes = try #require(disk.contents(segment))
      let kept = disk.paths.filter { $0.hasPrefix(Self.layout.quarantine) }.map { disk.contents($0) }
      switch outcome {
      case .success:
        #expect(kept == [tail], "room for \(room)")
      case .failure(let error):
        refused += 1
        #expect(model.difference(from: log, countMin: 1) == nil, "room for \(room)")
        #expect(throws: StoreError.full(path: (error as? StoreError)?.fullPath ?? "")) { throw error }
        #expect(Array(bytes[end...]) == tail || kept == [tail], "room for \(room)")
      }
      try log.close()
    }
    #expect(refused > 33 && refused < 233)
  }

  /// Adds the files of two states, and one that is no state's. Returns their bytes.
  private func addStates(to disk: SimulatedDisk) -> Int {
    for (number, folder) in ["a-1", "b-22"].enumerated() {
      disk.add("\(Self.layout.states)/\(folder)/\(StoreLayout.stateFile)", [UInt8](repeating: 1, count: 60))
      disk.add(
        "\(Self.layout.states)/\(folder)/\(StoreLayout.pageFileName(UInt32(number) + 1))",
        [UInt8](repeating: 2, count: 400))
    }
    disk.add("\(Self.layout.states)/a-1/other", [3])
    return 2 * 460
  }

  @Test
  func `fault 71: states give way to a group at each of its bytes, and to nothing that fails otherwise`()
    throws
  {
    let group = [ModelAppend([event("a"), event("b")], id: "1"), ModelAppend([event("new", payload: 400)])]
    let origin = SimulatedDisk()
    var model = LogModel()
    let first = try writer(origin)
    try append(ModelAppend([event("s")]), to: first, &model)
    try first.close()
    let room = addStates(to: origin)
    let length = try groupLength(group, on: origin.clone())
    #expect(length < room)
    for count in 0...length {
      let disk = origin.clone()
      let log = try writer(disk)
      var model = model
      disk.capacity = disk.usedSize + count
      for (append, result) in zip(group, try log.appendBlocking(group.map { $0.draft() })) {
        model.add(append, time: try result.get().time)
      }
      let names = disk.paths.filter { $0.hasPrefix(Self.layout.states) }
      #expect(names.count == (count < length ? 1 : 5), "\(count) of \(length) bytes")
      #expect(model.difference(from: log, countMin: model.appends.count) == nil)
      let after = disk.crash(seed: UInt64(count), model: .dropAll)
      try checkOpens(after, model, "\(count) of \(length) bytes")
      try log.close()
    }
    let disk = origin.clone()
    let log = try writer(disk)
    disk.inject(SimulatedFailure(of: [.write], code: SystemErrorCode.inputOutput, partOfWrite: 0.5))
    #expect(throws: StoreError.self) { try log.appendBlocking(group[0].draft()) }
    #expect(disk.paths.filter { $0.hasPrefix(Self.layout.states) }.count == 5)
    // A file that was replaced says that another writer may have the store, whose states they are.
    disk.delete(Self.layout.lock)
    disk.capacity = disk.usedSize
    #expect(throws: StoreError.self) { try log.appendBlocking(group[0].draft()) }
    #expect(disk.paths.filter { $0.hasPrefix(Self.layout.states) }.count == 5)
  }

  @Test func `states give way to a torn tail that is kept, and to the note of it`() throws {
    let tail = (0..<99).map { UInt8($0 + 1) }
    let origin = SimulatedDisk()
    var model = LogModel()
    let first = try writer(origin)
    try append(ModelAppend([event("s")]), to: first, &model)
    try first.close()
    try CrashedWriter.unclean(origin, Self.root, Self.options())
    let segment = Self.layout.segment(1)
    origin.replace(segment, origin.contents(segment)! + tail)
    _ = addStates(to: origin)
    for free in stride(from: 0, to: 400, by: 7) {
      let disk = origin.clone()
      let log = try writer(disk)
      disk.capacity = disk.usedSize + free
      var model = model
      try append(ModelAppend([event("s")]), to: log, &model)
      let kept = disk.paths.filter { $0.hasPrefix(Self.layout.quarantine) }.map { disk.contents($0) }
      #expect(kept == [tail], "room for \(free)")
      #expect(model.difference(from: log, countMin: 2) == nil, "room for \(free)")
      try log.close()
    }
  }

  @Test func `an index that cannot be written is no loss`() throws {
    let disk = SimulatedDisk()
    var model = LogModel()
    disk.onOperation { call in
      let isIndex = call.path.hasPrefix(Self.layout.derived)
      return call.operation == .write && isIndex ? .fail(SystemErrorCode.noSpace) : .proceed
    }
    for _ in 0..<2 {
      let log = try writer(disk, Self.options(segmentSize: 1))
      for stream in ["a", "b", "a", "c"] { try append(ModelAppend([event(stream)]), to: log, &model) }
      for stream in ["a", "b", "c", "d"] {
        #expect(try log.index.revision(of: Array(stream.utf8)) == model.version(of: stream))
      }
      try log.close()
    }
    #expect(disk.paths.allSatisfy { !$0.hasSuffix(".tmp") })
    try checkVerifies(disk, "without an index")
  }
}

extension StoreError {
  fileprivate var fullPath: String? { if case .full(let path) = self { path } else { nil } }
}

/// Leaves a store as a process does that is killed between two appends.
private enum CrashedWriter {
  static func unclean(_ disk: SimulatedDisk, _ root: String, _ options: StoreOptions) throws {
    let log = try Log.openWriter(disk, path: root, options: options)
    disk.onOperation { $0.operation.isChange ? .fail(SystemErrorCode.inputOutput) : .proceed }
    try? log.close()
    disk.onOperation(nil)
  }
}
