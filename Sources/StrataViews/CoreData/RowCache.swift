// Rows that were read ahead, up to a limit.

/// A cache of rows in two generations. When the young one is full it becomes the old one, and the old one is dropped, so
/// at most twice the size of a generation is kept, and rows that were used lately stay.
///
/// Keys are the bytes of the ids, because strings that are equal in Swift may be the ids of two rows.
///
/// It runs none of the program's code: keys are made by the caller, and rows that are removed are held until the caller
/// takes them, so that no row is released under a lock.
struct RowCache<Item: Sendable>: Sendable {
  typealias Key = [UInt8]

  private var young: [Key: Item] = [:]
  private var old: [Key: Item] = [:]
  private var fallen: [Item] = []
  private var fallenGenerations: [[Key: Item]] = []
  private let generationSize: Int

  /// - Parameter generationSize: 0 keeps nothing.
  init(generationSize: Int = 0) { self.generationSize = generationSize }

  var count: Int { young.count + old.count }

  func contains(_ key: Key) -> Bool { young[key] != nil || old[key] != nil }

  mutating func row(_ key: Key) -> Item? {
    if let row = young[key] { return row }
    guard let row = old.removeValue(forKey: key) else { return nil }
    add(row, key)
    return row
  }

  mutating func insert(_ row: Item, _ key: Key) {
    guard generationSize > 0 else { return }
    if let other = old.removeValue(forKey: key) { fallen.append(other) }
    add(row, key)
  }

  private mutating func add(_ row: Item, _ key: Key) {
    if young.count >= generationSize {
      fallenGenerations.append(old)
      old = young
      young = [:]
    }
    if let other = young.updateValue(row, forKey: key) { fallen.append(other) }
  }

  /// Removes rows that have changed or are no longer shown.
  mutating func forget(_ keys: [Key]) {
    for key in keys {
      if let row = young.removeValue(forKey: key) { fallen.append(row) }
      if let row = old.removeValue(forKey: key) { fallen.append(row) }
    }
  }

  mutating func forgetAll() {
    fallenGenerations += [young, old]
    (young, old) = ([:], [:])
  }

  /// The rows that were removed since the last call, for the caller to release.
  mutating func takeFallen() -> (rows: [Item], generations: [[Key: Item]]) {
    defer { (fallen, fallenGenerations) = ([], []) }
    return (fallen, fallenGenerations)
  }
}
