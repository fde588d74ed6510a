// The marks of the events of one append.

/// The marks in the order of the events. The first one is kept in place: most appends have one event, and an import makes
/// millions of them.
package struct DraftMarks: RandomAccessCollection, Sendable {
  private var first: AppendDraft.Mark?
  private var others: [AppendDraft.Mark] = []

  package var startIndex: Int { 0 }
  package var endIndex: Int { first == nil ? 0 : 1 + others.count }

  package subscript(index: Int) -> AppendDraft.Mark {
    guard index == 0 else { return others[index - 1] }
    guard let first else { preconditionFailure("there is no mark") }
    return first
  }

  mutating func append(_ mark: AppendDraft.Mark) {
    if first == nil { first = mark } else { others.append(mark) }
  }
}
