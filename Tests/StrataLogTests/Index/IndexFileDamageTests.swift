import CStrata
import StrataBase
import StrataLog
import StrataSimulation
import Testing

/// How a damaged file behaved: it may refuse, it may not answer wrongly.
private struct Verdict {
  var opened = false
  /// The walk over all entries, or a lookup, reported damage.
  var reported = false
  var wrongAnswers: [String] = []

  init(_ disk: OneFileDisk, _ model: IndexModel, absent: [Bytes]) {
    guard let file = disk.index() else { return }
    opened = true
    let keys = model.keys
    for key in keys + absent {
      do {
        let value = try file.value(key)
        if value != model.values[key] { wrongAnswers.append("\(key) has \(value as Any)") }
      } catch { reported = true }
    }
    var seen: [Bytes] = []
    do {
      try file.forEach(withPrefix: []) { key, value in
        seen.append(Bytes(key))
        if model.values[seen.last!] != Bytes(value) { wrongAnswers.append("\(seen.last!) walks wrongly") }
        return true
      }
      if seen != keys { wrongAnswers.append("the walk ends after \(seen.count) of \(keys.count)") }
    } catch {
      reported = true
      if seen != Array(keys.prefix(seen.count)) { wrongAnswers.append("the walk skips") }
    }
    for hash in Set(model.ids.map(\.hash)) {
      do {
        let found = try file.candidates(forID: hash)
        if !Set(found).isSuperset(of: model.firsts(hash)) { wrongAnswers.append("\(hash) is at \(found)") }
      } catch { reported = true }
    }
  }
}

@Suite struct IndexFileDamageTests {
  private func example() throws -> (IndexModel, Bytes, absent: [Bytes]) {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let model = random.model(keys: 40, ids: 40, valueLengthMax: 16)
    let absent = (0..<20).map { _ in random.key() }.filter { model.values[$0] == nil }
    return (model, try model.written(chunkLengthTarget: 100).bytes, absent)
  }

  @Test func `every flipped bit is noticed and none gives a wrong answer`() throws {
    let (model, whole, absent) = try example()
    for place in whole.indices {
      var bytes = whole
      bytes[place] ^= 1 << UInt8(place % 8)
      let verdict = Verdict(OneFileDisk(bytes), model, absent: absent)
      #expect(verdict.wrongAnswers.isEmpty, "byte \(place)")
      #expect(!verdict.opened || verdict.reported, "byte \(place) of \(whole.count) was not noticed")
    }
    let verdict = Verdict(OneFileDisk(whole), model, absent: absent)
    #expect(verdict.opened && !verdict.reported && verdict.wrongAnswers.isEmpty)
  }

  @Test func `a file cut at any length is not opened`() throws {
    let (_, whole, _) = try example()
    for length in 0..<whole.count {
      #expect(OneFileDisk(Bytes(whole.prefix(length))).index() == nil, "\(length) of \(whole.count)")
    }
    #expect(OneFileDisk(whole + [0]).index() == nil)
  }

  @Test func `a file cut while it is open reports damage`() throws {
    let (model, whole, _) = try example()
    let disk = OneFileDisk(whole)
    let file = try #require(disk.index())
    disk.state.withLock { $0.bytes = [] }
    for key in model.keys {
      #expect(throws: StoreError.self) { try file.value(key) }
    }
  }

