// Coding of steps.

public import StrataLists

private enum StepKey: String, CodingKey {
  case step, item, section, at, from, to, isChanged
}

private enum StepName: String, Codable {
  case removeItem, removeSection, insertSection, insertItem, moveSection, moveItem, updateItem, updateSection
}

/// Encoded as an object with the name of the case as `step`, and its parts by their names. Indices of items are
/// encoded as `ListIndex` is, and indices of sections as numbers:
///
/// ```
/// {"step": "removeItem", "item": ID, "at": {"section": 0, "item": 2}}       also insertItem and updateItem
/// {"step": "removeSection", "section": SECTION, "at": 1}                    also insertSection and updateSection
/// {"step": "moveItem", "item": ID, "from": {…}, "to": {…}, "isChanged": true}
/// {"step": "moveSection", "section": SECTION, "from": 0, "to": 2}
/// ```
///
/// Sections are encoded as they encode themselves, and JSON does not keep all that a field can hold: `mapSection` to a
/// ``SectionKey`` does.
extension ListStep: Encodable where ItemID: Encodable, Section: Encodable {
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: StepKey.self)
    func encode(_ step: StepName, item: ItemID, at index: ListIndex) throws {
      try container.encode(step, forKey: .step)
      try container.encode(item, forKey: .item)
      try container.encode(index, forKey: .at)
    }
    func encode(_ step: StepName, section: Section, at index: Int) throws {
      try container.encode(step, forKey: .step)
      try container.encode(section, forKey: .section)
      try container.encode(index, forKey: .at)
    }
    switch self {
    case .removeItem(let item, let index): try encode(.removeItem, item: item, at: index)
    case .removeSection(let section, let index): try encode(.removeSection, section: section, at: index)
    case .insertSection(let section, let index): try encode(.insertSection, section: section, at: index)
    case .insertItem(let item, let index): try encode(.insertItem, item: item, at: index)
    case .moveSection(let section, let from, let to):
      try container.encode(StepName.moveSection, forKey: .step)
      try container.encode(section, forKey: .section)
      try container.encode(from, forKey: .from)
      try container.encode(to, forKey: .to)
    case .moveItem(let item, let from, let to, let isChanged):
      try container.encode(StepName.moveItem, forKey: .step)
      try container.encode(item, forKey: .item)
      try container.encode(from, forKey: .from)
      try container.encode(to, forKey: .to)
      try container.encode(isChanged, forKey: .isChanged)
    case .updateItem(let item, let index): try encode(.updateItem, item: item, at: index)
    case .updateSection(let section, let index): try encode(.updateSection, section: section, at: index)
    }
  }
}

extension ListStep: Decodable where ItemID: Decodable, Section: Decodable {
  /// Decodes a step. Throws `DecodingError` for a step of another name, without one of its parts, or with a negative
  /// index. Whether the indices fit a list is found where the step is applied.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: StepKey.self)
    func item() throws -> ItemID { try container.decode(ItemID.self, forKey: .item) }
    func section() throws -> Section { try container.decode(Section.self, forKey: .section) }
    func negative(_ key: StepKey) -> DecodingError {
      .dataCorruptedError(
        forKey: key, in: container, debugDescription: "indices count from 0, and this one is negative")
    }
    func index(_ key: StepKey) throws -> ListIndex {
      let index = try container.decode(ListIndex.self, forKey: key)
      guard index.section >= 0, index.item >= 0 else { throw negative(key) }
      return index
    }
    func number(_ key: StepKey) throws -> Int {
      let number = try container.decode(Int.self, forKey: key)
      guard number >= 0 else { throw negative(key) }
      return number
    }
    switch try container.decode(StepName.self, forKey: .step) {
    case .removeItem: self = .removeItem(try item(), at: try index(.at))
    case .removeSection: self = .removeSection(try section(), at: try number(.at))
    case .insertSection: self = .insertSection(try section(), at: try number(.at))
    case .insertItem: self = .insertItem(try item(), at: try index(.at))
    case .moveSection: self = .moveSection(try section(), from: try number(.from), to: try number(.to))
    case .moveItem:
      self = .moveItem(
        try item(), from: try index(.from), to: try index(.to),
        isChanged: try container.decode(Bool.self, forKey: .isChanged))
    case .updateItem: self = .updateItem(try item(), at: try index(.at))
    case .updateSection: self = .updateSection(try section(), at: try number(.at))
    }
  }
}
