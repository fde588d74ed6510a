// Sort keys of Swift's types, compared with the order of the types themselves.

internal import Foundation
internal import StrataEvents
internal import StrataTables
internal import StrataSimulation
internal import Testing

private enum Impact: String, SortKey, CaseIterable { case low, medium, high }

private struct Version: SortKey, Comparable {
  var major: Int?
  var minor: String

  init(major: Int?, minor: String) {
    self.major = major
    self.minor = minor
  }

  func encode(to writer: inout SortKeyWriter) {
    writer.append(major)
    writer.append(minor, .descending)
  }

  init(from reader: inout SortKeyReader) throws(SortKeyError) {
    self.init(major: try reader.read(), minor: try reader.read(.descending))
  }

  static func < (a: Version, b: Version) -> Bool {
    if a.major != b.major { return (a.major ?? .min) < (b.major ?? .min) }
    return b.minor.utf8.lexicographicallyPrecedes(a.minor.utf8)
  }
}

extension SortKeyReader {
  fileprivate mutating func read(_ options: SortKeyOptions) throws(SortKeyError) -> String {
    try read(String.self, options)
  }
}

@Suite struct SortKeyTests {
  /// Checks order, prefixes and decoding of random pairs, in both directions.
  private func check<Value: SortKey>(
    _ random: inout SeededGenerator, _ draw: (inout SeededGenerator) -> Value,
    by compare: (Value, Value) -> Int, same: (Value, Value) -> Bool
  ) throws {
    for _ in 0..<800 {
      let (a, b) = (draw(&random), draw(&random))
      for options: SortKeyOptions in [[], .descending] {
        let (keyA, keyB) = (key(a, options), key(b, options))
        let expected = options.isEmpty ? compare(a, b) : compare(b, a)
        try #require(order(keyA, keyB) == expected, "\(a) \(b) \(options)")
        try #require(!isProperPrefix(keyA, keyB) && !isProperPrefix(keyB, keyA), "\(a) \(b)")
        try #require(same(try decoded(keyA, options), a), "\(a) \(options)")
        try #require(key(try decoded(keyA, options) as Value, options) == keyA)
      }
    }
  }

  private func check<Value: SortKey & Comparable>(
    _ random: inout SeededGenerator, _ draw: (inout SeededGenerator) -> Value
  ) throws {
    try check(&random, draw, by: { order($0, $1) }, same: ==)
  }

  @Test func `integers of every type sort as they do, and come back`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    try check(&random) { Int($0.integer()) }
    try check(&random) { $0.integer() }
    try check(&random) { Int8(truncatingIfNeeded: $0.integer()) }
    try check(&random) { Int16(truncatingIfNeeded: $0.integer()) }
    try check(&random) { Int32(truncatingIfNeeded: $0.integer()) }
    try check(&random) { UInt(truncatingIfNeeded: $0.integer()) }
    try check(&random) { UInt8(truncatingIfNeeded: $0.integer()) }
    try check(&random) { UInt16(truncatingIfNeeded: $0.integer()) }
    try check(&random) { UInt32(truncatingIfNeeded: $0.integer()) }
    try check(&random) { UInt64(truncatingIfNeeded: $0.integer()) }
    try check(&random) { Int128($0.integer()) << Int128(Int.random(in: 0..<64, using: &$0)) }
    try check(&random) { UInt128($0.next()) << UInt128(Int.random(in: 0..<64, using: &$0)) }
    for value in [Int.min, -1, 0, 1, .max] { #expect(try decoded(key(value)) == value) }
    for value in [Int128.min, .max] { #expect(try decoded(key(value)) == value) }
    #expect(try decoded(key(UInt128.max)) == UInt128.max)
  }

  @Test func `doubles are in total order: minus zero is zero, every NaN is one and last`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    func compare(_ a: Double, _ b: Double) -> Int {
      if a.isNaN || b.isNaN { return a.isNaN && b.isNaN ? 0 : a.isNaN ? 1 : -1 }
      return order(a, b)
    }
    try check(&random, { $0.double() }, by: compare) { $0 == $1 || ($0.isNaN && $1.isNaN) }
    try check(
      &random, { Float(bitPattern: UInt32(truncatingIfNeeded: $0.next())) },
      by: { compare(Double($0), Double($1)) }, same: { $0 == $1 || ($0.isNaN && $1.isNaN) })
    #expect(key(-0.0) == key(0.0))
    #expect(try decoded(key(-0.0), as: Double.self).sign == .plus)
    #expect(key(Double.nan) == key(-Double.signalingNaN))
    #expect(key(Double.infinity).lexicographicallyPrecedes(key(Double.nan)))
  }

