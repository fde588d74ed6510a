// The rows that differ between two versions of a table, for code of the program that may take its time.

/// The rows that differ between two versions of a table, a part at a time. Each of them is copied before it is lent.
package struct RowDifferences {
  /// The number of differences that are looked up at once.
  private static let countMax = 65_536

  private var ids: [UInt8] = []
  private var ends: [Int] = []
  /// How many rows of the newer version are before each.
  private var ranks: [Int] = []
  private var position = 0
  /// The greatest id that was read.
  private var last: [UInt8]?
  /// Whether no difference is after those that were read.
  package private(set) var isLast = false
  private var old: [UInt8] = []
  private var new: [UInt8] = []

  package init() {}

  package var count: Int { ends.count }
  package var isDone: Bool { position == ends.count }

  /// Whether the rows that differ are at least one in eight where they were looked for.
  package func areMany(of count: Int) -> Bool {
    let span = isLast ? count : (ranks.last ?? 0) - (ranks.first ?? 0) + 1
    return ends.count >= span / 8
  }

  /// Reads the next differences, and none of the rows. Those that were read are done.
  package mutating func read(from old: Tree, to new: Tree) {
    (ids, ends, ranks, position) = ([], [], [], 0)
    let last = last
    Tree.walkDifferences(from: old, to: new) { difference in
      if let last, last.withUnsafeBytes({ $0.order(difference.key) >= 0 }) { return true }
      ids.append(contentsOf: difference.key)
      ends.append(ids.count)
      ranks.append(difference.newRank)
      return ends.count < Self.countMax
    }
    isLast = ends.count < Self.countMax
    if let end = ends.last { self.last = Array(ids[(ends.dropLast().last ?? 0)..<end]) }
  }

  /// Lends the next row as it is in both versions. Returns its rank in the newer one.
  package mutating func next(
    _ before: Tree, _ after: Tree, _ body: (UnsafeRawBufferPointer, _ old: RowView?, _ new: RowView?) -> Void
  ) -> Int {
    defer { position += 1 }
    let range = (position == 0 ? 0 : ends[position - 1])..<ends[position]
    func copy(_ tree: Tree, _ id: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
      bytes.removeAll(keepingCapacity: true)
      tree.withValue(of: id) { value in if let value { bytes.append(contentsOf: value) } }
    }
    ids.withUnsafeBytes { ids in
      let id = UnsafeRawBufferPointer(rebasing: ids[range])
      copy(before, id, to: &old)
      copy(after, id, to: &new)
      old.withUnsafeBytes { old in
        new.withUnsafeBytes { new in
          body(
            id, old.isEmpty ? nil : StoredRow.view(id: id, old),
            new.isEmpty ? nil : StoredRow.view(id: id, new))
        }
      }
    }
    return ranks[position]
  }
}
