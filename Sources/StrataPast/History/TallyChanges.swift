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
  func distance(_ place: Int) -> UInt64 { moments[place] >> 1 }
  func isBirth(_ place: Int) -> Bool { moments[place] & 1 == 1 }
  func unit(_ place: Int) -> UInt32 { units[place] }

  /// Sorts by the events, and leaves the order of the changes of one event. O(count), in as much memory again.
  mutating func sort() {
    let differing = zip(moments, moments.dropFirst()).reduce(0) { $0 | ($1.0 ^ $1.1) } >> 1
    guard differing > 0 else { return }
    let digitLength = count < Self.largeCountMin ? 8 : 11
    var other = self
    for shift in stride(from: 1, through: UInt64.bitWidth - differing.leadingZeroBitCount, by: digitLength) {
      // The place of the first change with each digit, after those with lower ones.
      var places = [Int](repeating: 0, count: 1 << digitLength)
      let mask = UInt64(places.count - 1)
      for moment in moments { places[Int(moment >> UInt64(shift) & mask)] += 1 }
      var sum = 0
      for digit in places.indices { (places[digit], sum) = (sum, sum + places[digit]) }
      for place in moments.indices {
        let digit = Int(moments[place] >> UInt64(shift) & mask)
        other.moments[places[digit]] = moments[place]
        other.units[places[digit]] = units[place]
        places[digit] += 1
      }
      swap(&self, &other)
    }
  }

  /// Leaves, of the changes of one unit at one event, by how much they differ: a key that appears where another one of
  /// the unit disappears counts for nothing. For changes that are sorted, and were appended with ascending units.
  /// O(count).
  mutating func cancel() {
    var (kept, place) = (0, 0)
    while place < count {
      let (distance, unit) = (distance(place), unit(place))
      var difference = 0
      while place < count, self.distance(place) == distance, self.unit(place) == unit {
        difference += isBirth(place) ? 1 : -1
        place += 1
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
