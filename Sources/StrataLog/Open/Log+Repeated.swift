// Looking for an append that the log may have already.

internal import StrataBase

extension Log {
  /// The sequences of the append with an id, and whether it has the events of a draft that have content; nil if there is no
  /// such append. The draft is one of which events were erased since, or left out.
  package func append(
    withID id: [UInt8], hasContentOf draft: AppendDraft
  ) throws(StoreError) -> (first: UInt64, last: UInt64, isSame: Bool)? {
    guard let first = try index.first(ofID: id) else { return nil }
    let recorded = try RepeatedAppend(of: draft, source, first: first)
    return (first, recorded.last, try recorded.hasContent(of: draft, from: first))
  }
}
