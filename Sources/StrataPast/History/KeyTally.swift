// How many keys each group of a run, or each of its sections, had at any moment.

internal import StrataBase
internal import StrataLog

/// Counts by unit, which is a group or a section, written as counts at some moments and the changes between them. What
/// was counted at one moment is in one chunk.
///
/// ```
/// tally  units, then for each chunk: the event that it begins with, and its address
/// chunk  the count of each unit before that event, then changes: event, unit × 2 + 1 if one appeared
/// ```
struct KeyTallyWriter: ~Copyable {
  private let begin: UInt64
  private let isBase: Bool
  private let limits: RunLimits
  private var counts: [Int64] = []
  private var changes = TallyChanges()

  init(begin: UInt64, isBase: Bool, _ limits: RunLimits) {
    (self.begin, self.isBase, self.limits) = (begin, isBase, limits)
  }

  /// Begins the next unit.
  mutating func beginUnit() { counts.append(0) }

  /// Counts a key of the last unit. A delta counts only what changed.
  mutating func add(_ record: KeyRecord) {
    let unit = counts.count - 1
    if record.isAlive, isBase { counts[unit] += 1 }
    var isBirth = !record.isAlive
    for moment in record.moments {
      changes.append(moment &- begin, isBirth: isBirth, unit: UInt32(truncatingIfNeeded: unit))
      isBirth.toggle()
    }
  }

  mutating func finish(_ output: RunOutput) throws(StoreError) -> RecordAddress {
    changes.sort()
    // Most changes of a row leave it in its section.
    changes.cancel()
    let length = max(limits.chunkChangeCountMin, counts.count)
    var chunks: [KeyChunk] = []
    var buffer = RawBuffer(capacity: 1 << 13)
    var start = 0
    repeat {
      let end = KeyChunk.end(from: start, of: changes.count, changeCountMin: length) { changes.distance($0) }
      // What follows counts from the run's begin.
      let first = chunks.isEmpty ? 0 : changes.distance(start)
      buffer.removeAll()
      for count in counts { buffer.append(varint: ZigZag.encode(count)) }
      var last = first
      for index in start..<end {
        let (distance, unit) = (changes.distance(index), changes.unit(index))
        buffer.append(varint: distance &- last)
        buffer.append(varint: UInt64(unit) << 1 | (changes.isBirth(index) ? 1 : 0))
        last = distance
        counts[Int(unit)] += changes.isBirth(index) ? 1 : -1
      }
      chunks.append(KeyChunk(first: first, address: try output.append(buffer.bytes)))
      start = end
    } while start < changes.count
    buffer.removeAll()
    buffer.append(varint: UInt64(counts.count))
    for chunk in chunks { chunk.append(to: &buffer) }
    return try output.append(buffer.bytes)
  }
}
