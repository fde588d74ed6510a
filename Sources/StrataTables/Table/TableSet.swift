// The state of a fold: its tables, and how far it has folded.

internal import StrataBase
internal import StrataLog

/// The tables of one projection after the events up to a sequence. A value: a copy is O(tables).
package struct TableSet: Sendable {
  /// The last sequence that is folded in; 0 before the first event.
  package var sequence: UInt64
  /// The own time of the append with `sequence`; nil at 0.
  package var time: Int64?
  /// The chain of the log after `sequence`; nil if it is not known, as between the appends of one block.
  package var chain: UInt64?
  /// The number of appends that are folded in.
  package var appendCount: UInt64 = 0
  /// Whether a write of an equal document raises its row's revision.
  package let recordsTouches: Bool
  /// The tables in the order in which they were first written to, then those that only a request named.
  package private(set) var tables: [Table] = []
  /// Events that the projection could not apply.
  package var failures = ProjectionFailures()
  private var lastIndex = 0
  /// The index of each table by the hash of its name, or that of another table with the same hash. Empty for few tables.
  private var indices: [UInt64: Int] = [:]
  /// Up to this many tables are found by comparing all names, which is quicker for few.
  private static let comparedCountMax = 8

  package init(sequence: UInt64 = 0, recordsTouches: Bool = false) {
    self.sequence = sequence
    self.recordsTouches = recordsTouches
  }

  /// A state as it is on disk, with its chain if that is there too.
  package init(
    sequence: UInt64, time: Int64?, chain: UInt64?, appendCount: UInt64, recordsTouches: Bool,
    tables: [Table], failures: ProjectionFailures
  ) {
    self.init(sequence: sequence, recordsTouches: recordsTouches)
    self.time = time
    self.chain = chain
    self.appendCount = appendCount
    self.tables = tables
    self.failures = failures
    noteIndices(of: 0..<tables.count)
  }

  /// Lends each tree whose leaves may move to a file, with its table.
  package mutating func forEachTree<Failure: Error>(
    _ body: (inout Tree, _ table: String, TablePart) throws(Failure) -> Void
  ) throws(Failure) {
    for index in tables.indices {
      let name = tables[index].name
      try tables[index].forEachTree { (tree, part) throws(Failure) in try body(&tree, name, part) }
    }
  }

  /// The table with a name; an empty one if nothing was written to it.
  package subscript(name: String) -> Table {
    index(ofTable: name).map { tables[$0] } ?? Table(name: name, recordsTouches: recordsTouches)
  }

  /// Whether a table was ever written to.
  package func contains(_ name: String) -> Bool { index(ofTable: name) != nil }

  /// Changes a table in place, and creates it if necessary.
  package mutating func withTable<Result>(
    _ name: UnsafeRawBufferPointer, _ body: (inout Table) -> Result
  ) -> Result {
    let index = index(of: name)
    let wasWritten = tables[index].isWritten
    let result = body(&tables[index])
    if !wasWritten, tables[index].isWritten { moveAheadOfUnwritten(index) }
    return result
  }

  /// Moves a table that was now written to for the first time ahead of those that only a request named.
  private mutating func moveAheadOfUnwritten(_ index: Int) {
    var first = index
    while first > 0, !tables[first - 1].isWritten { first -= 1 }
    guard first < index else { return }
    let table = tables.remove(at: index)
    tables.insert(table, at: first)
    lastIndex = first
    noteIndices(of: first..<index + 1)
  }

  /// Takes back that events wrote to some tables, whose rows are gone again. A table with views is then one that only a
  /// request named; others are removed.
  package mutating func takeBackWrites(to isTakenBack: (Table) -> Bool) {
    var named = tables.filter { !$0.isWritten }
    for table in tables where table.isWritten && isTakenBack(table) && !table.views.isEmpty {
      var table = table
      table.noteUnwritten()
      named.append(table)
    }
    tables = tables.filter { $0.isWritten && !isTakenBack($0) } + named
    (lastIndex, indices) = (0, [:])
    noteIndices(of: 0..<tables.count)
  }

  package mutating func withTable<Result>(_ name: String, _ body: (inout Table) -> Result) -> Result {
    var name = name
    return name.withUTF8 { name in withTable(UnsafeRawBufferPointer(name), body) }
  }

  /// Begins a new lineage of states in the views of all tables: the events that are folded in from here on may also be
  /// folded into the previous lineage, at another time.
  mutating func beginLines() {
    for index in tables.indices where !tables[index].views.isEmpty { tables[index].beginLines() }
  }

  private mutating func index(of name: UnsafeRawBufferPointer) -> Int {
    // Consecutive events often belong to the same table.
    if lastIndex < tables.count, isTable(lastIndex, named: name) { return lastIndex }
    if let index = index(ofTable: name) {
      lastIndex = index
      return index
    }
    tables.append(Table(name: String(decoding: name, as: UTF8.self), recordsTouches: recordsTouches))
    lastIndex = tables.count - 1
    noteIndices(of: lastIndex..<tables.count)
    return lastIndex
  }
}

