// Merges neighbouring runs into one, in slices.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Streams the rows of several runs into a new one, and then their changes. Belongs to one thread at a time.
///
/// In memory are a page of each run, for each row of them its number in the new run, and of keys that are made, as many
/// bytes as a limit says.
final class RunMerge {
  /// How many lists may keep their keys that nobody asked for, however few were asked for.
  private static let keptUnaskedCount = 4
  /// Steps between two looks at the slice.
  private static let stepCount = 256

  /// The runs that are merged, in order.
  let merged: [RunReader]
  private let below: [RunReader]
  // One thread at a time uses it, so the checks of exclusive access are left out of what each row changes.
  @exclusivity(unchecked) private var writer: RunWriter
  /// The runs below, then those that are merged.
  @exclusivity(unchecked) private var heads: RunHeads
  @exclusivity(unchecked) private var numbers: [[UInt32]]
  /// The run whose changes are copied next, and the position in it.
  private var run = 0
  private var changes: RunChangesCursor?
  private var areRowsDone = false
  private let isBase: Bool
  private let output: RunOutput
  private let limits: RunLimits
  /// The owners of which a run lacks the keys, so that they are made from the rows, and the other ones. The last is
  /// next.
  private var makings: [KeyMaking]
  /// Whether the program's code makes keys.
  let makesKeysOfProgram: Bool
  private var keyMerges: [KeyMerge]
  /// What the rows were at the begin.
  private let before: RunRows?
  private let tables: [RunTable]
  private var buffer = RawBuffer(capacity: 1 << 12)

  /// - Parameters:
  ///   - set: the runs of which some are merged.
  ///   - range: those that are merged.
  ///   - isNewBase: whether the new run also holds the state at their begin, although the first of them does not.
  ///   - owners: whose keys it is to have.
  init(
    _ set: RunSet, _ range: Range<Int>, isNewBase: Bool, _ owners: [KeyOwner], _ output: RunOutput,
    _ limits: RunLimits
  ) throws(PageDamage) {
    assert(!range.isEmpty && range.upperBound <= set.runs.count, "some neighbouring runs are merged")
    let merged = Array(set.runs[range])
    let first = merged[0].root
    // From the last base on: what lived at the begin.
    let below = isNewBase ? Array(set.runs(holding: first.begin)) : []
    let isBase = isNewBase || first.isBase
    self.merged = merged
    self.below = below
    self.isBase = isBase
    self.output = output
    self.limits = limits
    tables = try RunSet.tables(of: below + merged)
    writer = RunWriter(
      output, begin: first.begin, time: first.time, appends: first.appends, failures: first.failures,
      isBase: isBase, limits)
    numbers = merged.map { run in
      var numbers: [UInt32] = []
      // A row takes some bytes of its run, whatever a root says.
      numbers.reserveCapacity(Int(min(run.root.rowCount, run.length)))
      return numbers
    }
    heads = try RunHeads(below + merged, limits)
    let kept = Self.kept(below + merged, asked: owners).filter { known in
      // Keys of the program's code count only with all of those that they go on with.
      guard let owner = owners.first(where: { $0.number == known.number }) else { return true }
      return isBase || set.haveKeys(of: owner, before: range.lowerBound)
    }
    let made = owners.filter { owner in
      !kept.contains { $0.number == owner.number } && set.mayMake(keysOf: owner, for: range, isBase: isBase)
    }
    makesKeysOfProgram = made.contains { $0.isMadeByProgram }
    makings = made.reversed().map { owner in
      KeyMaking(
        owner, begin: first.begin, isBase: isBase, after: set.runs(before: range.lowerBound),
        parts: output.scratch(), byteCountMax: limits.madeKeysByteCountMax / made.count)
    }
    keyMerges = kept.reversed().map { KeyMerge($0, merged, onto: below, isBase: isBase, output, limits) }
    before = isBase || makings.isEmpty || range.lowerBound == 0 ? nil : RunRows(set, at: first.begin)
  }

