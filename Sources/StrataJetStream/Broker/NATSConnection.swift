// One connection of the C client, and the messages that go over it.

#if JetStream
  internal import CNats
  internal import StrataBase
  internal import StrataReplica

  /// A connection to one server. It is closed when its last user lets it go, and never made again by itself.
  final class NATSConnection: @unchecked Sendable {
    // Sendable: the client's connections may be used by several threads, and its subscriptions by one at a time.

    private let connection: OpaquePointer
    let messageSizeMax: Int
    /// Who waits for hints, and the subject; guarded by its lock while somebody waits.
    private let hints = Lock<Subscription?>(nil)

    private static let timeout: Int64 = 2000
    private static let pingInterval: Int64 = 10_000
    /// What a server may send ahead of its reader.
    private static let pendingBytesMax: Int32 = 64 << 20

    init(
      _ server: JetStreamAddress.Server, isTLS: Bool, as credentials: JetStreamCredentials?
    ) throws(LinkFailure) {
      var options: OpaquePointer?
      try Self.check(natsOptions_Create(&options))
      defer { natsOptions_Destroy(options) }
      try Self.check(natsOptions_SetURL(options, "\(isTLS ? "tls" : "nats")://\(server.text)"))
      try Self.check(natsOptions_SetAllowReconnect(options, false))
      try Self.check(natsOptions_SetReconnectBufSize(options, 1))
      try Self.check(natsOptions_SetTimeout(options, Self.timeout))
      try Self.check(natsOptions_SetPingInterval(options, Self.pingInterval))
      try Self.check(natsOptions_SetIgnoreDiscoveredServers(options, true))
      try Self.check(natsOptions_SetName(options, "strata"))
      if isTLS { try Self.check(natsOptions_SetSecure(options, true)) }
      switch credentials {
      case .file(let path)?: try Self.check(natsOptions_SetUserCredentialsFromFiles(options, path, nil))
      case .user(let name, let password)?: try Self.check(natsOptions_SetUserInfo(options, name, password))
      case .token(let token)?: try Self.check(natsOptions_SetToken(options, token))
      case nil: break
      }
      var made: OpaquePointer?
      let status = natsConnection_Connect(&made, options)
      guard status == NATS_OK, let made else {
        if status == NATS_CONNECTION_AUTH_FAILED || status == NATS_NOT_PERMITTED {
          throw .refused(
            CarrierError(
              .refused, what: "the NATS server \(server.text) refuses the user",
              next: "check NATS_CREDS, or NATS_USER and NATS_PASSWORD, or NATS_TOKEN"))
        }
        throw .down("the NATS server \(server.text) cannot be reached: \(Self.text(status))")
      }
      connection = made
      messageSizeMax = Int(clamping: natsConnection_GetMaxPayload(made))
    }

    deinit {
      hints.withLock { $0 = nil }
      natsConnection_Destroy(connection)
    }

    var isOpen: Bool { !natsConnection_IsClosed(connection) }

    // MARK: Sending

    func publish(_ message: BrokerMessage, answeredOn inbox: String? = nil) throws(LinkFailure) {
      let made = try Message(message, answeredOn: inbox)
      try Self.check(natsConnection_PublishMsg(connection, made.pointer))
    }

    func request(_ messages: [BrokerMessage], within duration: Duration) throws(LinkFailure) -> BrokerMessage
    {
      for message in messages.dropLast() { try publish(message) }
      let last = try Message(messages[messages.count - 1])
      var answer: OpaquePointer?
      try Self.check(
        natsConnection_RequestMsg(&answer, connection, last.pointer, Self.milliseconds(duration)))
      guard let answer else { throw .silent }
      return Message(answer).read()
    }

    func collect(
      _ request: BrokerMessage, within duration: Duration, _ body: (BrokerMessage) -> Bool
    ) throws(LinkFailure) {
      var inbox: UnsafeMutablePointer<CChar>?
      try Self.check(natsInbox_Create(&inbox))
      defer { natsInbox_Destroy(inbox) }
      let subject = inbox.map { String(cString: $0) } ?? ""
      let subscription = try Subscription(connection, subject, pendingBytesMax: Self.pendingBytesMax)
      try publish(request, answeredOn: subject)
      while body(try subscription.next(within: duration)) {}
    }

    /// Waits for a message on a subject, and takes all that are there.
    func waitForHint(_ subject: String, within duration: Duration) throws(LinkFailure) {
      try hints.withLock { kept throws(LinkFailure) in
        if kept == nil { kept = try Subscription(connection, subject, pendingBytesMax: 1 << 20) }
        guard let kept else { return }
        do throws(LinkFailure) {
          _ = try kept.next(within: duration)
          kept.drop()
        } catch {
          // Nothing is as good as a hint that was lost.
          guard error == .silent else { throw error }
        }
      }
    }

    // MARK: Statuses

    static func check(_ status: natsStatus) throws(LinkFailure) {
      switch status {
      case NATS_OK: return
      case NATS_TIMEOUT: throw .silent
      case NATS_NO_RESPONDERS: throw .noResponders
      default: throw .down("the connection failed: \(text(status))")
      }
    }

    private static func text(_ status: natsStatus) -> String {
      natsStatus_GetText(status).map { String(cString: $0) } ?? "status \(status.rawValue)"
    }

    static func milliseconds(_ duration: Duration) -> Int64 {
      let parts = duration.components
      return max(1, parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000)
    }
  }

  /// A subscription whose messages are taken one after another.
  private final class Subscription {
    private var pointer: OpaquePointer?

    init(_ connection: OpaquePointer, _ subject: String, pendingBytesMax: Int32) throws(LinkFailure) {
      try NATSConnection.check(natsConnection_SubscribeSync(&pointer, connection, subject))
      _ = natsSubscription_SetPendingLimits(pointer, -1, pendingBytesMax)
    }

    deinit { natsSubscription_Destroy(pointer) }

    func next(within duration: Duration) throws(LinkFailure) -> BrokerMessage {
      var found: OpaquePointer?
      try NATSConnection.check(
        natsSubscription_NextMsg(&found, pointer, NATSConnection.milliseconds(duration)))
      guard let found else { throw .silent }
      return Message(found).read()
    }

    /// Drops what has come already.
    func drop() {
      var count: UInt64 = 0
      guard natsSubscription_QueuedMsgs(pointer, &count) == NATS_OK else { return }
      for _ in 0..<min(count, 1 << 16) {
        var found: OpaquePointer?
        guard natsSubscription_NextMsg(&found, pointer, 1) == NATS_OK else { return }
        natsMsg_Destroy(found)
      }
    }
  }

  /// A message of the client, which is released with this.
  private struct Message: ~Copyable {
    let pointer: OpaquePointer

    /// Takes a message of the client over.
    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    init(_ message: BrokerMessage, answeredOn inbox: String? = nil) throws(LinkFailure) {
      pointer = try Self.made(of: message, answeredOn: inbox)
    }

    private static func made(
      of message: BrokerMessage, answeredOn inbox: String?
    ) throws(LinkFailure) -> OpaquePointer {
      var made: OpaquePointer?
      let status = message.bytes.withUnsafeBytes { bytes in
        natsMsg_Create(
          &made, message.subject, inbox, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
          Int32(clamping: bytes.count))
      }
      try NATSConnection.check(status)
      guard let made else { throw .down("the client has no memory") }
      for (name, value) in message.headers {
        let status = natsMsgHeader_Set(made, name, value)
        guard status == NATS_OK else {
          natsMsg_Destroy(made)
          try NATSConnection.check(status)
          break
        }
      }
      return made
    }

    deinit { natsMsg_Destroy(pointer) }

    /// What the message has, copied.
    func read() -> BrokerMessage {
      var message = BrokerMessage(
        subject: natsMsg_GetSubject(pointer).map { String(cString: $0) } ?? "")
      for name in Header.ofAnswers {
        var value: UnsafePointer<CChar>?
        if natsMsgHeader_Get(pointer, name, &value) == NATS_OK, let value {
          message.headers[name] = String(cString: value)
        }
      }
      let count = Int(natsMsg_GetDataLength(pointer))
      if count > 0, let data = natsMsg_GetData(pointer) {
        message.bytes = Array(UnsafeRawBufferPointer(start: data, count: count))
      }
      return message
    }
  }
#endif
