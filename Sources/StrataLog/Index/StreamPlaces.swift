// What an index holds for a stream: its revision before the segment, and the sequences of its events.

package import StrataBase

/// How many events of one stream are before a segment, and how many are in it.
package struct StreamExtent: Equatable, Sendable {
  /// Events of the stream before the segment.
  package var base: UInt64
  /// Events of the stream in the segment.
  package var count: UInt64

  package init(base: UInt64, count: UInt64) {
    self.base = base
    self.count = count
  }

  /// The revision of the last of these events.
  package var revision: UInt64 { base &+ count }
}

extension StreamExtent {
  /// The extent of an encoded value, without reading its sequences; nil if the bytes are not such a value. O(1).
  package init?(decoding bytes: [UInt8]) {
    let decoded = bytes.withUnsafeBytes { buffer -> StreamExtent? in
      guard let start = buffer.baseAddress else { return nil }
      var cursor = ByteCursor(start, count: buffer.count)
      return StreamExtent(&cursor)
    }
    guard let decoded else { return nil }
    self = decoded
  }

  /// Reads the two numbers that a value begins with. Each event takes at least one byte.
  fileprivate init?(_ cursor: inout ByteCursor) {
    guard let base = cursor.varint(), let count = cursor.varint(), count <= UInt64(cursor.remaining),
      !base.addingReportingOverflow(count).overflow
    else { return nil }
    self.init(base: base, count: count)
  }
}

/// The events of one stream in one segment.
package struct StreamPlaces: Equatable, Sendable {
  /// Events of the stream before the segment.
  package var base: UInt64
  /// Sequences in the segment, ascending.
  package var sequences: [UInt64]

  package init(base: UInt64, sequences: [UInt64]) {
    self.base = base
    self.sequences = sequences
  }

  /// The revision of the last of these events.
  package var revision: UInt64 { base &+ UInt64(sequences.count) }

  /// Appends varints: base, count, and each sequence as the distance from the previous one (the first from the
  /// segment's first).
  package func encode(to target: inout RawBuffer, firstSequence: UInt64) {
    assert(!sequences.isEmpty, "a stream in a segment's index has an event there")
    assert(zip(sequences, sequences.dropFirst()).allSatisfy { $0 < $1 }, "a stream's sequences ascend")
    target.append(varint: base)
    target.append(varint: UInt64(sequences.count))
    var previous = firstSequence
    for sequence in sequences {
      target.append(varint: sequence - previous)
      previous = sequence
    }
  }

  /// Decodes a value, or returns nil if the bytes are not one.
  package init?(decoding bytes: [UInt8], firstSequence: UInt64, lastSequence: UInt64) {
    let decoded = bytes.withUnsafeBytes { buffer -> StreamPlaces? in
      guard let start = buffer.baseAddress else { return nil }
      var cursor = ByteCursor(start, count: buffer.count)
      guard let extent = StreamExtent(&cursor) else { return nil }
      var sequences: [UInt64] = []
      sequences.reserveCapacity(Int(extent.count))
      var previous = firstSequence
      for index in 0..<extent.count {
        guard let distance = cursor.varint(), distance <= lastSequence - previous, index == 0 || distance > 0
        else { return nil }
        previous += distance
        assert((firstSequence...lastSequence).contains(previous), "a stream's event lies in its segment")
        sequences.append(previous)
      }
      return cursor.remaining == 0 ? StreamPlaces(base: extent.base, sequences: sequences) : nil
    }
    guard let decoded else { return nil }
    self = decoded
  }
}
