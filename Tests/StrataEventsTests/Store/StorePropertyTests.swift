// Random stores held against plain arrays and dictionaries, through every way of reading them.

import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

/// A store and the model that it must agree with.
struct ModelledStore {
  let fileSystem: any FileSystem
  let path: String
  var options = StoreOptions()
  var store: EventStore
  var model = LogModel()
  var source: RandomAppends
  var random: StrataSimulation.SeededGenerator

  init(_ fileSystem: any FileSystem = MemoryFileSystem(), path: String = "/store", seed: UInt64) throws {
    self.fileSystem = fileSystem
    self.path = path
    random = StrataSimulation.SeededGenerator(seed: seed)
    source = RandomAppends(seed: random.next(), sizeTypical: 60, sizeMax: 9_000, streamCount: 30)
    options.segmentSizeTarget = [1, 6_000, 20_000, 100_000].randomElement(using: &random)!
    options.blockSizeTarget = [1, 400, 4_000].randomElement(using: &random)!
    // On request instead, so that the blocks stay what they are while they are counted.
    options.sealsInBackground = false
    options.groupSizeMax = [300, 5_000, 1 << 20].randomElement(using: &random)!
    options.padsGroupsToPages = Int.random(in: 0..<6, using: &random) == 0
    options.durability = Durability.allCases.randomElement(using: &random)!
    let clock = Lock((random.split(), Int64(1_000_000)))
    // Jumps forward, stands still, and runs backwards.
    options.clock = StoreClock {
      clock.withLock { clock in
        clock.1 += [0, 0, 1, 5_000, -4_000].randomElement(using: &clock.0)!
        return clock.1
      }
    }
    store = try EventStore.open(fileSystem, path: path, .readWrite, options: options)
  }

  mutating func reopen() throws {
    try store.closeBlocking()
    store = try EventStore.open(fileSystem, path: path, .readWrite, options: options)
  }

  static func event(_ event: ModelEvent) -> NewEvent {
    NewEvent(
      event.type, in: StreamName(event.stream), payload: .opaque(event.payload),
      metadata: event.metadata.isEmpty ? [:] : ["k": .int(Int64(event.metadata[4]))])
  }

  /// An append as StrataEvents writes it: codecs of its own only.
  mutating func next() -> ModelAppend {
    var append = source.append()
    for index in append.events.indices { append.events[index].codec = 3 }
    if Int.random(in: 0..<6, using: &random) == 0 {
      append.given = 1_000_000 + Int64.random(in: -10_000...40_000, using: &random)
    }
    return append
  }

  /// Appends as a task or as a thread.
  private mutating func submit(
    _ events: [NewEvent], id: String?, time: Timestamp?, expecting: [StreamName: ExpectedVersion]
  ) async -> Result<AppendReceipt, any Error> {
    let isBlocking = Bool.random(using: &random)
    do {
      if isBlocking {
        return .success(try store.appendBlocking(events, id: id, time: time, expecting: expecting))
      }
      return .success(try await store.append(events, id: id, time: time, expecting: expecting))
    } catch { return .failure(error) }
  }

