// The order of sections that a request selects, and its form for a view.

internal import StrataLog
internal import StrataTables

/// An order of sections with the code or values that it needs.
enum SectionOrderPart<Item: Sendable, Section: Hashable & Sendable>: Sendable {
  case plain(ListSectionOrder<Section>)
  /// By the key that a closure derives from a section.
  case ranked(ClosureIdentity, SortDirection, @Sendable (Section, inout SortKeyWriter) -> Void)
  case compared(ClosureIdentity, @Sendable (Section, Section) -> Bool)
  /// By the greatest or least of the items' values.
  case extreme(KeyPart<Item>, SectionAggregate)

  /// What makes two orders equal.
  enum Identity: Hashable, Sendable {
    case key, keyDescending, first, count
    case list([[UInt8]])
    case ranked(ClosureIdentity, SortDirection)
    case compared(ClosureIdentity)
    case extreme(KeyPart<Item>, SectionAggregate)
  }
}

extension ListRequest {
  var orderIdentity: SectionOrderPart<Item, Section>.Identity {
    switch sectionOrder {
    case .plain(.key): .key
    case .plain(.keyDescending): .keyDescending
    case .plain(.first): .first
    case .plain(.count): .count
    case .plain(.list(let sections)): .list(sections.map(encodeSection))
    case .ranked(let identity, let direction, _): .ranked(identity, direction)
    case .compared(let identity, _): .compared(identity)
    case .extreme(let part, let aggregate): .extreme(part, aggregate)
    }
  }

  /// The order of sections by the bytes of their keys. A key that does not decode comes before all others.
  var encodedOrder: SectionOrder {
    switch sectionOrder {
    case .plain(.key): .key
    case .plain(.keyDescending): .keyDescending
    case .plain(.first): .first
    case .plain(.count): .count
    case .plain(.list(let sections)): .list(sections.map(encodeSection))
    case .ranked(_, _, let rank):
      .ranked { [decodeSection] bytes, writer in
        if let section = decodeSection(bytes) { rank(section, &writer) }
      }
    case .compared(_, let precedes):
      .compared { [decodeSection] a, b in
        guard let a = decodeSection(a), let b = decodeSection(b) else { return false }
        return precedes(a, b)
      }
    case .extreme(_, let aggregate): .extreme(aggregate)
    }
  }

  /// The row value that determines the order of sections, if there is one.
  var sectionValue: KeyPart<Item>? {
    if case .extreme(let part, _) = sectionOrder { part } else { nil }
  }

  /// The keys of the declared sections, without duplicates, ascending. A value that cannot be the section of a row has
  /// none.
  var declaredKeys: [[UInt8]] {
    guard section != nil, !declaredSections.isEmpty else { return [] }
    let keys = declaredSections.map(encodeSection).filter { key in
      key.count <= ViewDefinition.sectionLengthMax && key.withUnsafeBytes { decodeSection($0) } != nil
    }
    return Set(keys).sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// The keys of the declared sections. Throws if nil is one of them and no row may be in it.
  func checkedDeclaredKeys() throws(ListError) -> [[UInt8]] {
    let keys = declaredKeys
    guard let section, section.isRequired, keys.contains(where: Self.isNil) else { return keys }
    throw .store(
      .invalid(
        what: "nil is declared as a section by \(section.name), which is required, so that no row is in it",
        next: "leave nil out of keepingEmpty, or say with nils: .first or .last where its rows go"))
  }

  private static func isNil(_ key: [UInt8]) -> Bool {
    var writer = SortKeyWriter()
    key.withUnsafeBytes { writer.append(raw: $0) }
    return writer.isNil(from: 0)
  }
}
