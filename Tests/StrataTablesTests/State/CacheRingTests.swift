// Which entries a cache evicts: the policy alone, without files.

internal import StrataBase
internal import StrataSimulation
internal import Testing

@Suite struct CacheRingTests {
  private final class Entry: CacheEntry {
    let number: Int
    let byteCount: Int
    var cacheIndex: Int?
    var wasUsed = false

    init(_ number: Int, bytes: Int = 10) { (self.number, byteCount) = (number, bytes) }

    func unmark() -> Bool {
      defer { wasUsed = false }
      return wasUsed
    }
  }

  @Test func `nothing is evicted up to the bound, and beyond it until a sixteenth is free`() {
    var ring = CacheRing<Entry>(limit: 160)
    for number in 0..<16 { ring.add(Entry(number)) }
    #expect(ring.evict().isEmpty && ring.byteCount == 160)
    ring.add(Entry(16))
    #expect(ring.evict().count == 2 && ring.byteCount == 150)
  }

  @Test func `what is used again and again stays during a walk through everything`() {
    var ring = CacheRing<Entry>(limit: 100)
    let used = [Entry(-1), Entry(-2)]
    for entry in used { ring.add(entry) }
    for number in 0..<1_000 {
      for entry in used { entry.wasUsed = true }
      ring.add(Entry(number))
      let evicted = ring.evict()
      #expect(!evicted.contains { $0.number < 0 } && ring.byteCount <= 100)
    }
  }

  @Test func `an entry that was used stays once, and then counts as the others`() {
    var ring = CacheRing<Entry>(limit: 20)
    let (first, second) = (Entry(0), Entry(1))
    first.wasUsed = true
    for entry in [first, second, Entry(2)] { ring.add(entry) }
    #expect(ring.evict().map(\.number) == [1, 2] && ring.byteCount == 10)
    for number in 3..<5 {
      let entry = Entry(number)
      entry.wasUsed = true
      ring.add(entry)
    }
    #expect(ring.evict().first?.number == 0)
  }

  @Test func `room is made for a new entry, also for one that is larger than the bound`() {
    var ring = CacheRing<Entry>(limit: 100)
    for number in 0..<10 { ring.add(Entry(number)) }
    #expect(ring.evict(for: 10).count == 2)
    #expect(ring.evict(for: 1_000).count == 8 && ring.byteCount == 0)
  }

  @Test func `entries know their index, and the ring their bytes, after any additions and removals`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var ring = CacheRing<Entry>(limit: 2_000)
    var held: [Entry] = []
    for number in 0..<5_000 {
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where !held.isEmpty:
        let entry = held.remove(at: Int.random(in: 0..<held.count, using: &random))
        ring.remove(entry)
        ring.remove(entry)
      case 1: held.randomElement(using: &random)?.wasUsed = true
      default:
        let entry = Entry(number, bytes: Int.random(in: 0...100, using: &random))
        ring.add(entry)
        held.append(entry)
        let evicted = Set(ring.evict().map(\.number))
        held.removeAll { evicted.contains($0.number) }
      }
      #expect(ring.entries.enumerated().allSatisfy { $0 == $1.cacheIndex })
      #expect(Set(ring.entries.map(\.number)) == Set(held.map(\.number)))
      #expect(ring.byteCount == held.reduce(0) { $0 + $1.byteCount } && ring.byteCount <= 2_000)
    }
  }
}
