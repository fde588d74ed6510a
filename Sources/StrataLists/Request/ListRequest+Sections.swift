// The sections of a list: how they are formed, their order, and those that exist without items.

public import StrataDocuments
public import StrataTables

/// The treatment of rows whose section is nil: missing, or null.
public enum SectionNils: Hashable, Sendable {
  /// They form one section, which comes before all others where sections are ordered by key.
  case first
  /// They form one section, which comes after all others where sections are ordered by key.
  case last
  /// They are left out and reported among the problems. Nil is then no section that `keepingEmpty` may declare.
  case required
}

/// The order of the sections of a list. Ties are ordered by section, ascending.
public enum ListSectionOrder<Section: Hashable & Sendable>: Hashable, Sendable {
  /// By the section itself; nil first by default.
  case key
  /// By the section itself, descending; nil stays where it was.
  case keyDescending
  /// These first, in this order, then all others by key.
  case list([Section])
  /// In the order in which the sections first appear when all items are sorted without sections.
  case first
  /// The section with the most items first.
  case count
}

// MARK: Sections

extension ListRequest {
  /// The same rows in sections by a property. A computed property must depend on the item alone: a label such as
  /// "Today" does not; derive it from the section when it is shown.
  ///
  /// - Parameter nils: the treatment of rows whose property is nil. Nil and an empty string are two sections.
  public func sectioned<Value: SortKey & Hashable>(
    by keyPath: any KeyPath<Item, Value> & Sendable, nils: SectionNils = .first
  ) -> ListRequest<Item, Value> {
    sectioned(
      by: KeyPart(keyPath, [], isRequired: nils == .required), nils,
      decode: { reader throws(SortKeyError) in try reader.read() }
    ) {
      $0.append($1)
    }
  }

  /// The same rows in sections by a field of their documents. A missing field and null are the same section.
  public func sectioned(
    byField path: FieldPath, nils: SectionNils = .first
  ) -> ListRequest<Item, DocumentValue> {
    sectioned(
      by: KeyPart(field: path, [], isRequired: nils == .required), nils,
      decode: { reader throws(SortKeyError) in try reader.readDocumentValue() }
    ) { writer, value in
      // A value that cannot be a key is not the section of any row.
      guard value.refusal == nil else { return }
      value.cbor().withUnsafeBytes { bytes in
        do throws(SortKeyError) { try writer.append(documentValue: bytes) } catch {}
      }
    }
  }

  private func sectioned<Value: Hashable & Sendable>(
    by part: KeyPart<Item>, _ nils: SectionNils,
    decode: @escaping @Sendable (inout SortKeyReader) throws(SortKeyError) -> Value,
    encode: @escaping @Sendable (inout SortKeyWriter, Value) -> Void
  ) -> ListRequest<Item, Value> {
    var request = ListRequest<Item, Value>(
      section: part,
      decodeSection: { bytes in
        var reader = SortKeyReader(bytes)
        return try? decode(&reader)
      },
      encodeSection: { value in
        var writer = SortKeyWriter()
        encode(&writer, value)
        return SectionBytes.shortened(writer.bytes) ?? writer.bytes
      })
    request.areNilsLast = nils == .last
    request.sorts = sorts
    request.filters = filters
    request.window = window
    request.reportsTouches = reportsTouches
    request.aggregates = aggregates
    request.kept = kept
    return request
  }
}

// MARK: Order of sections

extension ListRequest {
  /// The same sections in another order.
  public func sectionsOrdered(by order: ListSectionOrder<Section>) -> Self {
    with { $0.sectionOrder = .plain(order) }
  }

  /// The same sections, with these first, in this order, then all others.
  ///
  /// - Parameter keepingEmpty: whether these sections exist even without items.
  public func sectionsOrdered(by sections: [Section], keepingEmpty: Bool = false) -> Self {
    let request = sectionsOrdered(by: .list(sections))
    return keepingEmpty ? request.keepingEmpty(sections) : request
  }

  /// The same sections, ordered by a key that a closure derives from each.
  ///
  /// The closure must be pure. It is called once for each section that appears.
  ///
  /// - Parameter id: names the closure and every value that it captures, as in `filtered(id:_:)`.
  public func sectionsOrdered<Key: SortKey>(
    id: some Codable & Hashable & Sendable, _ direction: SortDirection = .forward,
    key: @escaping @Sendable (Section) -> Key
  ) -> Self {
    sectionsOrdered(.id(encoding: id), direction, key)
  }

  /// The same sections, ordered by a key that a closure derives from each. A request with a closure without an id
  /// equals only its own copies.
  public func sectionsOrdered<Key: SortKey>(
    _ direction: SortDirection = .forward, key: @escaping @Sendable (Section) -> Key
  ) -> Self {
    sectionsOrdered(.unnamed(), direction, key)
  }