  @Test func `lies under right checksums neither trap nor ask for more memory than the file has bytes`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let model = random.model(keys: 40, ids: 40, valueLengthMax: 16)
    let whole = try model.written(chunkLengthTarget: 100).bytes
    var opened = 0
    for _ in 0..<4_000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...3, using: &random) { tell(lieIn: &bytes, using: &random) }
      reseal(&bytes)
      let disk = OneFileDisk(bytes)
      if let file = disk.index() {
        opened += 1
        for key in model.keys { _ = try? file.value(key) }
        _ = try? file.entries()
        for id in model.ids { _ = try? file.candidates(forID: id.hash) }
        _ = try? file.check()
      }
      #expect(disk.longestRead <= bytes.count)
    }
    #expect(opened > 0, "no lie was good enough to be opened")
  }

  /// Overwrites a number somewhere, more often in the trailer and the fences than in the chunks.
  private func tell(lieIn bytes: inout Bytes, using random: inout SeededGenerator) {
    let parts = Parts(bytes)
    let ranges = [
      0..<parts.places, parts.fingerprints..<parts.filter, parts.fences..<parts.trailer,
      parts.trailer..<bytes.count - 4,
    ]
    let range = ranges.filter { !$0.isEmpty }.randomElement(using: &random)!
    let width = [1, 2, 4, 8].randomElement(using: &random)!
    var place = Int.random(in: range, using: &random)
    if range.lowerBound != 0, width > 2 { place = place / width * width }
    let numbers: [UInt64] = [
      0, 1, 6, 0x7F, 0xFF, UInt64(bytes.count), .max, .max >> 1, random.next() & 0xFFF,
    ]
    let number = numbers.randomElement(using: &random)!
    for byte in 0..<width where range.contains(place + byte) {
      bytes[place + byte] = UInt8(truncatingIfNeeded: number >> UInt64(8 * byte))
    }
  }

  /// Gives every part the checksum that it now has, as far as the parts can be found.
  private func reseal(_ bytes: inout Bytes) {
    let parts = Parts(bytes)
    for index in 0..<min(parts.chunkCount, (parts.trailer - parts.fences) / 32) {
      let fence = parts.fences + 32 * index
      let start = bytes.number(8, at: fence)
      let length = bytes.number(4, at: fence + 16)
      guard start <= bytes.count, length <= bytes.count - start else { continue }
      bytes.store(crc(bytes[start..<start + length]), at: fence + 24)
    }
    if parts.filter - parts.fingerprints >= 16 {
      // Two pages and one group: three numbers of ids, and then the group's checksum.
      bytes.store(crc(bytes[parts.places..<parts.fingerprints]), at: parts.fingerprints + 12)
    }
    bytes.store(crc(bytes[parts.fingerprints..<parts.filter]), at: parts.trailer + 112)
    bytes.store(crc(bytes[parts.filter..<parts.fences]), at: parts.trailer + 96)
    bytes.store(crc(bytes[parts.fences..<parts.trailer]), at: parts.trailer + 100)
    bytes.store(crc(bytes[parts.trailer..<parts.trailer + 124]), at: parts.trailer + 124)
  }

  private func crc(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.withUnsafeBytes { strata_crc32c(0, $0.baseAddress, $0.count) }
  }
}

/// Where the parts of a file begin, as far as its trailer can be believed.
private struct Parts {
  let places: Int
  let fingerprints: Int
  let filter: Int
  let fences: Int
  let trailer: Int
  let chunkCount: Int

  init(_ bytes: Bytes) {
    trailer = bytes.count - 128
    fences = max(0, trailer - min(bytes.number(8, at: trailer + 88), trailer))
    filter = max(0, fences - min(bytes.number(8, at: trailer + 80), fences))
    places = min(bytes.number(8, at: trailer + 72), filter)
    let ids = min(bytes.number(8, at: trailer + 104), 512)
    // A page number more than pages, the checksum of one group, and two bytes for each id.
    fingerprints = max(places, filter - (ids == 0 ? 0 : 4 * ((ids + 31) / 32 + 1) + 4 + 2 * ids))
    chunkCount = bytes.number(8, at: trailer + 64)
  }
}

extension Bytes {
  /// A little-endian number, at most `Int.max`.
  fileprivate func number(_ width: Int, at place: Int) -> Int {
    Int(clamping: self[place..<place + width].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  fileprivate mutating func store(_ number: UInt32, at place: Int) {
    for byte in 0..<4 { self[place + byte] = UInt8(truncatingIfNeeded: number >> UInt32(8 * byte)) }
  }
}
