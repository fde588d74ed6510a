// Whether the servers keep what copies rest on.

internal import StrataDocuments
public import StrataReplica

extension JetStreamCarrier {
  /// Looks at the version of every server that answers, makes the streams of the copy if they are not there, compares how
  /// they are set up, and tries the fence.
  public func prove() throws(CarrierError) {
    let versions = try asking(names.log) {
      () throws(LinkFailure) -> [(server: String, version: ServerVersion)] in
      try link.versions()
    }
    for (server, version) in versions where version < .oldest { throw .tooOld(server, version.description) }
    _ = try asking(names.log) { () throws(LinkFailure) -> Int in try partSizeMax() }
    // What is there is looked at before anything is made.
    for setup in setups { if let found = try info(setup.name) { try setup.check(found) } }
    for setup in setups { try make(setup) }
    try proveFence()
    try sweepParts()
  }

  private var setups: [StreamSetup] {
    [.side(names, replicas: address.replicas), .log(names, replicas: address.replicas)]
  }

  /// Makes a stream, or takes it as it is.
  private func make(_ setup: StreamSetup) throws(CarrierError) {
    if setup.name == names.log, try logState() != nil { return }
    if let found = try info(setup.name) { return try setup.check(found) }
    try create(setup)
  }

  private static let looksAtLeader = 50

  private func create(_ setup: StreamSetup) throws(CarrierError) {
    let answer = try api("STREAM.CREATE", setup.name, setup.json)
    if let error = answer.error {
      switch error.code {
      case APICode.replicasWithoutCluster:
        throw CarrierError(
          .unfit, what: "the server is alone, and a copy has \(address.replicas) replicas: \(error.sentence)",
          next:
            "ship to a cluster of three, or say ?replicas=1 in the URL: then the copy is as safe as that server"
        )
      case APICode.noPeers:
        throw CarrierError(
          .unreachable,
          what: "the cluster has not \(address.replicas) servers with room now: \(error.sentence)",
          next: "start the servers that are down; a stream is only made with all of its replicas")
      default:
        throw CarrierError(refusedBy: error, setup.name)
          ?? CarrierError(
            .unfit, what: "the stream \(setup.name) cannot be made: \(error.sentence)",
            next: "choose another name, or let this user make streams")
      }
    }
    try setup.check(answer.value)
    // A stream without a leader takes nothing yet.
    for _ in 0..<Self.looksAtLeader {
      if let found = try info(setup.name) { return try setup.check(found) }
      time.sleep(.milliseconds(50))
    }
    throw .silence(setup.name, "it has no leader yet")
  }

  private static let fencesMax = 20

  /// Tries the fence of messages and of batches on a subject of its own in the side stream, which is set up as the log is. A
  /// stream of its own could not be made while a server is down, which is when a member has to take over.
  private func proveFence() throws(CarrierError) {
    let subject = names.probe(token())
    defer { _ = try? purgeSide(subject) }
    let message = BrokerMessage(subject: subject, bytes: Array("probe".utf8))
    try storeBeside(message)
    // The stream has a message, so that nothing can follow its beginning.
    for count in 1...2 {
      let messages = [BrokerMessage](repeating: message, count: count)
      switch store(messages, into: names.side, after: 0, since: time.now()) {
      case .taken?: break
      case .unknown(let error)?, .refused(let error)?: throw error
      case nil:
        throw CarrierError(
          .unfit, what: "a put was stored in \(names.side) though its condition was not met",
          next: "do not ship to these servers: two writers would both win")
      }
    }
    // Other members store there too, so that a condition that was true may be so no longer.
    for _ in 0..<Self.fencesMax {
      guard let last = try info(names.side).flatMap({ StreamState($0) })?.last else { break }
      switch store([message, message], into: names.side, after: last, since: time.now()) {
      case nil: return
      case .taken?: time.sleep(.milliseconds(20))
      case .unknown(let error)?, .refused(let error)?: throw error
      }
    }
    throw CarrierError(
      .unfit, what: "puts that met their condition were refused by the stream \(names.side)",
      next: "find out what else writes to it")
  }
}
