// Filters over the payload and the metadata of events.

public import StrataEvents
internal import StrataTables

extension EventSelection {
  /// Only events whose payload passes a filter: `.types("opened").matching("priority > \(2)")`.
  ///
  /// The filter's `$id` is the part of the stream's name after the first `/`, `$revision` the event's sequence, and
  /// `$time` the own time. An event whose content was erased, or is no document, does not pass. O(bytes of the
  /// payload) for an event, without decoding it; a JSON payload is decoded.
  ///
  /// - Throws: the position of the first error in the filter.
  public func matching(_ filter: FilterTemplate) throws(FilterError) -> EventSelection {
    matching(try RowFilter(filter))
  }

  /// Only events whose payload passes a filter that was parsed before.
  public func matching(_ filter: RowFilter) -> EventSelection {
    satisfying(EventCondition(.payload, filter))
  }

  /// Only events whose metadata passes a filter: `.all.matching(metadata: "by == \(name)")`.
  ///
  /// - Throws: the position of the first error in the filter.
  public func matching(metadata filter: FilterTemplate) throws(FilterError) -> EventSelection {
    matching(metadata: try RowFilter(filter))
  }

  /// Only events whose metadata passes a filter that was parsed before.
  public func matching(metadata filter: RowFilter) -> EventSelection {
    satisfying(EventCondition(.metadata, filter))
  }
}

extension EventCondition {
  fileprivate init(_ subject: Subject, _ filter: RowFilter) {
    let compiled = filter.compiled()
    self.init(subject) { facts in
      let row = RowView(
        id: facts.id, revision: facts.sequence, created: facts.sequence, time: facts.time,
        document: facts.document)
      return compiled.matches(row) { .null }
    }
  }
}