// MARK: Names

extension TableSet {
  /// The index of the table with a name; nil if there is none. O(1), but for names that were chosen to have one hash.
  package func index(ofTable name: UnsafeRawBufferPointer) -> Int? {
    if tables.count > Self.comparedCountMax {
      guard let index = indices[XXH64.of(name)] else { return nil }
      if isTable(index, named: name) { return index }
    }
    return tables.indices.first { isTable($0, named: name) }
  }

  /// The same, for the UTF-8 of the name of a table, as of the one that was written to last.
  func index(ofWritten name: [UInt8]) -> Int? {
    if lastIndex < tables.count, tables[lastIndex].nameBytes == name { return lastIndex }
    return name.withUnsafeBytes { index(ofTable: $0) }
  }

  private func index(ofTable name: String) -> Int? {
    var name = name
    return name.withUTF8 { index(ofTable: UnsafeRawBufferPointer($0)) }
  }

  private func isTable(_ index: Int, named name: UnsafeRawBufferPointer) -> Bool {
    tables[index].nameBytes.withUnsafeBytes { $0.hasSameBytes(as: name) }
  }

  /// Notes where tables are, after those in a range were added or moved.
  private mutating func noteIndices(of moved: Range<Int>) {
    guard tables.count > Self.comparedCountMax else { return }
    for index in indices.isEmpty ? 0..<tables.count : moved {
      indices[XXH64.of(tables[index].nameBytes)] = index
    }
  }
}

/// Events that a projection could not apply: the first hundred, and the total count.
public struct ProjectionFailures: Sendable, Hashable {
  /// The maximum number of listed failures.
  package static let listedCountMax = 100

  /// An event that changed nothing because the projection could not apply it.
  public struct Failure: Sendable, Hashable {
    /// The event's sequence in the log.
    public var sequence: UInt64
    /// What the projection threw, or which row could not be encoded or decoded or has an id that is too long.
    public var what: String

    package init(sequence: UInt64, what: String) {
      self.sequence = sequence
      self.what = what
    }
  }

  /// The first failures, in the order of their sequences.
  public private(set) var listed: [Failure] = []
  /// The number of all failures.
  public private(set) var count = 0

  package init() {}

  package init(listed: [Failure], count: Int) {
    self.listed = listed
    self.count = count
  }

  mutating func add(_ sequence: UInt64, _ what: String) {
    // A state that was forged may say any number.
    if count < .max { count += 1 }
    if listed.count < Self.listedCountMax { listed.append(Failure(sequence: sequence, what: what)) }
  }
}

extension EventRows {
  /// Lends each row once, in the order of the tables of the state after the event and of ids.
  package func forEach(in set: TableSet, _ body: (_ table: Int, _ id: UnsafeRawBufferPointer) -> Void) {
    forEach({ set.index(ofWritten: $0) }, body)
  }
}
