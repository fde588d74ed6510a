// Why a list shows an item where it does, or does not show it: a value with a readable description.

internal import StrataDocuments
public import StrataEvents
public import StrataLists

/// How a list treats one row at one point of the log.
///
/// It is computed with the same functions that make the list, so the two cannot disagree. `description` gives it as
/// text.
public struct ListExplanation: Hashable, Codable, Sendable {
  /// Whether and where the list shows the row.
  public enum Outcome: Hashable, Codable, Sendable {
    /// The list shows it, at this index of this section.
    case shown(section: Int, item: Int)
    /// It belongs to the list, and is that many rows before the first one that the window shows.
    case beforeWindow(by: Int)
    /// It belongs to the list, and is that many rows past the last one that the window shows.
    case behindWindow(by: Int)
    /// At least one filter rejects it: see `filters`.
    case leftOut
    /// It cannot be shown, with the reason.
    case problem(String)
    /// The document existed and was deleted.
    case deleted
    /// There is no such row up to this point.
    case absent
  }

  /// An event that created, changed or deleted the row.
  public struct Cause: Hashable, Codable, Sendable {
    public var sequence: UInt64
    /// The own time, in nanoseconds since 1970.
    package var nanoseconds: Int64
    public var stream: String
    public var type: String
    /// The sequences of the whole append.
    public var append: ClosedRange<UInt64>
    /// The append's id, if it was given one.
    public var appendID: String?

    public var time: Timestamp { Timestamp(nanoseconds: nanoseconds) }
  }

  /// A value of the row that the list uses.
  package struct Value: Hashable, Codable, Sendable {
    /// The field or the property.
    package var name: String
    package var value: DocumentValue
  }

  /// One of the request's filters.
  package struct Filter: Hashable, Codable, Sendable {
    /// The filter's text, or the name of its closure.
    package var name: String
    /// Nil if the filter could not be evaluated, because the row does not decode or the filter throws.
    package var isPassed: Bool?
    /// The fields that the filter reads, with their values. Empty for closures.
    package var values: [Value]
  }

  /// A part of the key by which the row is sorted.
  package struct SortPart: Hashable, Codable, Sendable {
    /// The field or the property; `$created` if the request has no sorts, and `$id` for the tiebreaker.
    package var name: String
    package var isReverse: Bool
    /// The values that are compared: one, or as many as the property's type writes. Strings are folded if the sort
    /// ignores case.
    package var values: [DocumentValue]
  }

  /// The row's rank among all rows that pass the filters, shown or not.
  package struct Rank: Hashable, Codable, Sendable {
    /// The number of rows of the section before it.
    package var inSection: Int
    package var sectionCount: Int
    /// The number of rows of the whole list before it.
    package var inList: Int
    package var listCount: Int
  }

  /// The row's id as text.
  public var id: String
  /// The row's table; for documents, their category.
  public var table: String
  /// The explanation covers everything up to this sequence.
  public var sequence: UInt64
  public var outcome: Outcome
  /// The event that created the row; nil if there is no row, or if the event's block cannot be read.
  public var created: Cause?
  /// The event that last changed the row.
  public var changed: Cause?
  /// The event that deleted the row, if it was a document.
  public var deleted: Cause?
  /// In the request's order. Empty if there is no row.
  package var filters: [Filter] = []
  /// The section's value; nil for a list without sections.
  package var section: Value?
  /// In the order in which they are compared. Empty if the row cannot be sorted.
  package var sorts: [SortPart] = []
  /// Nil if the row does not belong to the list.
  package var rank: Rank?

  /// Where the list shows the row, nil if it does not.
  public var index: ListIndex? {
    if case .shown(let section, let item) = outcome { ListIndex(section: section, item: item) } else { nil }
  }
}

extension ListExplanation: CustomStringConvertible {
  /// Several lines, without a final line break: the outcome first, then the reasons.
  public var description: String {
    var lines = ["\(table)/\(id) at \(sequence): \(outcome)"]
    if let created { lines.append("made by \(created)") }
    if let changed, changed != created { lines.append("last changed by \(changed)") }
    if let deleted { lines.append("deleted by \(deleted)") }
    for filter in filters {
      let verdict = filter.isPassed.map { $0 ? "passes" : "does not pass" } ?? "cannot be evaluated by"
      let values = filter.values.map { "\($0.name) is \($0.value)" }.joined(separator: ", ")
      lines.append("\(verdict) \(filter.name)" + (values.isEmpty ? "" : ": \(values)"))
    }
    if let section { lines.append("is in the section \(section.name) = \(section.value)") }
    if !sorts.isEmpty {
      let parts = sorts.map { part in
        let values = part.values.map(\.description).joined(separator: ", ")
        return "\(part.name) = \(values)" + (part.isReverse ? " (reverse)" : "")
      }
      lines.append("is sorted by " + parts.joined(separator: ", then "))
    }
    if let rank {
      let inSection = "number \(rank.inSection + 1) of \(rank.sectionCount) in its section"
      let inList = "number \(rank.inList + 1) of \(rank.listCount) in the list"
      lines.append("is " + (section == nil ? inList : "\(inSection), \(inList)"))
    }
    return lines.joined(separator: "\n")
  }
}

extension ListExplanation.Outcome: CustomStringConvertible {
  public var description: String {
    switch self {
    case .shown(let section, let item): "shown at [\(section), \(item)]"
    case .beforeWindow(let count): "not shown: \(count) rows before the first one that the window shows"
    case .behindWindow(let count): "not shown: \(count) rows past the last one that the window shows"
    case .leftOut: "left out by a filter"
    case .problem(let what): "left out as a problem: \(what)"
    case .deleted: "deleted"
    case .absent: "there is no such row"
    }
  }
}

extension ListExplanation.Cause: CustomStringConvertible {
  public var description: String {
    let range = append.count == 1 ? "" : " in the append \(append.lowerBound) to \(append.upperBound)"
    return "event \(sequence)\(range), \(time): \(type) in \(stream)" + (appendID.map { ", id \($0)" } ?? "")
  }
}
