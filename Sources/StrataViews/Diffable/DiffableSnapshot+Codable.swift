// Equality, hashes and coding of snapshots.

/// By sections and items in their order. Marks do not count.
extension DiffableSnapshot: Hashable {
  /// O(n), and O(1) where one is a copy of the other; sections that they share are not looked at.
  public static func == (a: Self, b: Self) -> Bool { a.contents == b.contents }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(contents.count)
    for content in contents {
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

/// `{"sections": [{"id": …, "items": […]}]}`, and the marks where there are some.
extension DiffableSnapshot: Encodable where SectionID: Encodable, ItemID: Encodable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: SnapshotKey.self)
    var list = container.nestedUnkeyedContainer(forKey: .sections)
    for content in contents {
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

extension DiffableSnapshot: Decodable where SectionID: Decodable, ItemID: Decodable {
  /// Throws `DecodingError` where a section or an item occurs twice, or where a mark is on none.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: SnapshotKey.self)
    func refuse(_ key: SnapshotKey, _ what: String) -> DecodingError {
      .dataCorruptedError(forKey: key, in: container, debugDescription: what)
    }
    var list = try container.nestedUnkeyedContainer(forKey: .sections)
    var sections: [(id: SectionID, items: [ItemID])] = []
    while !list.isAtEnd {
      let section = try list.nestedContainer(keyedBy: SectionKeyName.self)
      sections.append(
        (try section.decode(SectionID.self, forKey: .id), try section.decode([ItemID].self, forKey: .items)))
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
    for section in try container.decodeIfPresent([SectionID].self, forKey: .reloadedSections) ?? [] {
      guard contains(section: section), !marks.sections.contains(section) else {
        throw refuse(.reloadedSections, "the section \(section) is not there, or is marked twice")
      }
      marks.mark(section: section)
    }
    let marked: [(SnapshotKey, ItemMark)] = [(.reloadedItems, .reload), (.reconfiguredItems, .reconfigure)]
    for (key, mark) in marked {
      for item in try container.decodeIfPresent([ItemID].self, forKey: key) ?? [] {
        guard contains(item), marks.items[item] == nil else {
          throw refuse(key, "the item \(item) is not there, or is marked twice")
        }
        marks.mark(item, mark)
      }
    }
  }
}
