// Explaining a row's result in a list, with the same functions that make the list.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Explains rows of a list at one moment. Pure: it reads nothing but the state.
struct ListExplainer<Item: Identifiable & Sendable, Section: Hashable & Sendable> where Item.ID: DocumentID {
  /// The explanation from the state, and the sequences of the events to add to it.
  struct StoreFinding: Sendable {
    var explanation: ListExplanation
    var created: UInt64?
    var changed: UInt64?
  }

  let request: ListRequest<Item, Section>
  let rows: RowTable<Item>
  let version: ListVersion

  /// O(log n), plus O(sections) for the rank in the whole list and O(shown sections) if the row is outside the window.
  func finding(for id: String) -> StoreFinding {
    var text = id
    return text.withUTF8 { bytes in
      let id = UnsafeRawBufferPointer(bytes)
      return version.table.withRow(id) { row in
        if let row { return finding(for: row) }
        let problem = version.table.problems.withValue(of: id) { what in
          what.map { String(decoding: $0, as: UTF8.self) }
        }
        let outcome: ListExplanation.Outcome = problem.map { .problem($0) } ?? .absent
        return StoreFinding(explanation: explanation(String(decoding: id, as: UTF8.self), outcome))
      }
    }
  }

  private func explanation(_ id: String, _ outcome: ListExplanation.Outcome) -> ListExplanation {
    ListExplanation(id: id, table: rows.name, sequence: version.sequence, outcome: outcome)
  }

  private func finding(for row: RowView) -> StoreFinding {
    var result = explanation(row.idText, .leftOut)
    let item = try? rows.decode(row)
    let sectionKey = sectionKey(of: row, item)
    let sectionValue = Self.value(of: sectionKey) { reader in try? reader.readAnything() }
    result.filters = request.filters.map { verdict($0, row, item, section: sectionValue) }
    if let section = request.section {
      result.section = .init(
        name: section.name,
        value: Self.value(of: sectionKey.flatMap { SectionBytes.shortened($0) }) { try? $0.readAnything() })
    }
    result.sorts = sorts(of: row, item)
    let key = version.view.key(of: row)
    if let problem = key.problem {
      result.outcome = .problem(problem.what)
    } else if key.isShown {
      key.bytes.withUnsafeBytes { bytes in
        let rank = rank(of: bytes, sectionLength: key.sectionLength)
        result.rank = rank
        result.outcome = outcome(of: row, bytes, sectionLength: key.sectionLength, rank)
      }
    }
    return StoreFinding(explanation: result, created: row.created, changed: row.revision)
  }
}

// MARK: Filters and keys

extension ListExplainer {
  /// The key of the row's section, however long; nil if it has none.
  private func sectionKey(of row: RowView, _ item: Item?) -> [UInt8]? {
    guard let section = request.section else { return nil }
    var writer = SortKeyWriter()
    do throws(RowProblem) { try section.append(row, item, &writer) } catch { return nil }
    return writer.bytes
  }

  private static func value(
    of key: [UInt8]?, _ read: (inout SortKeyReader) -> DocumentValue?
  ) -> DocumentValue {
    guard let key else { return .null }
    return key.withUnsafeBytes { bytes in
      var reader = SortKeyReader(bytes)
      return read(&reader) ?? .null
    }
  }

  private func verdict(
    _ filter: FilterPart<Item>, _ row: RowView, _ item: Item?, section: DocumentValue
  ) -> ListExplanation.Filter {
    switch filter.condition {
    case .filter(let condition):
      let fields = condition.fields.map { (name: $0.description, path: $0) }
        .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      return .init(
        name: filter.name, isPassed: condition.compiled().matches(row) { section },
        values: fields.map { .init(name: $0.name, value: value(of: $0.path, in: row, section: section)) })
    case .closure(let passes):
      return .init(name: filter.name, isPassed: item.flatMap { try? passes($0) }, values: [])
    case .row(let passes):
      return .init(name: filter.name, isPassed: passes(row), values: [])
    case .malformed:
      return .init(name: filter.name, isPassed: nil, values: [])
    }
  }

  private func value(of path: FieldPath, in row: RowView, section: DocumentValue) -> DocumentValue {
    switch path.subject {
    case .field:
      guard let item = path.find(in: row.document) else { return .null }
      return (try? DocumentValue(cbor: item)) ?? .null
    case .id: return .string(row.idText)
    case .revision: return DocumentValue(row.revision)
    case .time: return .string(Timestamp(nanoseconds: row.time).description)
    case .section: return section
    }
  }

