// Fractional ranks: always in order, always distinct, and short.

@testable internal import StrataLists
internal import StrataTesting
internal import Testing

@Suite struct FractionalRankTests {
  /// The ranks of rows that are created and moved, without a list.
  private struct Order {
    var ranks: [String]
    var newest: UInt64
    var lengthMax = 0

    init(rows: UInt64) {
      ranks = (1...rows).map { FractionalRank.derived(from: $0) }
      newest = rows
    }

    /// Inserts a rank between two others, and returns it.
    @discardableResult
    mutating func put(at place: Int, near: FractionalRank.Nearness) -> String? {
      let low = place > 0 ? ranks[place - 1] : nil
      let high = place < ranks.count ? ranks[place] : nil
      guard let rank = FractionalRank.between(low, high, near: near, newest: newest) else { return nil }
      newest += 1
      ranks.insert(rank, at: place)
      lengthMax = max(lengthMax, rank.utf8.count)
      return rank
    }

    var isAscending: Bool {
      zip(ranks, ranks.dropFirst()).allSatisfy { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }
  }

  @Test
  func `R78 A rank stands between its neighbours, wherever rows are put, and no two are alike`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<30 {
      var order = Order(rows: UInt64.random(in: 1...40, using: &random))
      for _ in 0..<400 {
        let place = Int.random(in: 0...order.ranks.count, using: &random)
        let near: FractionalRank.Nearness = [.low, .high, .middle].randomElement(using: &random)!
        let rank = order.put(at: place, near: near)
        #expect(rank.map(FractionalRank.isRank) == true)
        // Sometimes a row is created, or deleted.
        if Int.random(in: 0..<8, using: &random) == 0 { order.ranks.remove(at: place) }
        if Int.random(in: 0..<8, using: &random) == 0 {
          order.newest += 1
          order.ranks.append(FractionalRank.derived(from: order.newest))
        }
      }
      #expect(order.isAscending)
      #expect(order.lengthMax <= FractionalRank.lengthMax)
    }
  }

  @Test(arguments: 0..<5)
  func `R78 A hundred thousand moves to one place keep ranks under 64 bytes`(place kind: Int) {
    var low: String? = FractionalRank.derived(from: 5)
    var high: String? = FractionalRank.derived(from: 6)
    if kind == 0 { low = nil }
    if kind == 1 { high = nil }
    var lengthMax = 0
    for move in 0..<100_000 as Range<UInt64> {
      // Before a fixed row, the last rank stays below it; after a fixed row, above it.
      let isRising = kind == 1 || kind == 3
      guard
        let rank = FractionalRank.between(low, high, near: isRising ? .low : .high, newest: 10 + move)
      else {
        Issue.record("no rank is left after \(move) moves")
        return
      }
      if isRising { low = rank } else { high = rank }
      if kind == 4, move % 2 == 0 { (low, high) = (FractionalRank.derived(from: 5), rank) }
      lengthMax = max(lengthMax, rank.utf8.count)
    }
    print("place \(kind): ranks of at most \(lengthMax) bytes")
    #expect(lengthMax < 64)
  }

  @Test(arguments: [
    20, 500,
  ])
  func `R78 Moves of any row to any place, twenty thousand of them, keep ranks under 64 bytes`(rowCount: Int)
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var rows = (1...UInt64(rowCount)).map { (rank: FractionalRank.derived(from: $0), revision: $0) }
    var newest = UInt64(rowCount)
    var lengthMax = 0
    for _ in 0..<20_000 {
      rows.remove(at: Int.random(in: 0..<rowCount, using: &random))
      let place = Int.random(in: 0..<rowCount, using: &random)
      let low = place > 0 ? rows[place - 1] : nil
      let high = place < rowCount - 1 ? rows[place] : nil
      let near = FractionalRank.Nearness(low: low?.revision, high: high?.revision, newest: newest)
      guard let rank = FractionalRank.between(low?.rank, high?.rank, near: near, newest: newest) else {
        Issue.record("no rank is left")
        return
      }
      newest += 1
      lengthMax = max(lengthMax, rank.utf8.count)
      rows.insert((rank, newest), at: place)
    }
    print("\(rowCount) rows: ranks of at most \(lengthMax) bytes")
    #expect(lengthMax < 64)
    #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.rank < $1.rank })
  }

  @Test
  func `R78 Rows that are moved between each other have ranks for hundreds of moves, and then there is none`()
  {
    var (low, high) = (FractionalRank.derived(from: 1), FractionalRank.derived(from: 2))
    var count: UInt64 = 0
    while let rank = FractionalRank.between(low, high, near: .middle, newest: 10 + count) {
      count += 1
      if count % 2 == 0 { low = rank } else { high = rank }
      if count > 10_000 { break }
    }
    print("\(count) ranks between ranks")
    #expect(count > 200 && count < 1_000)
    #expect(FractionalRank.spread(9, between: low, and: high, newest: 10_000) == nil)
  }

  @Test
  func `R78 Ranks for many rows at once ascend, are short, and stand below those of rows not yet made`()
    throws
  {
    for count in [1, 2, 3, 10, 5_000] {
      let ranks = try #require(FractionalRank.spread(count, between: nil, and: nil, newest: 20_000))
      var order = Order(rows: 1)
      order.ranks = ranks + [FractionalRank.derived(from: 20_000 + UInt64(count) + 1)]
      #expect(order.isAscending)
      #expect(ranks.allSatisfy { $0.utf8.count <= FractionalRank.spreadLengthMax })
    }
  }

  @Test
  func `R78 Ranks that are the same, or turned around, or no ranks, leave no room and break nothing`() {
    let ranks = ["", "0", "00", "a", "a0", "a00", "zz", "z", String(repeating: "z", count: 255)]
    for low in ranks {
      for high in ranks {
        for near in [FractionalRank.Nearness.low, .high, .middle] {
          guard let rank = FractionalRank.between(low, high, near: near, newest: 3) else { continue }
          #expect(low < rank && rank < high)
        }
      }
    }
    #expect(FractionalRank.between("a", "a", near: .low, newest: 3) == nil)
    #expect(FractionalRank.between("a", "a0", near: .low, newest: 3) == nil)
    for text in ["", "ä", "a-", String(repeating: "z", count: 256)] { #expect(!FractionalRank.isRank(text)) }
  }
}