  /// The owners whose keys all runs have: those that are asked for, and then some others, as of a former build. Each run
  /// has its owners in this order, so the others that were asked for last are kept.
  private static func kept(_ runs: [RunReader], asked owners: [KeyOwner]) -> [KeyOwner] {
    let common = (runs.last?.keys ?? []).map(KeyOwner.init(known:)).filter { owner in
      runs.allSatisfy { $0.hasKeys(of: owner) }
    }
    func isAsked(_ known: KeyOwner) -> Bool {
      known.number == KeyOwner.rows.number || owners.contains { $0.number == known.number }
    }
    let listCount = owners.count { $0.list != nil }
    return common.filter(isAsked)
      + common.filter { !isAsked($0) }.prefix(max(keptUnaskedCount, listCount))
  }

  /// Goes on for a slice. Returns the new run once it is durable, and nil before that.
  func resume(_ slice: TimeSlice) throws(RunFailure) -> WrittenRun? {
    while true {
      for _ in 0..<Self.stepCount where !areRowsDone { try step() }
      guard areRowsDone else {
        if slice.isOver { return nil }
        continue
      }
      if try mergeKeys() {
        if slice.isOver { return nil }
        continue
      }
      guard try copyChanges(Self.stepCount) else { return try finish() }
      if slice.isOver { return nil }
    }
  }

  /// Merges one row.
  private func step() throws(RunFailure) {
    do throws(PageDamage) {
      guard try heads.next() else {
        areRowsDone = true
        return try endRows()
      }
    } catch { throw RunFailure(error) }
    var isBegun = false
    // What lived at the begin: the newest version in the last run below that has the row.
    var newest: RunRowCursor?
    for index in heads.current where index < below.count { newest = heads.sources[index] }
    if let newest {
      let last = try RunFailure.reading { () throws(PageDamage) in try newest.version(through: .max) }
      if let last, last.kind != .gone {
        try begin(newest.key, &isBegun)
        try add(last, newest, isFromBefore: true)
      }
    }
    for index in heads.current where index >= below.count {
      let cursor = heads.sources[index]
      while let version = try RunFailure.reading({ () throws(PageDamage) in try cursor.nextVersion() }) {
        // A base after the first run repeats what the runs before it have.
        if index > below.count, version.sequence <= cursor.reader.root.begin { continue }
        try begin(cursor.key, &isBegun)
        try add(version, cursor, isFromBefore: version.sequence <= merged[0].root.begin)
      }
    }
    guard isBegun else {
      guard heads.current.allSatisfy({ $0 < below.count }) else {
        throw RunFailure(PageDamage("a base has a row that the runs before it lack"))
      }
      return
    }
    let number = writer.endRow()
    for index in heads.current where index >= below.count {
      guard UInt64(numbers[index - below.count].count) == heads.sources[index].number else {
        throw RunFailure(PageDamage("the rows of a run are not numbered in order"))
      }
      numbers[index - below.count].append(number)
    }
  }

  private func begin(_ key: [UInt8], _ isBegun: inout Bool) throws(RunFailure) {
    guard !isBegun else { return }
    isBegun = true
    do throws(StoreError) {
      try key.lendBytes { key throws(StoreError) in try writer.beginRow(key) }
    } catch { throw RunFailure(error) }
    guard !makings.isEmpty else { return }
    try RunFailure.reading { () throws(PageDamage) in
      let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
      let old = try before?.version(of: key)
      try beginKeys(key, old?.version, old?.bytes ?? nothing)
    }
  }

  private func beginKeys(
    _ key: [UInt8], _ version: RunVersion?, _ bytes: UnsafeRawBufferPointer
  ) throws(PageDamage) {
    let number = key.withUnsafeBytes { RunKey.table($0) }
    guard let table = tables.first(where: { $0.number == number }) else {
      throw PageDamage("a row is of a table that was not there")
    }
    key.withUnsafeBytes { key in
      for making in makings { making.begin(key, of: table.name, version, bytes) }
    }
  }

  /// - Parameter isFromBefore: whether the version is what the row was at the begin.
  private func add(_ version: RunVersion, _ cursor: RunRowCursor, isFromBefore: Bool) throws(RunFailure) {
    let bytes = try RunFailure.reading { () throws(PageDamage) in try cursor.bytes() }
    do throws(StoreError) { try writer.add(version, bytes) } catch { throw RunFailure(error) }
    guard !makings.isEmpty else { return }
    if isFromBefore {
      try RunFailure.reading { () throws(PageDamage) in try beginKeys(cursor.key, version, bytes) }
    } else {
      for making in makings { making.add(version, bytes) }
    }
    do throws(StoreError) { for making in makings { try making.spillIfLong() } } catch {
      throw RunFailure(error)
    }
  }

