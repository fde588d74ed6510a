// The streams of one document: one, or the two of an empty id.

package import StrataEvents
package import StrataLog

extension StreamName {
  /// The streams whose events change the row that this stream's events change: this one, except for an empty id. A name
  /// without a slash and the same name with a slash at its end are two streams of one row.
  package var ofSameRow: [StreamName] {
    guard id.isEmpty, !category.isEmpty else { return [self] }
    return [StreamName(category), StreamName(category: category, id: "")]
  }
}

extension EventStore {
  /// The sequences of the events in the streams of a document, ascending, in parts. They come from the index; none of
  /// the events is read. Blocks.
  package func documentSequencesBlocking(
    _ stream: StreamName, builds: Bool
  ) throws(StoreError) -> [SequenceList] {
    let streams = stream.ofSameRow
    var parts: [SequenceList] = []
    for stream in streams {
      for part in try log.index.parts(of: Array(stream.text.utf8), after: 0, builds: builds) {
        parts.append(part.sequences)
      }
    }
    return streams.count == 1 ? parts : [SequenceList(parts.joined().sorted())]
  }
}
