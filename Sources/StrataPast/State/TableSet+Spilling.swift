// Trees of a state that move to a file, so that they need not stay in memory.

internal import StrataBase
internal import StrataLog
internal import StrataTables

extension Fold {
  /// Moves leaves of the state to a file, if those that are in memory only, and that no other state has, take more than a
  /// number of bytes. Returns how many they still take.
  func spill(to file: SpillFile, over limit: Int) throws(StoreError) -> Int {
    var bytes = 0
    try lendLeaves { state throws(StoreError) in
      bytes = state.ownLeafBytes()
      guard bytes > limit else { return false }
      try state.spill(to: file, file.healing(log, folding, sequence: state.sequence))
      bytes = 0
      return true
    }
    return bytes
  }
}

extension TableSet {
  /// The bytes of leaves that are in memory only, and that no other state has.
  mutating func ownLeafBytes() -> Int {
    var bytes = 0
    forEachTree { tree, _, _ in bytes += tree.ownLeafBytes() }
    return bytes
  }

  /// Moves the leaves to a file that are in memory only, and that no other state has.
  mutating func spill(to file: SpillFile, _ healing: StateHealing) throws(StoreError) {
    try forEachTree { (tree, table, part) throws(StoreError) in
      try file.spill(&tree, healing.healing(table, part), part)
    }
  }

  /// Moves leaves to a file that are in others, for all states that have them.
  func move(from lineages: [StateLineage], to file: SpillFile, _ healing: StateHealing) throws(StoreError) {
    var set = self
    try set.forEachTree { (tree, table, part) throws(StoreError) in
      try file.move(tree, from: lineages, healing.healing(table, part), part)
    }
  }
}