  /// Appends something, and expects of the store what the model says.
  mutating func step() async throws {
    let append = next()
    let events = append.events.map(Self.event)
    var expecting: [StreamName: ExpectedVersion] = [:]
    var isMet = true
    if Bool.random(using: &random) {
      let stream = Bool.random(using: &random) ? append.events[0].stream : source.stream()
      let held = model.version(of: stream)
      let version: ExpectedVersion = [
        .exists, .noStream, .exactly(held), .exactly(held + UInt64.random(in: 0...1, using: &random)), .any,
      ].randomElement(using: &random)!
      expecting[StreamName(stream)] = version
      isMet = model.meets(version, of: stream)
    }
    let given = append.given.map { Timestamp(nanoseconds: $0) }
    switch await submit(events, id: append.id, time: given, expecting: expecting) {
    case .success(let receipt):
      #expect(isMet, "a conflict was not noticed")
      #expect(receipt.sequences.lowerBound == model.head + 1 && !receipt.wasKnown)
      #expect(receipt.sequences.count == events.count)
      #expect(given == nil || receipt.time.nanoseconds >= append.given!)
      model.add(append, time: receipt.time.nanoseconds, given: receipt.givenTime?.nanoseconds)
    case .failure(StoreError.conflict(let stream, let expected, let actual)):
      #expect(!isMet, "\(stream) was refused at \(actual), \(expected)")
      #expect(actual == model.version(of: stream))
    case .failure(let error):
      throw error
    }
    if let id = append.id, isMet, Bool.random(using: &random) {
      let again = try store.appendBlocking(events, id: id, expecting: expecting)
      #expect(again.wasKnown && again.sequences == model.appends.last!.first...model.head)
      #expect(throws: StoreError.self) {
        try store.appendBlocking(events + events, id: id)
      }
    }
  }

  // MARK: Reading

  func expectEqual(_ event: RecordedEvent, sequence: UInt64) throws {
    let append = try #require(model.append(holding: sequence))
    let expected = append.events[Int(sequence - append.first)]
    #expect(event.sequence == sequence)
    #expect(event.stream.text == expected.stream && event.type == expected.type)
    #expect(event.payload.bytes == expected.payload && event.metadataBytes == expected.metadata)
    #expect(event.time.nanoseconds == append.ownTime && event.state == .whole)
    let places = try #require(model.streams[expected.stream])
    #expect(places[Int(event.revision) - 1] == sequence)
  }

  func expectEqual(_ append: RecordedAppend, _ expected: ModelAppend) throws {
    #expect(append.sequences == expected.first...expected.last)
    #expect(append.id == expected.id && append.time.nanoseconds == expected.time)
    if let given = expected.given {
      #expect(append.givenTime?.nanoseconds == given)
    } else if let clock = append.givenTime {
      // The clock ran backwards: what it said is kept beside the time that was raised.
      #expect(clock < append.time)
    }
    for (index, event) in append.events.enumerated() {
      try expectEqual(event, sequence: expected.first + UInt64(index))
    }
  }

  /// Asks a store everything that the model knows.
  mutating func check(_ store: EventStore) async throws {
    #expect(store.head.sequence == model.head)
    #expect(store.lastTime?.nanoseconds == model.appends.last?.time)
    try await checkSequences(store)
    try await checkStreams(store)
    try checkTimesAndOrdinals(store)
    try await checkFeeds(store)
  }

  private mutating func checkSequences(_ store: EventStore) async throws {
    for _ in 0..<10 where model.head > 0 {
      let sequence = UInt64.random(in: 1...model.head, using: &random)
      let append = try #require(try store.appendBlocking(holding: sequence))
      try expectEqual(append, try #require(model.append(holding: sequence)))
    }
    #expect(try store.appendBlocking(holding: 0) == nil)
    #expect(try store.appendBlocking(holding: model.head + 1) == nil)
    #expect(try await store.append(holding: .max) == nil)
    for (id, place) in model.ids {
      let append = try #require(try await store.append(withID: id), "the id \(id) is not found")
      #expect(append.sequences.lowerBound == model.appends[place].first)
    }
    #expect(try await store.append(withID: "no such id") == nil)
  }

  /// Where each block of the log begins.
  static func blockStarts(_ store: EventStore) throws -> [UInt64] {
    var starts: [UInt64] = []
    var cursor = store.log.cursor(after: 0)
    while let block = try cursor.next() { starts.append(block.header.firstSequence) }
    return starts
  }

  private mutating func checkStreams(_ store: EventStore) async throws {
    let starts = try Self.blockStarts(store)
    for (stream, sequences) in model.streams {
      let version = try await store.version(of: StreamName(stream))
      #expect(version == UInt64(sequences.count))
      let after = UInt64.random(in: 0...UInt64(sequences.count) + 1, using: &random)
      let limit = Int.random(in: 1...sequences.count + 1, using: &random)
      let wanted = Array(sequences.dropFirst(Int(after)).prefix(limit))
      var reader = StreamReader(log: store.log)
      let events = try reader.events(of: Array(stream.utf8), after: after, limit: limit)
      #expect(events.map(\.sequence) == wanted)
      for event in events { try expectEqual(event, sequence: event.sequence) }
      let blocks = Set(wanted.map { sequence in starts.last { $0 <= sequence }! })
      #expect(reader.partsRead == blocks.count, "only blocks that hold \(stream) are read")
    }
    #expect(try await store.version(of: "no/such") == 0)
    #expect(try await store.events(in: "no/such").isEmpty)
  }

  private mutating func checkTimesAndOrdinals(_ store: EventStore) throws {
    let times = model.appends.compactMap(\.time) + model.appends.compactMap(\.given)
    var asked = [Int64.min + 1, .max]
    for _ in 0..<10 {
      guard let time = times.randomElement(using: &random) else { break }
      asked += [time, time - 1, time + 1]
    }
    for time in asked {
      #expect(try store.log.lastAppend(notAfter: time)?.first == model.lastAppend(notAfter: time)?.first)
    }
    for _ in 0..<10 {
      let ordinal = UInt64.random(in: 0...UInt64(model.appends.count) + 1, using: &random)
      let found = try store.log.append(ordinal: ordinal)
      let expected = ordinal >= 1 && ordinal <= model.appends.count ? model.appends[Int(ordinal) - 1] : nil
      #expect(found?.first == expected?.first && found?.last == expected?.last)
      #expect(found == nil || found?.ordinal == ordinal)
    }
  }

  private mutating func checkFeeds(_ store: EventStore) async throws {
    let inside = UInt64.random(in: 0...model.head, using: &random)
    for start in [
      LogPoint.beginning, .head, .sequence(0), .sequence(inside), .sequence(model.head + 5), .sequence(.max),
      .time(Timestamp(nanoseconds: model.appends.randomElement(using: &random)?.ownTime ?? 0)),
    ] {
      let after: UInt64 =
        switch start {
        case .beginning: 0
        case .head: model.head
        case .sequence(let sequence): sequence
        case .position(let position): position.sequence
        case .time(let time):
          model.lastAppend(notAfter: time.nanoseconds)?.last ?? 0
        }
      var expected = model.appends.filter { $0.last > after }[...]
      for try await append in store.feed(from: start, until: .caughtUp) {
        let next = expected.popFirst()
        try expectEqual(append, try #require(next, "\(start) delivers too much"))
      }
      #expect(expected.isEmpty, "\(start) ends too early")
    }
    let chain = try #require(try store.log.chain(after: inside))
    var count = 0
    for try await _ in store.feed(from: .position(.init(sequence: inside, chain: chain)), until: .caughtUp) {
      count += 1
    }
    #expect(count == model.appends.count { $0.last > inside })
    for position in [
      LogPosition(sequence: inside, chain: chain &+ 1), LogPosition(sequence: model.head + 1, chain: chain),
      LogPosition(sequence: .max, chain: chain),
    ] {
      await #expect(throws: StoreError.diverged(sequence: position.sequence)) {
        for try await _ in store.feed(from: .position(position), until: .caughtUp) {}
      }
    }
  }
}

