// What somebody knows of one file of a segment, and the other file that has its name by now: sealed, copied, backed up.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct ReplacedFileTests {
  private static let path = "/store"
  private static let layout = StoreLayout(root: path)

  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    options.segmentSizeTarget = 1 << 20
    return options
  }

  private func append(_ log: Log, _ type: String) throws {
    _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: type)]).draft())
  }

  private func openWriter(_ fileSystem: any FileSystem) throws -> Log {
    try Log.openWriter(fileSystem, path: Self.path, options: Self.options())
  }

  private func openReader(_ fileSystem: any FileSystem) throws -> Log {
    try Log.openReader(fileSystem, path: Self.path, options: Self.options())
  }

  /// A store of five appends, each a block of its own, and a reader that has seen the first three.
  private func followed() throws -> (log: Log, reader: Log) {
    let memory = MemoryFileSystem()
    let log = try openWriter(memory)
    for number in 0..<3 { try append(log, "\(number)") }
    let reader = try openReader(memory)
    for number in 3..<5 { try append(log, "\(number)") }
    return (log, reader)
  }

  /// Packs everything into one block of another file.
  private func pack(_ log: Log) throws {
    try log.roll()
    try #require(try log.seal().sealed == 1)
  }

  private func types(_ cursor: inout LogCursor) throws -> [String] {
    var types: [String] = []
    while case let first = cursor.nextSequence, let block = try cursor.next() {
      try block.forEachEvent { event, _, sequence in
        if sequence >= first { types.append(String(decoding: event.type, as: UTF8.self)) }
      }
    }
    return types
  }

  @Test(arguments: 0..<5)
  func `fault 56: a cursor goes on inside of the block that the next writer packed what it stands in into`(
    _ delivered: Int
  ) throws {
    let memory = MemoryFileSystem()
    let log = try openWriter(memory)
    for number in 0..<5 { try append(log, "\(number)") }
    let reader = try openReader(memory)
    var cursor = reader.cursor(after: 0)
    for number in 0..<delivered {
      let block = try #require(try cursor.next())
      try #require(block.header.firstSequence == UInt64(number + 1) && block.header.eventCount == 1)
    }
    try log.close()
    let next = try openWriter(memory)
    try pack(next)
    try append(next, "5")
    try reader.refresh()
    #expect(try types(&cursor) == (delivered...5).map(String.init))
    try next.close()
    try reader.close()
  }

  @Test
  func `fault 56: an index takes in what is new in a block that begins before it ends`() throws {
    let (log, reader) = try followed()
    let stream = Array("s".utf8)
    #expect(try reader.index.revision(of: stream) == 3)
    try reader.refresh()
    try pack(log)
    #expect(try reader.index.revision(of: stream) == 5)
    #expect(try reader.index.parts(of: stream, after: 0).count == 1)
    try reader.close()
    try log.close()
  }

  @Test
  func `fault 56: an append is found by its time up to the mark, whatever is known behind it`() throws {
    let (log, reader) = try followed()
    // Somebody else has looked at all blocks already.
    try reader.source.catalog.segment(1).extend(to: log.mark.visible.offset)
    #expect(try reader.lastAppend(notAfter: .max)?.last == 3)
    #expect(try reader.append(ordinal: 3)?.last == 3)
    try pack(log)
    #expect(try reader.lastAppend(notAfter: .max)?.last == 3)
    try reader.refresh()
    #expect(try reader.lastAppend(notAfter: .max)?.last == 5)
    try reader.close()
    try log.close()
  }

  // MARK: Backups that are brought up to date

  private func backup(_ log: Log, to target: any FileSystem) throws {
    var backup = LogBackup(of: log, to: target, path: Self.path)
    _ = try backup.run()
  }

  @Test(arguments: [false, true], [false, true])
  func `fault 56: who reads a backup goes on in its next run`(isSeenMeanwhile: Bool, isRolled: Bool) throws {
    let log = try openWriter(MemoryFileSystem())
    for number in 0..<3 { try append(log, "\(number)") }
    let memory = MemoryFileSystem()
    try backup(log, to: memory)
    let reader = try openReader(memory)
    var cursor = reader.cursor(after: 0)
    #expect(try types(&cursor) == ["0", "1", "2"])
    try append(log, "3")
    if isRolled { try log.roll() }
    try append(log, "4")
    let last = Self.layout.segment(isRolled ? 5 : 1)
    let looks = Lock<DedicatedThread?>(nil)
    let outcome = Lock<Result<Void, StoreError>?>(nil)
    var target = HookedFileSystem(base: memory) { _ in }
    target.willRename = { path in
      guard isSeenMeanwhile, path == last else { return }
      // HEAD promises what the file does not have yet.
      let thread = try? DedicatedThread(name: "looks") {
        let result = Result { () throws(StoreError) in try reader.refresh() }
        outcome.withLock { $0 = result }
      }
      looks.withLock { $0 = thread }
      pauseThread(nanoseconds: 30_000_000)
    }
    try backup(log, to: target)
    looks.withLock { $0 }?.join()
    // A backup that only adds blocks to a file gives none another name.
    if isSeenMeanwhile, isRolled { try #require(outcome.withLock { $0 }).get() }
    try reader.refresh()
    #expect(reader.mark.sequence == 5)
    #expect(try types(&cursor) == ["3", "4"])
    try reader.close()
    try log.close()
  }

  @Test func `an erasure that ends while a backup begins may be unfinished there`() throws {
    let memory = MemoryFileSystem()
    let log = try openWriter(memory)
    try append(log, "0")
    try log.setErasing(true)
    let isDue = Lock(false)
    let hooked = HookedFileSystem(base: memory) { path in
      guard path == Self.layout.segment(1), isDue.withLock({ $0 }) else { return }
      // By now the end of the backup is known, and the file with the content may be the one that is opened.
      do { try log.setErasing(false) } catch { Issue.record("\(error)") }
    }
    let reader = try openReader(hooked)
    isDue.withLock { $0 = true }
    let target = MemoryFileSystem()
    try backup(reader, to: target)
    #expect(try HeadFile.read(target, path: Self.layout.head)?.isErasing == true)
    #expect(try HeadFile.read(memory, path: Self.layout.head)?.isErasing == false)
    try reader.close()
    try log.close()
  }

  @Test func `a backup of a store that is suspended says so where its segment was closed since`() throws {
    let memory = MemoryFileSystem()
    let log = try openWriter(memory)
    try append(log, "0")
    try log.suspend()
    let next = try openWriter(memory)
    try pack(next)
    let error = #expect(throws: StoreError.self) { try backup(log, to: MemoryFileSystem()) }
    guard case .suspended = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try next.close()
    try log.close()
  }

  // MARK: Listings

  @Test(arguments: ["missed", "doubled", "removed"])
  func `fault 56: a name that another file gets while its folder is listed is there once`(_ what: String)
    throws
  {
    let memory = MemoryFileSystem()
    let log = try openWriter(memory)
    for number in 0..<3 {
      try append(log, "\(number)")
      if number < 2 { try log.roll() }
    }
    try log.close()
    let name = "00000000000000000002.seg"
    for number in 0..<2 {
      let count = Lock(0)
      var hooked = HookedFileSystem(base: memory) { _ in }
      hooked.list = { path throws(StoreError) in
        let names = try memory.contents(ofDirectory: path)
        let isMeant = count.withLock { count in
          defer { count += 1 }
          return count == number
        }
        guard isMeant, path == Self.layout.log else { return names }
        return switch what {
        case "missed": names.filter { $0 != name }
        case "doubled": names + [name]
        default: names + ["00000000000000000004.seg"]
        }
      }
      for known in [nil, 3] as [SegmentName?] {
        count.withLock { $0 = 0 }
        #expect(try SegmentCatalog.names(hooked, Self.layout, through: known) == [1, 2, 3], "\(number)")
      }
    }
  }
}