  private func sorts(of row: RowView, _ item: Item?) -> [ListExplanation.SortPart] {
    var parts: [ListExplanation.SortPart] = []
    for sort in request.sorts {
      var writer = SortKeyWriter()
      do throws(RowProblem) { try sort.append(row, item, &writer) } catch { return [] }
      let values = writer.withUnsafeBytes { bytes in
        var reader = SortKeyReader(bytes)
        var values: [DocumentValue] = []
        while !reader.isAtEnd, let value = try? reader.readAnything() { values.append(value) }
        return values
      }
      parts.append(.init(name: sort.name, isReverse: sort.options.contains(.descending), values: values))
    }
    if request.sorts.isEmpty {
      parts.append(.init(name: "$created", isReverse: false, values: [DocumentValue(row.created)]))
    }
    parts.append(.init(name: "$id", isReverse: false, values: [.string(row.idText)]))
    return parts
  }
}

// MARK: Positions

extension ListExplainer {
  private func rank(of key: UnsafeRawBufferPointer, sectionLength: Int) -> ListExplanation.Rank {
    let view = version.view
    let section = UnsafeRawBufferPointer(rebasing: key[..<sectionLength])
    let inSection = view.rank(of: key) - view.start(of: section)
    return ListExplanation.Rank(
      inSection: inSection, sectionCount: view.itemCount(of: section),
      inList: countBefore(section) + inSection, listCount: view.count)
  }

  /// The number of rows in the sections before one, shown or not. O(log n) if sections are ordered by key, otherwise
  /// O(sections).
  private func countBefore(_ section: UnsafeRawBufferPointer) -> Int {
    let view = version.view
    guard version.isSectioned, let rank = view.rank(ofSection: section) else { return 0 }
    if view.isPlacedByRank { return view.countBefore(section: section) }
    return (0..<rank).reduce(0) { count, before in count + view.withSection(at: before) { $1 } }
  }

  private func outcome(
    of row: RowView, _ key: UnsafeRawBufferPointer, sectionLength: Int, _ rank: ListExplanation.Rank
  ) -> ListExplanation.Outcome {
    if let position = version.position(of: row.id) {
      return .shown(section: position.section, item: position.item)
    }
    // If the section shows some of its items, or its own window leaves none of them, the section's window excludes the
    // row; otherwise the list's window does.
    let section = UnsafeRawBufferPointer(rebasing: key[..<sectionLength])
    let own = version.window.section.range(of: rank.sectionCount)
    let shown = version.index(ofSection: section).flatMap { shownRanks(inSectionAt: $0) }
    if let shown = shown ?? (own.isEmpty ? own : nil) {
      if rank.inSection < shown.lowerBound { return .beforeWindow(by: shown.lowerBound - rank.inSection) }
      return .behindWindow(by: rank.inSection - shown.upperBound + 1)
    }
    // Declared sections are in the list even if they show no items; skip those.
    let indexes = 0..<version.sectionCount
    let first = indexes.first { shownRanks(inSectionAt: $0) != nil }
    let last = indexes.last { shownRanks(inSectionAt: $0) != nil }
    let begin = first.map { ranksInList(ofSectionAt: $0).lowerBound } ?? 0
    if rank.inList < begin { return .beforeWindow(by: begin - rank.inList) }
    let end = last.map { ranksInList(ofSectionAt: $0).upperBound } ?? 0
    return .behindWindow(by: rank.inList - end + 1)
  }

  /// The shown rows of a section, as ranks in the whole list.
  private func ranksInList(ofSectionAt index: Int) -> Range<Int> {
    let before = version.withSection(at: index) { section, _, _ in countBefore(section) }
    let shown = shownRanks(inSectionAt: index) ?? 0..<0
    return before + shown.lowerBound..<before + shown.upperBound
  }

  /// The shown rows of a section, as ranks in the section; nil if there are none.
  private func shownRanks(inSectionAt index: Int) -> Range<Int>? {
    version.withSection(at: index) { section, _, shown in
      guard shown > 0 else { return nil }
      var first: Int?
      let start = version.view.start(of: section)
      version.forEachItem(inSectionAt: index, 0..<1) { key in
        first = version.view.rank(of: key.bytes) - start
      }
      return first.map { $0..<$0 + shown }
    }
  }
}
