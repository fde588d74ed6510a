// Everything that a program may ask of a store, asked in turn: each answers, or throws one of our errors.

import ArgumentParser
import LogreplayPoints
import StrataBase
import StrataEvents
import StrataLog
import StrataTables
import StrataSimulation

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables
@testable import logreplay

/// A walk through all that reads, checks, copies or writes a store. A trap ends the process; an error of no type of ours
/// stops it too.
struct StoreTour {
  let files: FileBytesByPath
  /// Calls that answered, and those that threw.
  private(set) var answers = 0
  private(set) var refusals = 0

  init(_ files: FileBytesByPath) { self.files = files }

  private static let root = NumberedStore.root
  private static let sequences: [UInt64] = [0, 1, 1 << 63, .max - 1, .max]
  /// Parsed once, since that takes longer than all the rest.
  private static let commands = [["-o", "jsonl"], ["-r"]].compactMap {
    try? Logreplay.parseAsRoot(["log", root] + $0) as? LogCommand
  }
  private static let times: [Int64] = [.min, -1, 0, 1_767_225_602_000_000_000, .max]

  @discardableResult
  private mutating func attempt<Result>(_ body: () throws -> Result) -> Result? {
    do {
      let result = try body()
      answers += 1
      return result
    } catch {
      switch error {
      case is StoreError, is CommandFailure, is FileSystemError, is ContentProblem: break
      default: preconditionFailure("no error of ours: \(error)")
      }
      // Texts count too: an error says from where to where, and what to do.
      precondition(!"\(error)".isEmpty)
      if let failure = error as? CommandFailure { precondition(!failure.text.isEmpty) }
      refusals += 1
      return nil
    }
  }

  // MARK: Reading

  /// Reads, beside a writer where one is to hold the lock.
  mutating func read(withWriter isWriterAlive: Bool) {
    let disk = NumberedStore.disk(files)
    let lock =
      isWriterAlive
      ? attempt { try StoreLock.acquire(disk, NumberedStore.layout, timeout: .zero) } : nil
    for readsDamaged in [false, true] {
      var options = NumberedStore.options
      options.readsDamaged = readsDamaged
      guard
        let store = attempt({
          try EventStore.open(disk, path: Self.root, .readOnly, options: options)
        })
      else { continue }
      feed(store.log, after: store.log.mark.logBegin &- 1)
      // Who goes on up to damage gets further, and passes by all that the other would.
      guard readsDamaged else { continue }
      readLog(store)
      inspect(OpenedStore(path: Self.root, store: store))
      attempt { try store.backupBlocking(to: "/backup", on: SimulatedDisk()) }
      attempt { try store.closeBlocking() }
    }
    check(disk)
    lock?.release()
  }

  private mutating func feed(_ log: Log, after start: UInt64, isDurable: Bool = false) {
    attempt {
      var cursor = log.cursor(after: start, isDurableOnly: isDurable)
      while let block = try cursor.next() {
        _ = try RecordedAppend.appends(in: block, after: start)
        try block.verifyContent()
      }
    }
  }

  private mutating func readLog(_ store: EventStore) {
    let log = store.log
    for start in Self.sequences {
      feed(log, after: start, isDurable: true)
      attempt { try log.chain(after: start) }
      attempt { try log.append(ordinal: start) }
      attempt { try store.appendBlocking(holding: start) }
      attempt { try store.eventsBlocking(in: "incident/0", after: start) }
    }
    for time in Self.times { attempt { try log.lastAppend(notAfter: time) } }
    attempt { try log.index.first(ofID: Array("a:1".utf8)) }
    attempt { try log.index.ids(prefix: [], limit: 100) }
    attempt { try log.index.revision(of: Array("incident/1".utf8)) }
    readNames(log)
    attempt { try log.refresh() }
  }

  private mutating func readNames(_ log: Log) {
    for (kind, name) in [(IndexedKind.stream, "incident/0"), (.category, "incident"), (.type, "$put")] {
      let name = Array(name.utf8)
      attempt { try log.index.names(kind, limit: 100) }
      for start in Self.sequences {
        attempt { try log.index.places(of: [name], kind, after: start) }
        attempt {
          var cursor = IndexedCursor(log.index, kind, of: [name], after: start)
          while try cursor.next() != nil {}
        }
      }
    }
  }

