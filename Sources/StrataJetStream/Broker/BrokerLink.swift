// What the carrier needs of a connection to the servers.

internal import StrataReplica

/// A message to a server, or from one.
struct BrokerMessage: Equatable, Sendable {
  var subject: String
  /// Names and values, in any order. A server's answer has those that the reader of it needs.
  var headers: [String: String] = [:]
  var bytes: [UInt8] = []

  /// The code of an answer that is no message: 404, 408, 204; nil for messages.
  var status: Int? { headers[Header.status].flatMap { Int($0) } }
  /// The sequence of a message that was read from a stream.
  var sequence: UInt64? { headers[Header.sequence].flatMap { UInt64($0) } }
}

/// The names of headers.
enum Header {
  static let status = "Status"
  static let sequence = "Nats-Sequence"
  static let stream = "Nats-Stream"
  static let expectedLast = "Nats-Expected-Last-Sequence"
  static let expectedLastOfSubject = "Nats-Expected-Last-Subject-Sequence"
  static let batch = "Nats-Batch-Id"
  static let indexInBatch = "Nats-Batch-Sequence"
  static let commit = "Nats-Batch-Commit"
  static let rollup = "Nats-Rollup"

  /// Those that are looked for in answers.
  static let ofAnswers = [status, sequence, stream]
}

/// Why there was no answer.
enum LinkFailure: Error, Equatable {
  /// None came in time: what was sent may have arrived, or arrive later.
  case silent
  /// Nobody takes what is sent to the subject now.
  case noResponders
  /// There is no connection. What was sent before it was lost may have arrived.
  case down(String)
  /// The servers are not what the carrier needs, or refuse the user. Another try is refused too.
  case refused(CarrierError)
}

/// A connection to any of the servers. It is made when it is needed, and made again with another server after a failure.
/// Calls come from several threads, and block.
protocol BrokerLink: AnyObject, Sendable {
  /// How many bytes a message with its headers may have.
  func messageSizeMax() throws(LinkFailure) -> Int

  /// The versions of the servers of the address that answer now, with their names. At least one.
  func versions() throws(LinkFailure) -> [(server: String, version: ServerVersion)]

  /// Sends messages in their order, and waits for the answer to the last.
  func request(_ messages: [BrokerMessage], within duration: Duration) throws(LinkFailure) -> BrokerMessage

  /// Sends a request and takes its answers until one is taken as the last, each within the duration.
  ///
  /// - Parameter body: returns whether there are more.
  func collect(
    _ request: BrokerMessage, within duration: Duration, _ body: (BrokerMessage) -> Bool
  ) throws(LinkFailure)

  /// Sends a message that may be lost.
  func hint(_ subject: String)

  /// Waits for a message that may be lost, from the first call with this subject on.
  func waitForHint(_ subject: String, within duration: Duration)
}

extension BrokerLink {
  func request(_ message: BrokerMessage, within duration: Duration) throws(LinkFailure) -> BrokerMessage {
    try request([message], within: duration)
  }
}

/// The version of a server, as far as it decides.
struct ServerVersion: Comparable, Sendable, CustomStringConvertible {
  let major: Int
  let minor: Int
  let patch: Int

  /// The first with batches that are stored as a whole or not at all, and whose replicas number messages in one way whatever
  /// becomes of a race on the fence: 2.9.10 did not.
  static let oldest = ServerVersion(2, 12, 0)

  init(_ major: Int, _ minor: Int, _ patch: Int) {
    (self.major, self.minor, self.patch) = (major, minor, patch)
  }

  /// Reads `2.15.1`, and `2.12.0-RC.3`, which counts as 2.12.0.
  init?(_ text: String) {
    let numbers = text.prefix { $0 != "-" && $0 != "+" }.split(
      separator: ".", omittingEmptySubsequences: false
    )
    .map { Int($0) }
    guard numbers.count == 3, let major = numbers[0], let minor = numbers[1], let patch = numbers[2],
      min(major, minor, patch) >= 0
    else { return nil }
    self.init(major, minor, patch)
  }

  var description: String { "\(major).\(minor).\(patch)" }

  static func < (a: ServerVersion, b: ServerVersion) -> Bool {
    (a.major, a.minor, a.patch) < (b.major, b.minor, b.patch)
  }
}

extension CarrierError {
  /// A server that is too old.
  static func tooOld(_ server: String, _ version: String) -> CarrierError {
    CarrierError(
      .unfit,
      what: "the NATS server \(server) has version \(version), and copies need \(ServerVersion.oldest)",
      next: "upgrade every server of the cluster; older ones may number the same messages differently")
  }
}