  /// Writes some keys after all rows. Returns false once there are none left.
  private func mergeKeys() throws(RunFailure) -> Bool {
    if let making = makings.last {
      if let keys = try making.write(Self.stepCount, to: output, limits) {
        writer.add(keys)
        makings.removeLast()
      }
      return true
    }
    guard let merge = keyMerges.last else { return false }
    do throws(RunFailure) {
      guard let keys = try merge.step(Self.stepCount) else { return true }
      writer.add(keys)
    } catch {
      // The new run has none of that list until they are made of its rows.
      guard case .otherKeys = error else { throw error }
    }
    keyMerges.removeLast()
    return true
  }

  private func endRows() throws(PageDamage) {
    for (index, run) in merged.enumerated() where numbers[index].count != Int(run.root.rowCount) {
      throw PageDamage("a run has other rows than its root says")
    }
  }

  /// Copies the changes of some events. Returns false at the end.
  private func copyChanges(_ count: Int) throws(RunFailure) -> Bool {
    if run == 0, changes == nil {
      do throws(StoreError) { try writer.endRows() } catch { throw RunFailure(error) }
    }
    for _ in 0..<count {
      guard run < merged.count else { return false }
      let cursor = changes ?? RunChangesCursor(merged[run], sweeping: limits.walkLength)
      changes = cursor
      guard let event = try RunFailure.reading({ () throws(PageDamage) in try cursor.next() }) else {
        changes = nil
        run += 1
        continue
      }
      let numbers = numbers[run]
      do throws(StoreError) { try writer.add(event, cursor.rows.map { numbers[Int($0)] }) } catch {
        throw RunFailure(error)
      }
    }
    return true
  }

  private func finish() throws(RunFailure) -> WrittenRun {
    assert(areRowsDone && run == merged.count, "a merged run ends with its last change")
    assert(makings.isEmpty && keyMerges.isEmpty, "a merged run ends with all of its keys")
    let tables: [RunTable]
    let failures: [ProjectionFailures.Failure]
    do throws(PageDamage) {
      tables = try RunSet.tables(of: below + merged)
      failures = try RunSet.failures(of: below + merged)
    } catch { throw RunFailure(error) }
    do throws(StoreError) { return try writer.finish(tables, failures) } catch { throw RunFailure(error) }
  }
}

/// Why runs could not be written.
enum RunFailure: Error {
  /// A run that was read is damaged.
  case damage(PageDamage)
  /// The disk refused, or the log.
  case store(StoreError)
  /// The program's code made other keys of the same rows than before: see `KeysBefore`.
  case otherKeys(KeyOwner)

  /// A file that the system refuses to open is not damaged: the work goes on later.
  init(_ damage: PageDamage) { self = damage.refusal.map { .store($0) } ?? .damage(damage) }
  init(_ error: StoreError) { self = .store(error) }

  static func reading<Result>(
    _ body: () throws(PageDamage) -> Result
  ) throws(RunFailure) -> Result {
    do throws(PageDamage) { return try body() } catch { throw RunFailure(error) }
  }

  static func storing<Result>(
    _ body: () throws(StoreError) -> Result
  ) throws(RunFailure) -> Result {
    do throws(StoreError) { return try body() } catch { throw RunFailure(error) }
  }
}

/// The rows of several runs in the order of their keys. The sources that are at a row are before its versions.
typealias RunHeads = SortedMerge<RunRowCursor>

extension RunRowCursor: AscendingSource {
  func order(_ other: RunRowCursor) -> Int { key.order(against: other.key) }
}

extension RunHeads {
  /// - Parameter key: where they begin; nil to begin with the first rows.
  init(_ runs: [RunReader], from key: [UInt8]? = nil, _ limits: RunLimits) throws(PageDamage) {
    let cursors = runs.map { RunRowCursor($0, sweeping: limits.walkLength) }
    guard let key else {
      try self.init(cursors)
      return
    }
    var areThere: [Bool] = []
    for cursor in cursors { areThere.append(try cursor.seek(toFirst: key)) }
    self.init(cursors, areThere: areThere)
  }

  /// For each run, the number of the row that it is at; at its end, the number of its rows.
  var rowNumbers: [UInt64] {
    sources.indices.map { areThere[$0] ? sources[$0].number : sources[$0].reader.root.rowCount }
  }
}