extension FileSystem {
  func names(in folder: String) throws -> [String] {
    try contents(ofDirectory: folder).map { "\(folder)/\($0)" }
  }

  func bytes(of path: String) throws -> [UInt8] {
    let file = try open(path, .read)
    defer { file.close() }
    var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
    _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
    return bytes
  }

  func replace(_ path: String, _ bytes: [UInt8]) throws {
    let file = try open(path, .create)
    defer { file.close() }
    try file.truncate(to: 0)
    try bytes.withUnsafeBytes { try file.write($0, at: 0) }
  }
}

@Suite struct StorePropertyTests {
  @Test(arguments: StrataSimulation.SeededGenerator.historySeeds(12, share: 50))
  func `a store answers everything as an array and a dictionary do, across rolls and reopens`(
    number: UInt64
  ) async throws {
    let seed = StrataSimulation.SeededGenerator.testSeed() &+ number &* 1_000_003
    var subject = try ModelledStore(seed: seed)
    var live: [RecordedAppend] = []
    for round in 0..<5 {
      let store = subject.store
      let begin = store.head
      let follower = Task {
        var seen: [RecordedAppend] = []
        for try await append in store.feed(from: .position(begin)) { seen.append(append) }
        return seen
      }
      for _ in 0..<Int.random(in: 0...50, using: &subject.random) {
        try await subject.step()
        if Int.random(in: 0..<20, using: &subject.random) == 0 { try store.sealBlocking() }
      }
      try await subject.check(store)
      let reader = try EventStore.open(
        subject.fileSystem, path: subject.path, .readOnly, options: subject.options)
      try await subject.check(reader)
      try reader.closeBlocking()
      try store.closeBlocking()
      live += try await follower.value
      let derived = "\(subject.path)/derived"
      for path in try subject.fileSystem.names(in: derived) {
        switch Int.random(in: 0..<4, using: &subject.random) {
        case 0: try subject.fileSystem.remove(path)
        case 1:
          var bytes = try subject.fileSystem.bytes(of: path)
          bytes[Int.random(in: bytes.indices, using: &subject.random)] ^= 0x10
          try subject.fileSystem.replace(path, bytes)
        case 2 where round % 2 == 0:
          try subject.fileSystem.replace(path, Array(try subject.fileSystem.bytes(of: path).dropLast(7)))
        default: break
        }
      }
      subject.store = try EventStore.open(
        subject.fileSystem, path: subject.path, .readWrite, options: subject.options)
      try await subject.check(subject.store)
    }
    #expect(live.count == subject.model.appends.count, "live delivers what replay does")
    for (append, expected) in zip(live, subject.model.appends) { try subject.expectEqual(append, expected) }
    try subject.store.closeBlocking()
    #expect(try subject.fileSystem.findings(inStore: subject.path) == [])
  }

