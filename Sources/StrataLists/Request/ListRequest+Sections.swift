// The sections of a list: by what, in which order, and which are there without items.

public import StrataDocuments
public import StrataTables

/// What becomes of rows whose section is nil: missing, or null.
public enum SectionNils: Hashable, Sendable {
  /// They are one section, which stands before all others where sections stand by themselves.
  case first
  /// They are one section, which stands behind all others where sections stand by themselves.
  case last
  /// They are left out, and reported among the problems.
  case required
}

/// In which order the sections of a list stand. Ties stand by section, ascending.
public enum ListSectionOrder<Section: Hashable & Sendable>: Hashable, Sendable {
  /// By the section itself, nil first unless it is said otherwise.
  case key
  /// The other way, and nil where it was.
  case keyDescending
  /// These first, in this order, and all others behind them by key.
  case list([Section])
  /// In the order in which the sections first appear where all items are sorted without sections.
  case first
  /// The section with the most items first.
  case count
}

// MARK: By what

extension ListRequest {
  /// The same rows in sections by a property. A computed one has to follow from the item alone: a label as "Today"
  /// does not, and is made of the section where it is shown.
  ///
  /// - Parameter nils: what becomes of rows where the property is nil. Nil and an empty string are two sections.
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

  /// The same rows in sections by a field of their documents. A missing field and null are one section.
  public func sectioned(
    byField path: FieldPath, nils: SectionNils = .first
  ) -> ListRequest<Item, DocumentValue> {
    sectioned(
      by: KeyPart(field: path, [], isRequired: nils == .required), nils,
      decode: { reader throws(SortKeyError) in try reader.readDocumentValue() }
    ) { writer, value in
      value.cbor().withUnsafeBytes { bytes in
        // A value that is no key is the section of no row.
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
        return writer.bytes
      })
    request.areNilsLast = nils == .last
    request.sorts = sorts
    request.filters = filters
    request.window = window
    request.reportsTouches = reportsTouches
    return request
  }
}

// MARK: In which order

extension ListRequest {
  /// The same sections in another order.
  public func sectionsOrdered(by order: ListSectionOrder<Section>) -> Self {
    with { $0.sectionOrder = .plain(order) }
  }

  /// These sections first, in this order, and all others behind them.
  ///
  /// - Parameter keepingEmpty: whether these sections are there also without items.
  public func sectionsOrdered(by sections: [Section], keepingEmpty: Bool = false) -> Self {
    let request = sectionsOrdered(by: .list(sections))
    return keepingEmpty ? request.keepingEmpty(sections) : request
  }

  /// The same sections by a key that a closure makes of each.
  ///
  /// The closure is pure, and its name and version stand for it: give it another version when it changes its
  /// meaning. It is called once for each section that appears.
  public func sectionsOrdered<Key: SortKey>(
    by name: String, version: Int = 1, _ direction: SortDirection = .forward,
    key: @escaping @Sendable (Section) -> Key
  ) -> Self {
    sectionsOrdered(.named(name, version: version), direction, key)
  }

  /// The same sections by a key that a closure makes of each. A request with a closure that has no name equals
  /// only its own copies.
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

  /// The same sections in the order of a comparison, as `sort(by:)` of an array takes one.
  ///
  /// The closure is pure, and its name and version stand for it: give it another version when it changes its
  /// meaning. It is called O(log sections) times for each section that appears. One that contradicts itself makes
  /// some order. Where a key can be made of a section, an order by that key costs less.
  public func sectionsOrdered(
    by name: String, version: Int = 1,
    areInIncreasingOrder: @escaping @Sendable (Section, Section) -> Bool
  ) -> Self {
    with { $0.sectionOrder = .compared(.named(name, version: version), areInIncreasingOrder) }
  }

  /// The same sections in the order of a comparison. A request with a closure that has no name equals only its
  /// own copies.
  public func sectionsOrdered(
    areInIncreasingOrder: @escaping @Sendable (Section, Section) -> Bool
  ) -> Self {
    with { $0.sectionOrder = .compared(.unnamed(), areInIncreasingOrder) }
  }
}

// MARK: In the order of their items' values

extension ListRequest {
  /// The same sections by the greatest value of a property among all their items, shown or not: `.reverse` by
  /// the time of an item puts the section with the newest item first.
  ///
  /// The property follows from the item alone. Nil is no value; sections without one stand last in either direction.
  /// O(log n) for each change.
  public func sectionsOrdered<Value: SortKey>(
    byMaximumOf keyPath: any KeyPath<Item, Value> & Sendable, _ direction: SortDirection = .forward,
    _ options: SortKeyOptions = []
  ) -> Self {
    sectionsOrdered(by: KeyPart(keyPath, options.aggregated(isMaximum: true)), isMaximum: true, direction)
  }

  /// The same sections by the least value of a property among all their items.
  public func sectionsOrdered<Value: SortKey>(
    byMinimumOf keyPath: any KeyPath<Item, Value> & Sendable, _ direction: SortDirection = .forward,
    _ options: SortKeyOptions = []
  ) -> Self {
    sectionsOrdered(by: KeyPart(keyPath, options.aggregated(isMaximum: false)), isMaximum: false, direction)
  }

  /// The same sections by the greatest value of a field among all their items.
  public func sectionsOrdered(
    byMaximumOfField path: FieldPath, _ direction: SortDirection = .forward, _ options: SortKeyOptions = []
  ) -> Self {
    sectionsOrdered(by: KeyPart(field: path, options.aggregated(isMaximum: true)), isMaximum: true, direction)
  }

  /// The same sections by the least value of a field among all their items.
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
  /// Nil where it is taken only if there is nothing else.
  fileprivate func aggregated(isMaximum: Bool) -> SortKeyOptions {
    let ascending = subtracting(.descending)
    return isMaximum ? ascending.subtracting(.nilsLast) : ascending.union(.nilsLast)
  }
}

// MARK: Without items

extension ListRequest {
  /// The same list, in which these sections are there also without items: before the first row of theirs, and
  /// after the last one has left. All others appear and vanish with their items. Calls add up.
  ///
  /// The sections are named, and not "those that once had rows", because a list is a function of the rows that
  /// there are: two stores with the same rows show the same list, whatever was in them before.
  ///
  /// Empty sections stand where the order puts them, and behind those with items where the items decide. A value
  /// that cannot be the section of a row is left out.
  public func keepingEmpty(_ sections: [Section]) -> Self {
    with { $0.declaredSections += sections }
  }
}
