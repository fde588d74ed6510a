// Whose keys a run holds: those of all rows, and those of each list that the history keeps.

internal import StrataBase
internal import StrataTables

/// Somebody who has keys: all tables together, or a kept list. A run holds for each key when it was there, so the keys
/// as they were after an event are read, and not made again from rows.
struct KeyOwner: Sendable {
  /// One kind of an owner's keys.
  enum Kind: UInt8, Sendable {
    /// Table ‖ id of the rows that exist.
    case rows
    /// Table ‖ id of the rows whose last event could not be applied.
    case refused
    /// Section ‖ sort keys ‖ id of the items of a list.
    case items
    /// Section ‖ value ‖ id, for a list whose sections are ordered by values of their items.
    case values
    /// The ids of the rows that a list cannot place, or places by a key that was shortened.
    case unplaced

    static let count = 5

    /// Whether the sections of these keys are counted.
    var hasSections: Bool { self == .items }
  }

  /// Identifies the owner in a run.
  let number: UInt64
  /// Nil for all rows.
  let list: (table: String, definition: ViewDefinition)?

  let kinds: [Kind]

  /// Whether the program's code makes the keys. If that reads more than the row, it makes other ones at another time.
  var isMadeByProgram: Bool { list?.definition.calls == .keys }

  /// The keys of all rows, which every run has.
  static let rows = KeyOwner(number: 0, list: nil, kinds: [.rows, .refused])

  private init(number: UInt64, list: (table: String, definition: ViewDefinition)?, kinds: [Kind]) {
    (self.number, self.list, self.kinds) = (number, list, kinds)
  }

  /// The keys of a kept list; nil if a history cannot hold them: what the program's code leaves out, or how it orders
  /// sections, depends on when it was asked.
  init?(_ table: String, _ definition: ViewDefinition) {
    guard let kept = definition.kept, definition.calls != .filters, !definition.holdsLabels else {
      return nil
    }
    let text = [table, kept.name, kept.identity, String(kept.fingerprint)].joined(separator: "\0")
    self.init(
      number: max(1, XXH64.of(Array(text.utf8))), list: (table, definition),
      kinds: definition.holdsValues ? [.items, .values, .unplaced] : [.items, .unplaced])
  }

  /// An owner of which only its keys in a run are known: they can be merged, and not made.
  init(known keys: OwnerKeys) { self.init(number: keys.owner, list: nil, kinds: keys.sets.map(\.kind)) }
}

extension [KeyOwner] {
  /// Adds a kept list, in the place of one of another definition with its name in its table. Returns whether one was
  /// added: not if it is there already, or a history cannot hold it.
  mutating func keep(_ definition: ViewDefinition, of table: String) -> Bool {
    guard let name = definition.kept?.name else { return false }
    let owner = KeyOwner(table, definition)
    if let owner, contains(where: { $0.number == owner.number }) { return false }
    removeAll { other in
      other.list.map { $0.table.utf8.elementsEqual(table.utf8) && $0.definition.kept?.name == name } ?? false
    }
    if let owner { append(owner) }
    return owner != nil
  }
}

/// A key, and when it was there, as one run knows.
struct KeyRecord {
  var key: [UInt8] = []
  var sectionLength = 0
  var idLength = 0
  /// Whether it was there at the run's begin.
  var isAlive = false
  /// The events that made it appear and disappear, in turn.
  var moments: [UInt64] = []

  var isAliveAtEnd: Bool { isAlive != (moments.count % 2 == 1) }

  /// 1 if it is there at the run's end; in a delta, by how much that differs from the begin.
  func countAtEnd(isBase: Bool) -> Int64 { (isAliveAtEnd ? 1 : 0) - (!isBase && isAlive ? 1 : 0) }
}

/// The keys of one owner in a run.
struct OwnerKeys: Equatable, Sendable {
  var owner: UInt64
  var sets: [KeySetRoot] = []
}

/// Where the keys of one kind are.
struct KeySetRoot: Equatable, Sendable {
  struct Addresses: Equatable, Sendable {
    var pages: RecordAddress
    var tally: RecordAddress
  }

  var kind: KeyOwner.Kind
  var count: UInt64 = 0
  /// Nil if there is no key.
  var addresses: Addresses?
  /// The sections of the keys in the same form: where their names and counts are, and their tally.
  var sections: Addresses?
}

// MARK: Encoding

extension OwnerKeys {
  static func encode(_ keys: [OwnerKeys], to bytes: inout RawBuffer) {
    for owner in keys {
      bytes.append(integer: owner.owner)
      bytes.append(varint: UInt64(owner.sets.count))
      for set in owner.sets {
        bytes.append(byte: set.kind.rawValue)
        bytes.append(varint: set.count)
        for addresses in [set.addresses, set.sections].compactMap({ $0 }) {
          addresses.pages.append(to: &bytes)
          addresses.tally.append(to: &bytes)
        }
      }
    }
  }

  static func all(decoding record: RunRecord) throws(PageDamage) -> [OwnerKeys] {
    var cursor = record.cursor
    var owners: [OwnerKeys] = []
    while cursor.remaining > 0 {
      guard let owner = cursor.integer(UInt64.self), let count = cursor.varint(), count <= 5,
        !owners.contains(where: { $0.owner == owner })
      else { throw PageDamage("the keys of a run are broken") }
      var keys = OwnerKeys(owner: owner)
      for _ in 0..<count {
        guard let set = KeySetRoot(&cursor), !keys.sets.contains(where: { $0.kind == set.kind }) else {
          throw PageDamage("the keys of a run are broken")
        }
        keys.sets.append(set)
      }
      owners.append(keys)
    }
    return owners
  }
}

extension KeySetRoot {
  fileprivate init?(_ cursor: inout ByteCursor) {
    guard let kind = cursor.integer(UInt8.self).flatMap(KeyOwner.Kind.init), let count = cursor.varint()
    else {
      return nil
    }
    self.init(kind: kind, count: count)
    guard count > 0 else { return }
    guard let addresses = Addresses(&cursor) else { return nil }
    self.addresses = addresses
    guard kind.hasSections else { return }
    guard let sections = Addresses(&cursor) else { return nil }
    self.sections = sections
  }
}

extension KeySetRoot.Addresses {
  fileprivate init?(_ cursor: inout ByteCursor) {
    guard let pages = RecordAddress(&cursor), let tally = RecordAddress(&cursor) else { return nil }
    self.init(pages: pages, tally: tally)
  }
}
