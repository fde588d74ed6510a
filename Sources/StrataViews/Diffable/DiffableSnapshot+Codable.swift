// Equality, hashing and coding of snapshots.

/// Two snapshots are equal if they have the same sections and items in the same order. Marks do not count.
extension DiffableSnapshot: Hashable {
  /// O(n), and O(1) if one is a copy of the other. Sections that share their memory are not compared.
  @inlinable public static func == (a: Self, b: Self) -> Bool { a.sections == b.sections }

  @inlinable public func hash(into hasher: inout Hasher) {
    hasher.combine(sections.count)
    for content in sections {
      hasher.combine(content.id)
      hasher.combine(content.items)
    }
  }
}

private enum SnapshotKey: String, CodingKey {
  case sections, reloadedSections, reloadedItems, reconfiguredItems
}

private enum SectionKeyName: String, CodingKey {
  case id, items
}

/// Encoded as `{"sections": [{"id": …, "items": […]}]}`, with the marks if there are any.
extension DiffableSnapshot: Encodable where ItemID: Encodable, Section: Encodable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: SnapshotKey.self)
    var list = container.nestedUnkeyedContainer(forKey: .sections)
    for content in sections {
      var section = list.nestedContainer(keyedBy: SectionKeyName.self)
      try section.encode(content.id, forKey: .id)
      try section.encode(content.items, forKey: .items)
    }
    func encode(_ marked: [some Encodable], _ key: SnapshotKey) throws {
      if !marked.isEmpty { try container.encode(marked, forKey: key) }
    }
    try encode(reloadedSectionIdentifiers, .reloadedSections)
    try encode(reloadedItemIdentifiers, .reloadedItems)
    try encode(reconfiguredItemIdentifiers, .reconfiguredItems)
  }
}

extension DiffableSnapshot: Decodable where ItemID: Decodable, Section: Decodable {
  /// Decodes a snapshot. Throws `DecodingError` if a section or an item occurs twice or is marked twice, or if a marked
  /// one is not in the snapshot.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: SnapshotKey.self)
    func refuse(_ key: SnapshotKey, _ what: String) -> DecodingError {
      .dataCorruptedError(forKey: key, in: container, debugDescription: what)
    }
    var list = try container.nestedUnkeyedContainer(forKey: .sections)
    var sections: [(id: Section, items: [ItemID])] = []
    while !list.isAtEnd {
      let section = try list.nestedContainer(keyedBy: SectionKeyName.self)
      sections.append(
        (try section.decode(Section.self, forKey: .id), try section.decode([ItemID].self, forKey: .items)))
    }
    do throws(DiffableSnapshotError) {
      try self.init(validating: sections)
    } catch {
      switch error {
      case .duplicateSection(let section): throw refuse(.sections, "the section \(section) occurs twice")
      case .duplicateItem(let item): throw refuse(.sections, "the item \(item) occurs twice")
      default: throw refuse(.sections, "\(error)")
      }
    }
    for section in try container.decodeIfPresent([Section].self, forKey: .reloadedSections) ?? [] {
      guard contains(section: section), !marks.sections.contains(section) else {
        throw refuse(.reloadedSections, "the section \(section) is not in the snapshot, or is marked twice")
      }
      marks.mark(section: section)
    }
    let marked: [(SnapshotKey, ItemMark)] = [(.reloadedItems, .reload), (.reconfiguredItems, .reconfigure)]
    for (key, mark) in marked {
      for item in try container.decodeIfPresent([ItemID].self, forKey: key) ?? [] {
        guard contains(item), marks.items[item] == nil else {
          throw refuse(key, "the item \(item) is not in the snapshot, or is marked twice")
        }
        marks.mark(item, mark)
      }
    }
  }
}