  private mutating func inspect(_ opened: OpenedStore) {
    if var info = attempt({ try StoreInfo(opened) }) {
      let catalog = opened.log.source.catalog
      let size = attempt { try catalog.names.map { try catalog.segment($0).file.size() }.reduce(0, +) }
      precondition(size.map { info.bytes <= $0 } ?? true, "no more bytes are counted than the files have")
      let failure = info.countTables(opened, all: true) ?? info.findConsumers(opened)
      precondition(!info.json.isEmpty && failure?.text.isEmpty != true)
      precondition(!info.text(path: Self.root, people: PeopleText(zone: .utc, isColored: false)).isEmpty)
    }
    let resolver = PointResolver(store: opened)
    let points: [Point] = [.head, .first, .back(1), .back(.max), .id("b"), .sequence(2), .time(0)]
    for point in points {
      if let found = attempt({ try resolver.resolve(PointRange.Named(text: "point", point: point)) }) {
        attempt { try ReplayReport(opened, through: found).json }
      }
    }
    attempt { try resolver.check(LogPosition(sequence: .max, chain: opened.log.mark.visible.chain)) }
    for command in Self.commands {
      attempt {
        let range = EventRange(
          after: opened.log.mark.logBegin &- 1, last: command.isReversed ? 5 : nil,
          isReversed: command.isReversed)
        try EventRun(opened, range, filter: try EventFilter(command.filter), output: command.output).run()
      }
    }
  }

  private mutating func check(_ disk: SimulatedDisk) {
    for depth in [VerifyDepth.quick, .full] {
      attempt {
        var verifier = LogVerifier(disk, path: Self.root, depth: depth, patience: .zero)
        let report = try verifier.run()
        precondition(
          !report.json(nil).isEmpty && report.findings.allSatisfy { !$0.next.isEmpty })
      }
    }
    attempt { try IndexVerifier(disk, path: Self.root).run(skipping: []) }
    for (sequence, block) in [(nil, nil), (UInt64.max, nil), (1, UInt64(SegmentHeader.length))]
      as [(UInt64?, UInt64?)]
    {
      attempt {
        var dump = try BlockDump(
          path: Self.root, output: Self.commands[0].output, withPayload: false, onlyBlock: block, on: disk)
        try dump.run(holding: sequence)
      }
    }
  }

  // MARK: Writing

  /// Opens for writing, appends, erases, seals and closes; then reads what that left.
  mutating func write() {
    let disk = NumberedStore.disk(files)
    guard
      let store = attempt({
        try EventStore.open(disk, path: Self.root, .readWrite, options: NumberedStore.options)
      })
    else { return }
    for number in 0..<2 {
      attempt {
        try store.appendBlocking([NewEvent("$put", in: StreamName("incident/\(number)"), ["n": 2])])
      }
      attempt {
        try store.appendBlocking([NewEvent("t", in: StreamName("other/\(number)"), ["n": 2])], id: "b:0")
      }
    }
    attempt { try store.sealBlocking() }
    attempt { try store.eraseBlocking(Erasure(streams: ["incident/1"], because: "a test")) }
    attempt { try store.closeBlocking() }
    check(disk)
    attempt { try EventStore.open(disk, path: Self.root, .readWrite, options: NumberedStore.options) }
  }

  /// Backs a whole store up into the folder that these files are in.
  mutating func takeBackup(of whole: FileBytesByPath) {
    let target = NumberedStore.disk(files, at: "/backup")
    guard
      let store = attempt({
        try EventStore.open(
          NumberedStore.disk(whole), path: Self.root, .readOnly, options: NumberedStore.options)
      })
    else { preconditionFailure("the whole store cannot be read") }
    for _ in 0..<2 { attempt { try store.backupBlocking(to: "/backup", on: target) } }
    attempt { try store.closeBlocking() }
  }
}
