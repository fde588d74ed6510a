// Rows that were read ahead, and not more than a limit of them.

/// Rows by the bytes of their ids (strings that Swift calls equal may be ids of two rows), in two generations: when
/// the young one is full it becomes the old one, and the old one is dropped. So at most twice its size is kept, and
/// what was used lately stays.
///
/// It runs none of the program's code: keys are made by the caller, and rows that fall out are kept until they are
/// taken, so that under a lock no row ends.
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

  /// Forgets rows that are not as they were, or not shown any more.
  mutating func forget(_ keys: [Key]) {
    for key in keys {
      if let row = young.removeValue(forKey: key) { fallen.append(row) }
      if let row = old.removeValue(forKey: key) { fallen.append(row) }
    }
  }

  /// The rows that fell out since the last call, for the caller to let go of.
  mutating func takeFallen() -> (rows: [Item], generations: [[Key: Item]]) {
    defer { (fallen, fallenGenerations) = ([], []) }
    return (fallen, fallenGenerations)
  }
}
