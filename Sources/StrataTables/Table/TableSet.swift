// The state of a fold: its tables, and how far it has come.

/// The tables of one projection after the events up to a sequence. A value: a copy is O(tables).
package struct TableSet: Sendable {
  /// The last sequence that is folded in; 0 before everything.
  package internal(set) var sequence: UInt64
  /// The commit time of its append; nil at 0.
  package internal(set) var time: Int64?
  /// The chain of the log behind `sequence`; nil where it is not known, as between the appends of one block.
  package internal(set) var chain: UInt64?
  /// How many appends are folded in.
  package internal(set) var appendCount: UInt64 = 0
  /// Whether a write of an equal document raises its row's revision.
  package let recordsTouches: Bool
  /// In the order in which they were first written to.
  package private(set) var tables: [Table] = []
  /// Events that the projection could not apply.
  package internal(set) var failures = ProjectionFailures()
  private var lastIndex = 0

  package init(sequence: UInt64 = 0, recordsTouches: Bool = false) {
    self.sequence = sequence
    self.recordsTouches = recordsTouches
  }

  /// The table with a name; an empty one where nothing was written to it.
  package subscript(name: String) -> Table {
    tables.first { $0.name.utf8.elementsEqual(name.utf8) }
      ?? Table(name: name, recordsTouches: recordsTouches)
  }

  /// Whether anything was ever written to a table.
  package func contains(_ name: String) -> Bool {
    tables.contains { $0.name.utf8.elementsEqual(name.utf8) }
  }

  /// Changes a table in place, which is made where there is none.
  package mutating func withTable<Result>(
    _ name: UnsafeRawBufferPointer, _ body: (inout Table) -> Result
  ) -> Result {
    body(&tables[index(of: name)])
  }

  package mutating func withTable<Result>(_ name: String, _ body: (inout Table) -> Result) -> Result {
    var name = name
    return name.withUTF8 { name in withTable(UnsafeRawBufferPointer(name), body) }
  }

  /// Begins another line of states in the views of all tables: what is folded in from here on may be folded into
  /// the line before as well, at another time.
  mutating func beginLines() {
    for index in tables.indices where !tables[index].views.isEmpty { tables[index].beginLines() }
  }

  private mutating func index(of name: UnsafeRawBufferPointer) -> Int {
    // Events of one table tend to follow each other.
    func isNamed(_ index: Int) -> Bool {
      tables[index].nameBytes.withUnsafeBytes { $0.hasSameBytes(as: name) }
    }
    if lastIndex < tables.count, isNamed(lastIndex) { return lastIndex }
    if let index = tables.indices.first(where: isNamed) {
      lastIndex = index
      return index
    }
    tables.append(Table(name: String(decoding: name, as: UTF8.self), recordsTouches: recordsTouches))
    lastIndex = tables.count - 1
    return lastIndex
  }
}

/// Events that a projection refused: the first hundred, and how many in all.
public struct ProjectionFailures: Sendable, Hashable {
  /// How many are listed at most.
  public static let listedCountMax = 100

  /// An event that changed nothing, since the projection could not apply it.
  public struct Failure: Sendable, Hashable {
    /// The event's place in the log.
    public var sequence: UInt64
    /// What the projection threw, or which row could not be encoded or decoded.
    public var what: String
  }

  /// The first of them, by sequence.
  public private(set) var listed: [Failure] = []
  /// How many there are.
  public private(set) var count = 0

  mutating func add(_ sequence: UInt64, _ what: String) {
    count += 1
    if listed.count < Self.listedCountMax { listed.append(Failure(sequence: sequence, what: what)) }
  }
}
