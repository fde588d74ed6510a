// The connection to the servers, by the C client of NATS.

#if JetStream
  internal import CNats
  internal import StrataBase
  internal import StrataReplica

  /// Connects when something is asked, and again, with the next server, after any failure.
  ///
  /// The client's own reconnecting is off: its buffer would send later what was reported as failed. All calls of the client are
  /// those that block; none of them calls back.
  ///
  /// `state` guards which connection is used; the connections themselves may be used by several threads. The last user of a
  /// connection closes it.
  final class NATSLink: BrokerLink {
    private struct State {
      var connection: NATSConnection?
      /// The server that is tried first.
      var next = 0
    }

    private let address: JetStreamAddress
    private let credentials: JetStreamCredentials?
    private let state = Lock(State())
    /// Held while a connection is made, so that it is made once.
    private let making = Lock(())

    init(_ address: JetStreamAddress, as credentials: JetStreamCredentials?) {
      self.address = address
      self.credentials = credentials
    }

    // MARK: Connecting

    private func connection() throws(LinkFailure) -> NATSConnection {
      try making.withLock { _ throws(LinkFailure) in
        let (kept, first) = state.withLock { ($0.connection, $0.next) }
        if let kept, kept.isOpen { return kept }
        var last = LinkFailure.down("no server answers")
        for index in 0..<address.servers.count {
          let place = (first + index) % address.servers.count
          let server = address.servers[place]
          do throws(LinkFailure) {
            if let greeting = ServerSocket.greeting(of: server) { try check(greeting, server) }
            let made = try NATSConnection(server, isTLS: address.isTLS, as: credentials)
            state.withLock { state in
              state.connection = made
              state.next = place
            }
            return made
          } catch {
            // One that is too old must not be passed over: it may have a replica.
            if case .refused = error { throw error }
            last = error
          }
        }
        throw last
      }
    }

    private func check(_ greeting: ServerGreeting, _ server: JetStreamAddress.Server) throws(LinkFailure) {
      if let version = ServerVersion(greeting.version), version >= .oldest { return }
      throw .refused(.tooOld(server.text, greeting.version))
    }

    /// Uses a connection. After a failure the next one is to another server.
    private func using<Result>(
      _ body: (NATSConnection) throws(LinkFailure) -> Result
    ) throws(LinkFailure) -> Result {
      let connection = try connection()
      do throws(LinkFailure) { return try body(connection) } catch {
        if error != .noResponders || !connection.isOpen {
          state.withLock { state in
            guard state.connection === connection else { return }
            state.connection = nil
            state.next = (state.next + 1) % address.servers.count
          }
        }
        throw error
      }
    }

    // MARK: Asking

    func messageSizeMax() throws(LinkFailure) -> Int {
      try using { connection throws(LinkFailure) in connection.messageSizeMax }
    }

    func versions() throws(LinkFailure) -> [(server: String, version: ServerVersion)] {
      _ = try connection()
      var found: [(server: String, version: ServerVersion)] = []
      for server in address.servers {
        guard let greeting = ServerSocket.greeting(of: server) else { continue }
        guard let version = ServerVersion(greeting.version) else {
          throw .refused(.tooOld(server.text, greeting.version))
        }
        found.append((server.text, version))
      }
      return found
    }

    func request(_ messages: [BrokerMessage], within duration: Duration) throws(LinkFailure) -> BrokerMessage
    {
      try using { connection throws(LinkFailure) in try connection.request(messages, within: duration) }
    }

    func collect(
      _ request: BrokerMessage, within duration: Duration, _ body: (BrokerMessage) -> Bool
    ) throws(LinkFailure) {
      try using { connection throws(LinkFailure) in
        try connection.collect(request, within: duration, body)
      }
    }

    func hint(_ subject: String) {
      do throws(LinkFailure) {
        try using { connection throws(LinkFailure) in try connection.publish(BrokerMessage(subject: subject))
        }
      } catch {}
    }

    func waitForHint(_ subject: String, within duration: Duration) {
      do throws(LinkFailure) {
        try using { connection throws(LinkFailure) in
          try connection.waitForHint(subject, within: duration)
        }
      } catch {
        let pause = Gate(())
        _ = pause.wait(timeout: duration) { _ in false }
      }
    }
  }
#endif
