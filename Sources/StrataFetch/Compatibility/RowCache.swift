// Rows that were read ahead, and not more than a limit of them.

internal import StrataEvents

/// Rows by their ids, in two generations: when the young one is full it becomes the old one, and the old one is
/// dropped. So at most twice its size is kept, and what was used lately stays.
struct RowCache<Item: Identifiable & Sendable>: Sendable where Item.ID: DocumentID {
  /// The bytes of an id: strings that Swift calls equal may be ids of two rows.
  private typealias Key = [UInt8]

  private var young: [Key: Item] = [:]
  private var old: [Key: Item] = [:]
  private let generationSize: Int

  /// - Parameter generationSize: 0 keeps nothing.
  init(generationSize: Int = 0) { self.generationSize = generationSize }

  var count: Int { young.count + old.count }

  func contains(_ id: Item.ID) -> Bool {
    let key = Key(id.documentID.utf8)
    return young[key] != nil || old[key] != nil
  }

  mutating func row(_ id: Item.ID) -> Item? {
    guard count > 0 else { return nil }
    let key = Key(id.documentID.utf8)
    if let row = young[key] { return row }
    guard let row = old.removeValue(forKey: key) else { return nil }
    insert(row, key)
    return row
  }

  mutating func insert(_ row: Item, _ id: Item.ID) {
    guard generationSize > 0 else { return }
    let key = Key(id.documentID.utf8)
    old[key] = nil
    insert(row, key)
  }

  private mutating func insert(_ row: Item, _ key: Key) {
    if young.count >= generationSize {
      old = young
      young = [:]
    }
    young[key] = row
  }

  /// Forgets rows that are not as they were, or not shown any more.
  mutating func forget<Section>(_ change: DiffableFetchChange<Item, Section>) {
    guard count > 0 else { return }
    for id in change.deletes + change.updates {
      let key = Key(id.documentID.utf8)
      young[key] = nil
      old[key] = nil
    }
  }
}
