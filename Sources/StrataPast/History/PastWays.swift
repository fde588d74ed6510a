// Which way to a state of the past costs least.

/// The costs of the ways to a state, as the number of events that are replayed in the same time. `stratabench past`
/// prints what they take.
package struct PastCosts: Sendable {
  /// A row that differs: it is looked up in the runs, and changed in the tables and their views.
  package var change = 3.5
  /// A version in the runs that a whole state is built from.
  package var version = 0.05
  /// A row that is put into the tables and views of a whole state, and compared with the row of another one.
  package var row = 1.3
  /// A state whose rows are read when they are looked at. It takes as long as many more events, but each event that is
  /// folded into such a state reads the pages that it changes.
  package var unread = 32.0
  /// An event that is replayed although the runs have what it changed.
  package var repeated = 1.0

  package init() {}

  /// The costs of a read that is not followed by others nearby. It replays no event that the runs have, however few there
  /// are, so that nothing of the log is read for it, and so that unread states are compared by what
  /// the runs say of them.
  static let ofRead: PastCosts = {
    var costs = PastCosts()
    costs.repeated = .infinity
    return costs
  }()

  /// The costs of the state with which a history is continued. Each event that is folded into a saved state reads the pages
  /// of the rows that it changes.
  static let ofHistory: PastCosts = {
    var costs = PastCosts()
    (costs.repeated, costs.change) = (16, .infinity)
    return costs
  }()
}

/// The ways that there are to one state of the past. A value: what it knows of states, runs and erasures was looked up
/// before, so that the choice among them can be tested without a file.
///
/// Every way begins with a source, from which the events up to the state are replayed:
///
/// - A state that is known: the one reached last, one that the caller keeps, or the one that was saved last.
/// - A known state, before or after, and the rows that differ according to the runs of a history. A step of d events costs
///   O(d log n), in either direction and at any length of the log.
/// - All rows, from the runs. O(rows).
/// - Unread tables, where the runs have the keys of the list: what is looked at is read, and what differs from another such
///   state is known without either of them. Nothing that is far costs more than what is near.
/// - The begin of the log. It is always there.
///
/// A source is of use only if nothing was erased since its events were folded, which the head of the log at that time
/// says. Where one turns out to be damaged, it is left out, and the choice is made again.
struct PastWays {
  /// A state that is known.
  struct Known: Equatable {
    var sequence: UInt64
    /// The head of the log before the events of the state were folded.
    var head: UInt64
  }

  /// The bounds and sizes of the runs of a history.
  struct Runs {
    /// They answer about every sequence after this one,
    var begin: UInt64
    /// up to this one.
    var end: UInt64
    /// The head of the log before their events were folded.
    var head: UInt64
    /// Whether they may have the keys of the list that is wanted.
    var hasKeys = false
    /// The versions and the rows that a whole state is built from.
    var size: (_ sequence: UInt64) -> (versions: Double, rows: Double)
    /// How many rows change between two events, about.
    var changeCount: (_ one: UInt64, _ other: UInt64) -> Double

    func covers(_ sequence: UInt64) -> Bool { sequence > begin && sequence <= end }
  }

  /// Where a way begins.
  enum Source: Equatable {
    case beginning
    /// The known state with an index.
    case known(Int)
    /// Tables whose rows are read when somebody looks at them.
    case unread
    /// Tables that are built from all of their rows.
    case whole
    /// The known state with an index, and the rows that differ from it.
    case change(from: Int)
  }

  /// The state that is wanted.
  var sequence: UInt64
  /// The sequence before the first event of the log.
  var beginning: UInt64
  /// The newest note of an erasure; 0 if there is none.
  var lastErasure: UInt64 = 0
  var known: [Known] = []
  var runs: Runs?
  var costs = PastCosts()

  /// Whether nothing was erased since the log had a head.
  func isCurrent(_ head: UInt64) -> Bool { head >= lastErasure }

  /// The state that the runs have and that is next to the one that is wanted, and not after it; nil if there is none.
  var target: UInt64? {
    guard let runs, isCurrent(runs.head), sequence > runs.begin else { return nil }
    return min(sequence, runs.end)
  }

  /// The source from which the state costs least. O(known states).
  var cheapest: Source {
    var best = (source: Source.beginning, cost: replay(from: beginning))
    func offer(_ source: Source, _ cost: Double) { if cost < best.cost { best = (source, cost) } }
    let usable = known.indices.filter { isCurrent(known[$0].head) }
    // Of those that cost the same, the first one.
    for index in usable where known[index].sequence <= sequence {
      offer(.known(index), replay(from: known[index].sequence))
    }
    guard let runs, let target else { return best.source }
    let rest = replay(from: target)
    // To build or to change trees that are not there reads more than one look at the list.
    if runs.hasKeys {
      offer(.unread, costs.unread + rest)
      return best.source
    }
    let near = usable.filter { runs.covers(known[$0].sequence) }
      .min { Self.distance(known[$0].sequence, target) < Self.distance(known[$1].sequence, target) }
    if let near {
      offer(.change(from: near), runs.changeCount(known[near].sequence, target) * costs.change + rest)
    }
    let size = runs.size(target)
    offer(.whole, size.versions * costs.version + size.rows * costs.row + rest)
    return best.source
  }

  /// The sequence of the state that a source has.
  func begin(of source: Source) -> UInt64 {
    switch source {
    case .beginning: beginning
    case .known(let index): known[index].sequence
    case .unread, .whole, .change: target ?? beginning
    }
  }

  /// The cost of folding the events after one.
  private func replay(from begin: UInt64) -> Double {
    let events = Double(sequence - min(begin, sequence))
    guard let runs, let target, begin < target else { return events }
    let repeated = Double(target - max(begin, runs.begin))
    return events - repeated + repeated * costs.repeated
  }

  private static func distance(_ a: UInt64, _ b: UInt64) -> UInt64 { a > b ? a - b : b - a }
}

extension RunSet {
  /// What the choice among the ways to a state is to know of the runs.
  ///
  /// - Parameter hasKeys: whether they may have the keys of the list that is wanted.
  func ways(hasKeys: Bool = false) -> PastWays.Runs {
    PastWays.Runs(
      begin: begin, end: end, head: head, hasKeys: hasKeys,
      size: { sequence in
        let read = runs(holding: sequence)
        let versions = read.reduce(0) { $0 + Double($1.root.versionCount) }
        return (versions, Double(read.map(\.root.rowCount).max() ?? 0))
      },
      changeCount: { changeCount(between: $0, and: $1) })
  }
}
