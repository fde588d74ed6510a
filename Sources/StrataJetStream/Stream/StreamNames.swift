// What the streams and subjects of a copy are called.

/// The names of a copy on the servers. The kind comes before the copy's name, so that no two copies share one.
///
///     stream STRATA_LOG_NAME      subject STRATA.NAME.log      the objects: message n is object n
///     stream STRATA_SIDE_NAME     subjects STRATA.NAME.side.>
///         part.NUMBER.HASH.INDEX                               parts of objects that are larger than a message
///         erased.NUMBER.VERSION                                what took the place of object NUMBER
///         new.NUMBER.HASH.INDEX                                parts of that, if it is larger than a message
///         member.MEMBER                                        what a member says of itself
///         probe.TOKEN                                          what is tried before anything is shipped
///     no stream                   subject STRATA.NAME.hint     tells that there is more: may be lost
struct StreamNames: Sendable {
  let copy: String

  var log: String { "STRATA_LOG_\(copy)" }
  var side: String { "STRATA_SIDE_\(copy)" }
  var logSubject: String { "STRATA.\(copy).log" }
  var sideSubjects: String { "STRATA.\(copy).side.>" }
  var hint: String { "STRATA.\(copy).hint" }

  /// Which parts: those of objects as they were put, or of what took their place.
  enum Parts: String {
    case put = "part"
    case new
  }

  func part(_ index: Int, of parts: ObjectParts, _ number: UInt64, _ kind: Parts) -> String {
    "STRATA.\(copy).side.\(kind.rawValue).\(number).\(parts.digits).\(index)"
  }
  /// The parts of all objects that were put under a number, or of all numbers.
  func parts(_ kind: Parts, _ number: UInt64?) -> String {
    "STRATA.\(copy).side.\(kind.rawValue)." + (number.map { "\($0).*.*" } ?? ">")
  }
  func parts(_ kind: Parts, _ number: UInt64, hash: some StringProtocol) -> String {
    "STRATA.\(copy).side.\(kind.rawValue).\(number).\(hash).*"
  }

  func erased(_ number: UInt64, _ version: UInt64) -> String {
    "STRATA.\(copy).side.erased.\(number).\(version)"
  }
  func erased(_ number: UInt64?) -> String {
    "STRATA.\(copy).side.erased." + (number.map { "\($0).*" } ?? ">")
  }

  func probe(_ token: String) -> String { "STRATA.\(copy).side.probe.\(token)" }

  func member(_ member: String) -> String { "STRATA.\(copy).side.member.\(member)" }
  var members: String { "STRATA.\(copy).side.member.*" }

  /// What a subject has after the kind: `NUMBER.HASH.INDEX`, `NUMBER.VERSION`, `MEMBER`; nil if it is of another kind.
  func tokens(_ subject: String, of kind: String) -> [Substring]? {
    let prefix = "STRATA.\(copy).side.\(kind)."
    guard subject.hasPrefix(prefix) else { return nil }
    return subject.dropFirst(prefix.count).split(separator: ".", omittingEmptySubsequences: false)
  }
}
