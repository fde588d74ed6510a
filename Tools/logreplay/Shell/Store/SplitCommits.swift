// Commits of an imported git history that are several appends.

internal import LogreplayPoints
internal import StrataBase
package import StrataEvents
package import StrataLog

/// The appends of a store after which a commit is there in part only.
///
/// A commit that changes too much for one append is several. The id of the last one is the commit's hash, and that of the
/// others `HASH.1`, `HASH.2` and so on. Each of these others ends with an event in one stream, so that they are found
/// without reading the log. They are few: each has as many events or bytes as an append can have.
package struct SplitCommits {
  /// The stream that lists them, and the type of its events.
  package static let stream = "commit/parts"
  package static let partType = "git.part"
  /// The type of an event that says with which merge a commit without an append came.
  package static let mergedType = "git.merged"

  /// Ascending.
  private(set) var parts: [AppendPosition] = []

  package init() {}

  /// Blocks. Where the log is damaged, the parts up to there: what reads the log reports the damage.
  package init(_ log: Log) {
    // A table of any application may have such a stream, but hardly such events: that costs one look-up.
    let type = Array(Self.partType.utf8)
    guard let types = try? log.index.types(prefix: type, limit: 1), types.first?.name == type,
      let places = try? log.index.parts(of: Array(Self.stream.utf8), after: 0)
    else { return }
    for sequence in places.flatMap(\.sequences) {
      guard let place = try? log.append(holding: sequence), place.last == sequence,
        Self.isPart(place.first, in: log)
      else { continue }
      parts.append(place)
    }
  }

  /// Whether the append that begins with a sequence is a part of a commit: its id says so, whatever its stream is.
  private static func isPart(_ first: UInt64, in log: Log) -> Bool {
    guard let block = try? log.block(holding: first) else { return false }
    var isPart = false
    try? block.forEachAppend { append, begin in
      if begin == first { isPart = part(id: Array(append.id)) != nil }
    }
    return isPart
  }

  // MARK: Counting a commit once

  /// The number of appends up to one with this number, where those of one commit count once, with its last one.
  package func step(ofOrdinal ordinal: UInt64) -> UInt64 {
    ordinal - UInt64(parts.count { $0.ordinal < ordinal })
  }

  /// The number of the append that ends a step.
  package func ordinal(ofStep step: UInt64) -> UInt64 {
    parts.reduce(step) { $1.ordinal <= $0 ? $0 + 1 : $0 }
  }

  /// Whether the commit that an append with this last sequence belongs to goes on after it.
  package func goesOn(after sequence: UInt64) -> Bool { parts.contains { $0.last == sequence } }

  /// The first sequence of an append, or of the commit that ends with it.
  package static func begin(of append: RecordedAppend, in log: Log) -> UInt64 {
    guard let id = append.id, GitHash.isOne(id.utf8),
      let first = try? log.index.first(ofID: Array(Self.id(of: id, part: 1).utf8))
    else { return append.sequences.lowerBound }
    return min(first, append.sequences.lowerBound)
  }

  // MARK: Ids

  /// An id has room for a hash of SHA-1 with a number, but not for one of SHA-256, whose last digits are left out.
  package static func id(of hash: String, part: Int) -> String {
    let number = ".\(part)"
    return hash.prefix(FormatLimits.appendIDLengthMax - number.utf8.count) + number
  }

  /// The commit of an id with this form, and the number of the append; nil for any other id. Of a hash of SHA-256, the
  /// last digits are missing.
  package static func part(id: some Collection<UInt8>) -> (hash: String, number: Int)? {
    guard let dot = id.firstIndex(of: UInt8(ascii: ".")) else { return nil }
    let (hash, digits) = (id[..<dot], String(decoding: id[dot...].dropFirst(), as: UTF8.self))
    guard
      hash.count == GitHash.lengthMin
        || hash.count > GitHash.lengthMin && id.count == FormatLimits.appendIDLengthMax,
      hash.allSatisfy(GitHash.isDigit), digits.isDigits, !digits.hasPrefix("0"),
      let number = Int(digits)
    else { return nil }
    return (String(decoding: hash, as: UTF8.self), number)
  }
}