  @Test func `strings sort by UTF-8, with zeros and both forms of é told apart`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    try check(
      &random, { $0.text() }, by: { order(Array($0.utf8), Array($1.utf8)) },
      same: { Array($0.utf8) == Array($1.utf8) })
    #expect("é" == "e\u{301}")
    #expect(key("é") != key("e\u{301}"))
    #expect(key("").lexicographicallyPrecedes(key("\u{0}")))
    #expect(key("a").lexicographicallyPrecedes(key("a\u{0}")))
    #expect(key("a\u{0}\u{0}").lexicographicallyPrecedes(key("a\u{0}\u{1}")))
  }

  @Test func `bytes, data, UUIDs, dates, timestamps and booleans sort as they do`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    try check(&random, { $0.bytes() }, by: order, same: ==)
    try check(&random, { Data($0.bytes()) }, by: { order(Array($0), Array($1)) }, same: ==)
    try check(
      &random, { Date(timeIntervalSinceReferenceDate: Double($0.integer() >> 12) / 8) },
      by: { order($0, $1) }, same: ==)
    try check(&random) { Timestamp(nanoseconds: $0.integer()) }
    func uuid(_ random: inout SeededGenerator) -> UUID {
      let bytes = (0..<16).map { _ in random.chance(80) ? 0 : UInt8(truncatingIfNeeded: random.next()) }
      return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
    try check(&random, uuid, by: { order($0.uuidString, $1.uuidString) }, same: ==)
    #expect(key(false).lexicographicallyPrecedes(key(true)))
    #expect(try decoded(key(true)) == true)
  }

  @Test func `enumerations with raw values need no code`() throws {
    for impact in Impact.allCases {
      #expect(key(impact) == key(impact.rawValue))
      #expect(try decoded(key(impact)) == impact)
    }
    #expect(throws: SortKeyError.outOfRange) { try decoded(key("none"), as: Impact.self) }
  }

  @Test func `nil comes first or last as told, in either direction, however deep`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    func rank(_ value: Int??, nilsLast: Bool) -> (depth: Int, value: Int) {
      // A deeper nil is closer to the values.
      switch value {
      case .none: (nilsLast ? 2 : -2, 0)
      case .some(.none): (nilsLast ? 1 : -1, 0)
      case .some(.some(let value)): (0, value)
      }
    }
    for _ in 0..<4_000 {
      let pair = (0..<2).map { _ -> Int?? in
        random.chance(30) ? Int??.none : random.chance(30) ? Int??.some(nil) : Int(random.integer() % 3)
      }
      for options: SortKeyOptions in [[], .nilsLast, .descending, [.descending, .nilsLast]] {
        let (a, b) = (key(pair[0], options), key(pair[1], options))
        let (rankA, rankB) = (
          rank(pair[0], nilsLast: options.contains(.nilsLast)),
          rank(pair[1], nilsLast: options.contains(.nilsLast))
        )
        let values = order(rankA.value, rankB.value) * (options.contains(.descending) ? -1 : 1)
        let expected = rankA.depth != rankB.depth ? order(rankA.depth, rankB.depth) : values
        try #require(order(a, b) == expected, "\(pair) \(options)")
        try #require(try decoded(a, options) as Int?? == pair[0])
        try #require(!isProperPrefix(a, b))
      }
    }
    #expect(key(String?.none) != key(""))
  }

  @Test func `one component after the other compares as a tuple, in either direction`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    func version(_ random: inout SeededGenerator) -> Version {
      Version(major: random.chance(30) ? nil : Int(random.integer() % 3), minor: random.text())
    }
    func isSame(_ a: Version, _ b: Version) -> Bool {
      a.major == b.major && Array(a.minor.utf8) == Array(b.minor.utf8)
    }
    func compare(_ a: Version, _ b: Version) -> Int { order(a, b) }
    for _ in 0..<3_000 {
      let (a, b) = (version(&random), version(&random))
      try #require(order(key(a), key(b)) == compare(a, b), "\(a) \(b)")
      try #require(isSame(try decoded(key(a)), a))
      // Everything is reversed except the position of nil.
      let isNilFirst = (a.major == nil) != (b.major == nil)
      let expected = isNilFirst ? compare(a, b) : compare(b, a)
      try #require(order(key(a, .descending), key(b, .descending)) == expected, "\(a) \(b)")
      try #require(isSame(try decoded(key(a, .descending), .descending), a))
      let (wrappedA, wrappedB) = (Version?.some(a), random.chance(20) ? nil : Version?.some(b))
      let (optionalA, optionalB) = (key(wrappedA), key(wrappedB))
      try #require(order(optionalA, optionalB) == (wrappedB == nil ? 1 : compare(a, b)))
      try #require(!isProperPrefix(optionalA, optionalB) && !isProperPrefix(optionalB, optionalA))
    }
  }

  @Test func `a component's length is found without its type or direction`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<2_000 {
      var writer = SortKeyWriter()
      var ends: [Int] = []
      let optionSets: [SortKeyOptions] = [
        [], .descending, .nilsLast, .numeric, [.descending, .caseInsensitive], [.time, .descending],
      ]
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let options = optionSets.randomElement(using: &random) ?? []
        switch Int.random(in: 0..<4, using: &random) {
        case 0: writer.append(random.chance(50) ? nil : Int(random.integer()), options)
        case 1: writer.append(UUID(), options)
        case 2: writer.append(random.chance(50) ? Int??.some(nil) : Int??.some(1), options)
        default:
          let bytes = random.scalar().cbor()
          try bytes.withUnsafeBytes { try writer.append(documentValue: $0, options) }
        }
        ends.append(writer.count)
      }
      random.bytes().withUnsafeBytes { writer.append(raw: $0) }
      try writer.withUnsafeBytes { bytes in
        var start = 0
        for (index, end) in ends.enumerated() {
          try #require(try SortKeyReader.componentLength(of: bytes, at: start) == end - start)
          try #require(try SortKeyReader.length(ofComponents: index + 1, in: bytes) == end)
          let part = UnsafeRawBufferPointer(rebasing: bytes[..<(end - 1)])
          #expect(throws: SortKeyError.self) { try SortKeyReader.componentLength(of: part, at: start) }
          start = end
        }
      }
    }
  }

  @Test func `a writer that was emptied is as new`() {
    var writer = SortKeyWriter()
    writer.append("somewhat longer than the first room for bytes, " + String(repeating: "x", count: 300))
    writer.removeAll()
    writer.append(7)
    #expect(writer.bytes == key(7))
  }

  @Test func `damaged keys are errors`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for round in 0..<10_000 {
      var bytes = random.bytes()
      if round % 2 == 0 { bytes = try key(document: random.scalar(), round % 4 == 0 ? .descending : []) }
      if let place = bytes.indices.randomElement(using: &random) {
        bytes[place] = UInt8(truncatingIfNeeded: random.next())
      }
      bytes.withUnsafeBytes { bytes in
        var reader = SortKeyReader(bytes)
        _ = try? reader.readDocumentValue(round % 3 == 0 ? .descending : [])
        reader = SortKeyReader(bytes)
        _ = try? reader.skipComponent()
        reader = SortKeyReader(bytes)
        _ = try? reader.read(Int128?.self)
        reader = SortKeyReader(bytes)
        _ = try? reader.read(UUID.self)
        reader = SortKeyReader(bytes)
        _ = try? reader.read(Float.self)
        #expect(reader.offset <= bytes.count)
      }
    }
  }
}
