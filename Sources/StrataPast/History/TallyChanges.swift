// The changes of a tally, in the order of the keys until they are sorted by their events.

/// At which events keys appeared and disappeared, and in which unit. Belongs to one thread at a time.
///
/// A run that is merged has millions of changes, in the order of its keys. They are sorted by radix, the lowest digits of
/// the events first (Knuth, The Art of Computer Programming, volume 3, section 5.2.5): two or three passes where a sort
/// by comparing takes twenty. Two arrays, so that a change takes twelve bytes.
struct TallyChanges {
  /// The event, as its distance from the run's begin, × 2 + 1 if a key appeared.
  private var moments: [UInt64] = []
  private var units: [UInt32] = []

  /// Below this number of changes, fewer and larger digits cost more than they save.
  private static let largeCountMin = 4_096

  var count: Int { moments.count }

  mutating func append(_ distance: UInt64, isBirth: Bool, unit: UInt32) {
    moments.append(distance << 1 | (isBirth ? 1 : 0))
    units.append(unit)
  }

  /// The distance of a change's event from the run's begin.
  func distance(_ index: Int) -> UInt64 { moments[index] >> 1 }
  func isBirth(_ index: Int) -> Bool { moments[index] & 1 == 1 }
  func unit(_ index: Int) -> UInt32 { units[index] }

  /// Sorts by the events, and leaves the order of the changes of one event. O(count), in as much memory again.
  mutating func sort() {
    let differing = zip(moments, moments.dropFirst()).reduce(0) { $0 | ($1.0 ^ $1.1) } >> 1
    guard differing > 0 else { return }
    let digitLength = count < Self.largeCountMin ? 8 : 11
    var other = self
    for shift in stride(from: 1, through: UInt64.bitWidth - differing.leadingZeroBitCount, by: digitLength) {
      // The index of the first change with each digit, after those with lower ones.
      var offsets = [Int](repeating: 0, count: 1 << digitLength)
      let mask = UInt64(offsets.count - 1)
      for moment in moments { offsets[Int(moment >> UInt64(shift) & mask)] += 1 }
      var sum = 0
      for digit in offsets.indices { (offsets[digit], sum) = (sum, sum + offsets[digit]) }
      for index in moments.indices {
        let digit = Int(moments[index] >> UInt64(shift) & mask)
        other.moments[offsets[digit]] = moments[index]
        other.units[offsets[digit]] = units[index]
        offsets[digit] += 1
      }
      swap(&self, &other)
    }
  }

  /// Leaves, of the changes of one unit at one event, by how much they differ: a key that appears where another one of
  /// the unit disappears counts for nothing. For changes that are sorted, and were appended with ascending units.
  /// O(count).
  mutating func cancel() {
    var (kept, index) = (0, 0)
    while index < count {
      let (distance, unit) = (distance(index), unit(index))
      var difference = 0
      while index < count, self.distance(index) == distance, self.unit(index) == unit {
        difference += isBirth(index) ? 1 : -1
        index += 1
      }
      for _ in 0..<abs(difference) {
        moments[kept] = distance << 1 | (difference > 0 ? 1 : 0)
        units[kept] = unit
        kept += 1
      }
    }
    moments.removeLast(count - kept)
    units.removeLast(units.count - kept)
  }
}
