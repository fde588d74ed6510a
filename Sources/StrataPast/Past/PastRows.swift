// The rows of a table of the past, one by one, and those that differ between two moments.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// The rows of one table after an event, as runs have them. Safe to use from several threads.
///
/// A page of the table's tree is made with all of its rows. A row that is asked for by its id is read alone, and so is
/// one that differs from the row of another moment: which rows those are, the runs say without reading any other.
final class PastRows: KnownRows {
  /// The rows as a tree, as it was made.
  let tree: Tree
  let sequence: UInt64
  private let set: RunSet
  private let number: UInt32
  /// See `PastHealing.history`.
  private let history: String
  /// Positions in the runs that no thread uses now.
  private let idle = Lock<[RunRows]>([])
  private let noteDamage: @Sendable () -> Void
  /// See `RunLimits.rowWaitMin`.
  private let waitMin: Duration

  private static let idleCountMax = 4

  /// - Parameter number: that of the table in the runs.
  init(_ tree: Tree, _ set: RunSet, table number: UInt32, at sequence: UInt64, _ healing: PastHealing) {
    (self.tree, self.set, self.number, self.sequence) = (tree, set, number, sequence)
    (history, noteDamage) = (healing.history, healing.noteDamage)
    waitMin = healing.limits.rowWaitMin
  }

  /// A row; nil if the runs have lost it. O(log n) for each run that has the row.
  func row(_ id: UnsafeRawBufferPointer) -> KnownRow? {
    let rows = idle.withLock { $0.popLast() } ?? RunRows(set, at: sequence, areThere: true)
    do throws(PageDamage) {
      guard let (version, bytes) = try rows.version(of: RunKey.make(number, id)) else {
        return KnownRow()
      }
      let row = RunRow(version: version, bytes: Array(bytes)).known
      idle.withLock { if $0.count < Self.idleCountMax { $0.append(rows) } }
      return row
    } catch {
      noteDamage()
      return nil
    }
  }
}

// MARK: Several rows

extension PastRows {
  /// Pages are read one after another, and each that comes from the disk is waited for. To ask for all of them before
  /// takes less; where the system has them in memory, it saves nothing. The time that the first row takes says which.
  func willRead(_ ids: [[UInt8]]) {
    guard ids.count > 2, let first = ids.first else { return }
    let start = MonotonicTime.now()
    guard first.withUnsafeBytes({ row($0) }) != nil, start.elapsed >= waitMin else { return }
    // Damage is found by the read that meets it.
    try? RunRows(set, at: sequence, areThere: true).willRead(
      ids.dropFirst().map { id in id.withUnsafeBytes { RunKey.make(number, $0) } })
  }
}

// MARK: Differences

extension PastRows {
  /// Nil if no runs have both moments as they are in the two, or have lost something.
  func changes(to other: any KnownRows) -> (any KnownChanges)? {
    guard let other = other as? PastRows, let set = common(with: other) else { return nil }
    do throws(PageDamage) {
      return try PastChanges(
        set, table: number, from: sequence, to: other.sequence, noteDamage: noteDamage)
    } catch {
      noteDamage()
      return nil
    }
  }

  func changeCount(to other: any KnownRows) -> Int? {
    guard let other = other as? PastRows, let set = common(with: other) else { return nil }
    return Int(exactly: set.changeCount(between: sequence, and: other.sequence).rounded(.up))
  }

  /// Runs that have both moments as they are in the two.
  private func common(with other: PastRows) -> RunSet? {
    guard history == other.history, number == other.number else { return nil }
    return RunSet.common(set, at: sequence, other.set, at: other.sequence)
  }
}

extension RunSet {
  /// Of two sets of runs of one history, the one that has a moment of each as that one has it; nil if none has. After an
  /// erasure, a moment is another one.
  static func common(_ one: RunSet, at first: UInt64, _ other: RunSet, at second: UInt64) -> RunSet? {
    let isOneNewer = one.end >= other.end
    let (set, others) = isOneNewer ? (one, second) : (other, first)
    guard set.covers(first), set.covers(second),
      one.erasures == other.erasures
        || one.erasures.hash(through: others) == other.erasures.hash(through: others)
    else { return nil }
    return set
  }
}