  private func sectionsOrdered<Key: SortKey>(
    _ identity: ClosureIdentity, _ direction: SortDirection, _ key: @escaping @Sendable (Section) -> Key
  ) -> Self {
    let options = SortKeyOptions().directed(direction)
    return with {
      $0.sectionOrder = .ranked(identity, direction) { section, writer in writer.append(key(section), options)
      }
    }
  }

  /// The same sections, ordered by a comparison such as `sort(by:)` of an array takes.
  ///
  /// The closure must be pure. It is called O(log sections) times for each section that appears. An inconsistent
  /// comparison results in some order. If a key can be derived from a section, ordering by that key costs less.
  ///
  /// - Parameter id: names the closure and every value that it captures, as in `filtered(id:_:)`.
  public func sectionsOrdered(
    id: some Codable & Hashable & Sendable,
    areInIncreasingOrder: @escaping @Sendable (Section, Section) -> Bool
  ) -> Self {
    with { $0.sectionOrder = .compared(.id(encoding: id), areInIncreasingOrder) }
  }

  /// The same sections, ordered by a comparison. A request with a closure without an id equals only its own copies.
  public func sectionsOrdered(
    areInIncreasingOrder: @escaping @Sendable (Section, Section) -> Bool
  ) -> Self {
    with { $0.sectionOrder = .compared(.unnamed(), areInIncreasingOrder) }
  }
}

// MARK: Order by values of items

extension ListRequest {
  /// The same sections, ordered by the greatest value of a property among all their items, shown or not: `.reverse` by
  /// the time of an item puts the section with the newest item first.
  ///
  /// The property must depend on the item alone. Nil does not count as a value; sections without a value come last in
  /// either direction. O(log n) for each change.
  public func sectionsOrdered<Value: SortKey>(
    byMaximumOf keyPath: any KeyPath<Item, Value> & Sendable, _ direction: SortDirection = .forward,
    _ options: SortKeyOptions = []
  ) -> Self {
    sectionsOrdered(by: KeyPart(keyPath, options.aggregated(isMaximum: true)), isMaximum: true, direction)
  }

  /// The same sections, ordered by the least value of a property among all their items.
  public func sectionsOrdered<Value: SortKey>(
    byMinimumOf keyPath: any KeyPath<Item, Value> & Sendable, _ direction: SortDirection = .forward,
    _ options: SortKeyOptions = []
  ) -> Self {
    sectionsOrdered(by: KeyPart(keyPath, options.aggregated(isMaximum: false)), isMaximum: false, direction)
  }

  /// The same sections, ordered by the greatest value of a field among all their items.
  public func sectionsOrdered(
    byMaximumOfField path: FieldPath, _ direction: SortDirection = .forward, _ options: SortKeyOptions = []
  ) -> Self {
    sectionsOrdered(by: KeyPart(field: path, options.aggregated(isMaximum: true)), isMaximum: true, direction)
  }

  /// The same sections, ordered by the least value of a field among all their items.
  public func sectionsOrdered(
    byMinimumOfField path: FieldPath, _ direction: SortDirection = .forward, _ options: SortKeyOptions = []
  ) -> Self {
    sectionsOrdered(
      by: KeyPart(field: path, options.aggregated(isMaximum: false)), isMaximum: false, direction)
  }

  private func sectionsOrdered(
    by part: KeyPart<Item>, isMaximum: Bool, _ direction: SortDirection
  ) -> Self {
    let aggregate = SectionAggregate(isMaximum: isMaximum, isDescending: direction == .reverse)
    return with { $0.sectionOrder = .extreme(part, aggregate) }
  }
}

extension SortKeyOptions {
  /// Options that sort nil so that it is chosen only if there is no other value.
  fileprivate func aggregated(isMaximum: Bool) -> SortKeyOptions {
    let ascending = subtracting(.descending)
    return isMaximum ? ascending.subtracting(.nilsLast) : ascending.union(.nilsLast)
  }
}

// MARK: Sections without items

extension ListRequest {
  /// The same list, in which these sections exist even without items: before their first row appears, and after their
  /// last one has left. All other sections appear and disappear with their items. Calls add up.
  ///
  /// The sections have to be named; "those that once had rows" is not an option, because a list is a function of the
  /// current rows: two stores with the same rows show the same list, whatever they held before.
  ///
  /// Empty sections are at the position that the order gives them; if the items determine the order, they come after
  /// the sections with items. A value that cannot be the section of a row is left out. A list with `nils: .required` in
  /// which nil is declared contradicts itself: it throws `ListError.store` with `invalid` where it is used.
  public func keepingEmpty(_ sections: [Section]) -> Self {
    with { $0.declaredSections += sections }
  }
}