  @Test func `a derived file damaged at any byte changes no answer`() async throws {
    let seed = StrataSimulation.SeededGenerator.testSeed()
    var subject = try ModelledStore(seed: seed)
    subject.options.segmentSizeTarget = 6_000
    try subject.reopen()
    while try subject.fileSystem.names(in: "/store/log").count < 3 { try await subject.step() }
    try subject.store.closeBlocking()
    let path = try #require(try subject.fileSystem.names(in: "/store/derived").first)
    let whole = try subject.fileSystem.bytes(of: path)
    for index in whole.indices {
      var bytes = whole
      bytes[index] ^= UInt8(1 << (index % 8))
      try subject.fileSystem.replace(path, bytes)
      let access: EventStore.Access = index % 2 == 0 ? .readOnly : .readWrite
      let store = try EventStore.open(
        subject.fileSystem, path: subject.path, access, options: subject.options)
      for (stream, sequences) in subject.model.streams {
        let found = try store.eventsBlocking(in: StreamName(stream)).map(\.sequence)
        #expect(found == sequences, "byte \(index) of \(path)")
      }
      for (id, place) in subject.model.ids {
        let first = try store.log.index.first(ofID: Array(id.utf8))
        #expect(first == subject.model.appends[place].first, "byte \(index) of \(path)")
      }
      try store.closeBlocking()
    }
  }

  @Test func `the limits of names, ids and sizes are errors that say so, and nothing is appended`()
    async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    let event = NewEvent("t", in: "a/1", payload: .opaque([]))
    var long = event
    long.stream = StreamName(String(repeating: "x", count: 1_025))
    var typeless = event
    typeless.type = ""
    var large = event
    large.payload = .opaque(Array(repeating: 0, count: (16 << 20) + 1))
    let limits = [(long, "the format's"), (typeless, "the format's"), (large, "in the options")]
    for (bad, limit) in limits {
      await #expect {
        try await store.append([bad])
      } throws: { ($0 as? StoreError)?.next.contains(limit) == true }
    }
    await #expect(throws: StoreError.self) { try await store.append([]) }
    await #expect(throws: StoreError.self) {
      try await store.append([event], id: String(repeating: "i", count: 65))
    }
    await #expect(throws: StoreError.self) {
      try await store.append([event], time: Timestamp(nanoseconds: .min))
    }
    #expect(store.head.sequence == 0)
    long.stream = StreamName(String(repeating: "x", count: 1_024))
    large.payload = .opaque(Array(repeating: 0, count: (16 << 20) - 4_096))
    #expect(try await store.append([long, large]).sequences == 1...2)
    #expect(try await store.events(in: large.stream).first?.payload.bytes.count == (16 << 20) - 4_096)
  }

  @Test func `a category ends at the first slash, whatever character it belongs to`() {
    let name = StreamName("a/\u{301}b")
    #expect(name.category == "a")
    #expect("\(name.category)/\(name.id)".utf8.elementsEqual(name.text.utf8))
  }
}
