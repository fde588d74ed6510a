// `replicate --dry-run`: what a command would do, from what both sides have now.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataReplica

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension ReplicateCommand {
  private func write(
    plan sentence: String, of store: StoreID, as part: String, _ carrier: any Carrier, to end: LogPosition,
    lag: UInt64? = nil
  ) throws {
    try write(
      ReplicaReport(
        store: store.description, part: part, place: carrier.name, position: end, lag: lag, isDryRun: true),
      sentence)
  }

  func planShipping() throws {
    let carrier = try CarrierName.carrier(try shippingPlace())
    let opened = try OpenedStore.open(from)
    defer { try? opened.store.closeBlocking() }
    let log = opened.log
    let lag = try failing(at: from) { () throws(StoreError) in
      if let refusal = log.replica?.refusal { throw refusal }
      try LookingFileSystem.check(carrier)
      try checkCopy(in: carrier, of: log)
      guard let last = try CarrierLog(carrier, of: log.storeID).lastObject() else { return log.mark.sequence }
      if let problem = try StorePart.problem(log, log.replica, last) {
        throw .replica(
          .fenced, place: carrier.name, what: problem,
          next:
            "ship to an empty place; a store that was overtaken can rejoin: logreplay replicate STORE --rejoin"
        )
      }
      return log.mark.sequence - last.end.sequence
    }
    try write(
      plan: "\(counted(lag, "event")) would be shipped to \(PeopleText.printable(carrier.name))",
      of: log.storeID, as: "writer", carrier, to: opened.store.head, lag: lag)
  }

  /// Throws if what a place has, or lacks, is not what this store goes on after.
  private func checkCopy(in carrier: any Carrier, of log: Log) throws(StoreError) {
    let mark = log.replica
    guard let found = try CarrierLog(carrier, of: nil).foundStoreID() else {
      let isEmptied = mark?.role == .writer && mark?.hasShipped == true && mark?.carrier == carrier.name
      guard !isEmptied || startOver else {
        throw .replica(
          .carrierUnfit, place: carrier.name, what: "nothing is there, and this store has shipped to it",
          next: "see whether it is the right place, and its disk is mounted; or ship with --start-over")
      }
      return
    }
    guard found == log.storeID else { throw .foreign(found, in: carrier.name) }
    guard mark?.role == .writer else {
      throw .invalid(
        what: "\(carrier.name) has a copy already, and this store is not the one that writes it",
        next: "ship to an empty place; to go on with the copy, follow it in a new folder, and take over there"
      )
    }
  }

  func planFollowing(to path: String) throws {
    let carrier = try CarrierName.carrier(from)
    let last = try failing(at: carrier.name) { () throws(StoreError) in
      guard let last = try CarrierLog(carrier, of: nil).lastObject() else {
        throw StoreError.nothingThere(carrier.name)
      }
      return last
    }
    let (end, storeID) = (last.end, last.header.storeID)
    var head: UInt64 = 0
    try failing(at: path) { () throws(StoreError) in try LookingFileSystem.checkCopy(at: path) }
    if FileManager.default.fileExists(atPath: path) {
      let opened = try OpenedStore.open(path)
      defer { try? opened.store.closeBlocking() }
      let mark = opened.log.replica
      guard let mark, mark.role == .follower else {
        if let refusal = mark?.refusal { throw CommandFailure(replica: refusal, path) }
        throw CommandFailure(
          ExitStatus.usage, "\(path) holds a store that does not follow", at: path,
          next: "choose a folder that is not there yet")
      }
      guard mark.storeID == storeID else {
        throw CommandFailure(
          ExitStatus.usage,
          "\(path) follows another store, \(mark.storeID), and \(carrier.name) holds \(storeID)",
          at: path, next: "choose another folder, or the carrier of that store")
      }
      head = opened.store.head.sequence
    }
    let lag = end.sequence - min(head, end.sequence)
    try write(
      plan: "\(PeopleText.printable(path)) would take \(counted(lag, "event")), up to \(end.sequence)",
      of: storeID, as: "follower", carrier, to: LogPosition(sequence: end.sequence, chain: end.chain),
      lag: lag)
  }

  func planRestore(_ carrier: any Carrier, _ point: LogPoint, to path: String) throws {
    let end: (storeID: StoreID, position: LogPosition)
    do throws(StoreError) { end = try CarrierPoint(carrier).resolve(point) } catch {
      throw CommandFailure(restoring: error, at: until ?? path)
    }
    try failing(at: path) { () throws(StoreError) in try LookingFileSystem.checkCopy(at: path) }
    if FileManager.default.fileExists(atPath: path),
      try FileManager.default.contentsOfDirectory(atPath: path).isEmpty == false
    {
      throw CommandFailure(
        ExitStatus.usage, "\(path) holds a store already", at: path,
        next: "choose a folder that is not there yet")
    }
    noteEmpty(end.position.sequence)
    try write(
      plan:
        "\(PeopleText.printable(path)) would be a new store with the events up to \(end.position.sequence)",
      of: end.storeID, as: "fork", carrier, to: end.position)
  }

  func planTakeover() throws {
    let opened = try OpenedStore.open(from)
    defer { try? opened.store.closeBlocking() }
    guard let mark = opened.log.replica, mark.role == .follower else {
      throw CommandFailure.notFollowing(from)
    }
    let carrier = try CarrierName.carrier(mark.carrier)
    let end = try failing(at: from) { () throws(StoreError) in
      try CarrierLog(carrier, of: opened.log.storeID).end()
    }
    let lag = end.sequence - min(opened.store.head.sequence, end.sequence)
    try write(
      plan: "the store would take \(counted(lag, "event")), and write after sequence \(end.sequence)",
      of: opened.log.storeID, as: "writer", carrier,
      to: LogPosition(sequence: end.sequence, chain: end.chain), lag: lag)
  }

  func planRejoin() throws {
    let opened = try OpenedStore.open(from)
    defer { try? opened.store.closeBlocking() }
    guard let mark = opened.log.replica else { throw CommandFailure.noCopies(from) }
    let carrier = try CarrierName.carrier(mark.carrier)
    let common = try failing(at: from) { () throws(StoreError) in
      try EventStore.rejoinPoint(of: opened.log, in: carrier)
    }
    let own = opened.store.head.sequence - common.sequence
    let sentence =
      own == 0
      ? "the store would follow again where it is"
      : "the folder would be moved aside with \(counted(own, "event")) that only it has, and a new copy made there"
    try write(plan: sentence, of: opened.log.storeID, as: "follower", carrier, to: common, lag: own)
  }
}
