// The aggregates of a snapshot and of its sections.

public import StrataEvents
internal import StrataTables

/// The results of the aggregates of a request, for one section or for the whole list, at the moment of a snapshot.
///
/// `section.aggregates[.sum(of: \.amount)]?.value` is a sum, and `section.aggregates[.maximum(of: \.created)]?.read(as:
/// Date.self)` the greatest value of a property, as its type.
public struct ListAggregates<Item: Sendable>: Sendable {
  /// Nil for a list without aggregates.
  private let totals: ListTotals?
  /// Nil for the whole list.
  private let section: [UInt8]?

  init(_ totals: ListTotals?, in section: [UInt8]?) { (self.totals, self.section) = (totals, section) }

  /// The result of an aggregate; nil if the request does not have it. O(log n), or O(sections · log n) for the whole list.
  public subscript(aggregate: ListAggregate<Item>) -> AggregateValue? {
    guard let totals, let index = totals.plan.index(of: ViewIdentity(aggregate)) else { return nil }
    guard let section else { return totals.value(ofPart: index) }
    return section.withUnsafeBytes { totals.value(ofPart: index, in: $0) }
  }
}

extension ListSnapshot {
  /// The aggregates of the whole list: of all rows that pass the filters, shown or hidden by a window.
  public var aggregates: ListAggregates<Item> { ListAggregates(version.totals, in: nil) }

  /// The aggregates of the section at an index: of all its rows, shown or hidden by a window.
  ///
  /// Stops the program if the index is out of range.
  public func aggregates(inSectionAt index: Int) -> ListAggregates<Item> {
    ListAggregates(version.totals, in: version.withSection(at: index) { section, _, _ in Array(section) })
  }

  /// The aggregates of a section, which the list need not show: of no rows, for one that it does not have.
  public func aggregates(inSection section: Section) -> ListAggregates<Item> {
    ListAggregates(version.totals, in: version.isSectioned ? encodeSection(section) : [])
  }
}
