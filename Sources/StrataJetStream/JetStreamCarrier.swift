// A stream of NATS JetStream that holds the objects of a store.

internal import StrataBase
public import StrataReplica

/// Keeps the objects of a store as the messages of a stream in NATS JetStream: message n is object n.
///
/// What decides between two writers is `Nats-Expected-Last-Sequence`, which every put has. Objects that are put together
/// are one batch, of which the servers store everything or nothing. Called replicated is what a quorum of the stream's
/// replicas has. With `sync_interval: always` they have it on disk; otherwise each writes to disk every two minutes, and a
/// power cut of several at once takes what came in between. A client cannot see which of the two holds.
///
/// An object is found in O(1). The streams are made by the first writer, with three replicas unless the URL says
/// otherwise.
public final class JetStreamCarrier: Carrier {
  struct State {
    /// Everything up to here was in the stream once.
    var head: UInt64 = 0
    var ahead = ReadAhead()
    /// How often a name was made.
    var tokens: UInt64 = 0
  }

  let address: JetStreamAddress
  let names: StreamNames
  let link: any BrokerLink
  let time: CarrierTime
  /// The least that a server has to take, so that the longest object has not more parts than its list can say.
  private let messageSizeLeast: Int
  /// What calls on several threads share.
  let state = Lock(State())

  /// The URL, without users, passwords and tokens.
  public var name: String { address.text }

  /// 480 KiB: what still fits into one message when it cannot be compressed.
  public var objectSizeTarget: Int { 480 << 10 }

  init(
    _ address: JetStreamAddress, over link: any BrokerLink, time: CarrierTime = .system,
    messageSizeLeast: Int = 64 << 10
  ) {
    self.address = address
    self.messageSizeLeast = messageSizeLeast
    names = StreamNames(copy: address.copy)
    self.link = link
    self.time = time
  }

  // MARK: Sizes

  /// The largest message that is sent. Servers take 1 MiB unless told otherwise, and work best with less.
  static let messageSizeMax = 512 << 10
  /// What the headers of a message may need. They count as a part of it.
  private static let headerSizeMax = 1 << 10

  /// How many bytes of an object fit into one message.
  func partSizeMax() throws(LinkFailure) -> Int {
    let size = min(try link.messageSizeMax(), Self.messageSizeMax)
    guard size >= messageSizeLeast else {
      throw .refused(
        CarrierError(
          .unfit, what: "the servers take messages of at most \(size) bytes",
          next: "set max_payload of every server to 1MB"))
    }
    return size - Self.headerSizeMax
  }

  /// A name that no other has.
  func token() -> String {
    let number = state.withLock { state in
      state.tokens += 1
      return state.tokens
    }
    return String(UInt64.random(in: 0 ... .max), radix: 36) + "x" + String(number, radix: 36)
  }

  /// Notes that a number is taken.
  func note(_ number: UInt64) { state.withLock { $0.head = max($0.head, number) } }

  public func waitForObject(_ number: UInt64, within interval: Duration) {
    link.waitForHint(names.hint, within: interval)
  }
}

/// The clock that tries are timed by, and how a thread waits between them.
struct CarrierTime: Sendable {
  /// Since any moment that stays the same.
  let now: @Sendable () -> Duration
  let sleep: @Sendable (Duration) -> Void

  static let system = CarrierTime(
    now: { .nanoseconds(MonotonicTime.now().nanoseconds) },
    sleep: { duration in
      let pause = Gate(())
      _ = pause.wait(timeout: duration) { _ in false }
    })
}
