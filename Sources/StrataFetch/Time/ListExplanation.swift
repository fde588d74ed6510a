// Why a list shows an item where it does, or does not show it: a value that people can read.

internal import StrataDocuments
public import StrataEvents
public import StrataLists

/// What a list makes of one row at one point of the log.
///
/// It is found with the functions that make the list itself, so the two cannot disagree. `description` says it
/// in sentences.
public struct ListExplanation: Hashable, Codable, Sendable {
  /// What came of the row.
  public enum Outcome: Hashable, Codable, Sendable {
    /// The list shows it, at this place of this section.
    case shown(section: Int, item: Int)
    /// It belongs to the list, and stands before what the window shows: so many rows before the first one.
    case beforeWindow(by: Int)
    /// It belongs to the list, and stands behind what the window shows: so many rows behind the last one.
    case behindWindow(by: Int)
    /// At least one filter does not take it: see `filters`.
    case leftOut
    /// It cannot be shown: why.
    case problem(String)
    /// There was such a row once.
    case deleted
    /// There was no such row up to this point.
    case absent
  }

  /// An event that made the row what it is.
  public struct Cause: Hashable, Codable, Sendable {
    public var sequence: UInt64
    /// The commit time, in nanoseconds since 1970.
    public var nanoseconds: Int64
    public var stream: String
    public var type: String
    /// The sequences of the whole append.
    public var append: ClosedRange<UInt64>
    /// The append's id, where it was given one.
    public var appendID: String?

    public var time: Timestamp { Timestamp(nanoseconds: nanoseconds) }
  }

  /// A part of the row that somebody looked at.
  public struct Value: Hashable, Codable, Sendable {
    /// The field, or the property.
    public var name: String
    public var value: DocumentValue
  }

  /// One of the request's filters.
  public struct Filter: Hashable, Codable, Sendable {
    /// The filter's text, or the name of its closure.
    public var name: String
    /// Nil where it could not be asked, since the row does not decode.
    public var isPassed: Bool?
    /// The fields that it looks at, with their values. Empty for closures.
    public var values: [Value]
  }

  /// A part of the key by which the row is sorted.
  public struct SortPart: Hashable, Codable, Sendable {
    /// The field or the property; `$created` where the request has no sorts, `$id` for what breaks ties.
    public var name: String
    public var isReverse: Bool
    /// The values that are compared: one, or as many as the property's type writes. Strings of sorts that
    /// ignore case are folded.
    public var values: [DocumentValue]
  }

  /// Where the row stands among all rows that pass the filters, shown or not.
  public struct Rank: Hashable, Codable, Sendable {
    /// How many rows of the section stand before it.
    public var inSection: Int
    public var sectionCount: Int
    /// How many rows of the whole list stand before it.
    public var inList: Int
    public var listCount: Int
  }

  /// The row's id as text.
  public var id: String
  /// The row's table, or its category.
  public var table: String
  /// Everything up to this sequence is looked at.
  public var sequence: UInt64
  public var outcome: Outcome
  /// The event that made the row exist; nil where there is no row, and where its block cannot be read.
  public var created: Cause?
  /// The event that last changed the row.
  public var changed: Cause?
  /// The event that took the row out, where it is a document.
  public var deleted: Cause?
  /// In the request's order. Empty where there is no row.
  public var filters: [Filter] = []
  /// The section's value; nil for a list without sections.
  public var section: Value?
  /// In the order in which they are compared. Empty where the row cannot be sorted.
  public var sorts: [SortPart] = []
  /// Nil where the row does not belong to the list.
  public var rank: Rank?

  /// Where the list shows the row, nil where it does not.
  public var index: ListIndex? {
    if case .shown(let section, let item) = outcome { ListIndex(section: section, item: item) } else { nil }
  }
}

extension ListExplanation: CustomStringConvertible {
  /// Several lines without a line break at the end: what came of the row, and then why.
  public var description: String {
    var lines = ["\(table)/\(id) at \(sequence): \(outcome)"]
    if let created { lines.append("made by \(created)") }
    if let changed, changed != created { lines.append("last changed by \(changed)") }
    if let deleted { lines.append("deleted by \(deleted)") }
    for filter in filters {
      let verdict = filter.isPassed.map { $0 ? "passes" : "does not pass" } ?? "cannot be asked about"
      let values = filter.values.map { "\($0.name) is \($0.value)" }.joined(separator: ", ")
      lines.append("\(verdict) \(filter.name)" + (values.isEmpty ? "" : ": \(values)"))
    }
    if let section { lines.append("stands in the section \(section.name) = \(section.value)") }
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
    case .beforeWindow(let count): "not shown: \(count) before the first row that the window shows"
    case .behindWindow(let count): "not shown: \(count) behind the last row that the window shows"
    case .leftOut: "left out by a filter"
    case .problem(let what): "left out as a problem: \(what)"
    case .deleted: "deleted"
    case .absent: "there is no such row"
    }
  }
}

extension ListExplanation.Cause: CustomStringConvertible {
  public var description: String {
    let place = append.count == 1 ? "" : " in the append \(append.lowerBound) to \(append.upperBound)"
    return "event \(sequence)\(place), \(time): \(type) in \(stream)" + (appendID.map { ", id \($0)" } ?? "")
  }
}
