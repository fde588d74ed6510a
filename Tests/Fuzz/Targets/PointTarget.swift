// Points, ranges, times and lengths of time as people type them.

internal import LogreplayPoints
internal import StrataEvents

enum PointTarget {
  private static let now: Int64 = 1_795_198_636_123_456_789

  static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
    let text = String(decoding: bytes, as: UTF8.self)
    for zone in [Zone.utc, .fixed(5_400), .fixed(-43_200), .local] {
      for now in [now, 0, .min + 1, .max] { try times(text, TimeText(now: now, zone: zone)) }
    }
    let utc = TimeText(now: now, zone: .utc)
    let words = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if let range = try? PointRange(reading: words, times: utc), words.count == 1, !words[0].contains("..") {
      try law(range.from == nil, "one point has a beginning: \(text)")
    }
    if words.contains("") {
      try law((try? PointRange(reading: words, times: utc)) == nil, "a range has an empty point: \(text)")
    } else if words.count == 2,
      words.allSatisfy({ !$0.contains("..") && !$0.hasPrefix(".") && !$0.hasSuffix(".") })
    {
      let two = try? PointRange(reading: words, times: utc)
      let joined = try? PointRange(reading: [words.joined(separator: "..")], times: utc)
      try law(two == joined, "\(text) is one range in two words and another in one")
    }
    if let length = TimeText.duration(text) { try law(length >= 0, "\(text) is a negative length") }
  }

  private static func times(_ text: String, _ times: TimeText) throws(BrokenLaw) {
    if let instant = times.instant(text) {
      let time = Int64(
        clamping: Int128(instant.seconds) * 1_000_000_000 + Int128(instant.attoseconds / 1_000_000_000))
      try law(times.nanoseconds(text) == time, "\(text) is one time as nanoseconds and another as an instant")
    }
    guard let point = try? Point(reading: text, times: times) else { return }
    let again: String
    switch point {
    case .sequence(let number): again = "\(number)"
    case .head: again = "head"
    case .back(let count): again = "head~\(count)"
    case .first: again = "first"
    case .id(let id): again = "id:\(id)"
    case .mark(let name): again = "mark:\(name)"
    case .cursor(let position): again = "cursor:\(position)"
    case .time(let time): again = Timestamp(nanoseconds: time).description
    }
    let read = try? Point(reading: again, times: times)
    try law(read == point, "\(text) is \(point), and \(again) is \(String(describing: read))")
  }
}
