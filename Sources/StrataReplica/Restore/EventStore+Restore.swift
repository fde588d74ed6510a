// A store rebuilt from a carrier, as it was at a point.

internal import StrataBase
public import StrataEvents
public import StrataLog

/// What a restore has made.
public struct RestoreReceipt: Sendable, Equatable {
  /// The id of the new store.
  public var store: String
  /// The store that it comes from, and the end that both have in common.
  public var origin: String
  public var position: LogPosition
}

extension EventStore {
  /// Makes a new store of what a carrier holds up to a point.
  ///
  /// It is a fork: it has an id of its own, keeps that of the store that it comes from (`REPLICA`), and takes appends. To
  /// have a copy that goes on with the carrier, follow it. Erased events stay erased.
  ///
  /// - Parameters:
  ///   - point: a sequence that ends an append, a time, a position, the head or the beginning. Points by time go by the
  ///     appends' own times, as everywhere; that takes a pass over all objects first.
  ///   - path: a folder that is not there yet, or is empty. If the restore fails, what is there takes no appends, and is
  ///     to be removed.
  /// - Throws: `invalid` for a point inside an append, `position` for one that the carrier does not have;
  ///   `carrierUnavailable`; the errors of an open for writing; `damaged` with the place of an object that is not what was
  ///   put there.
  public static func restore(
    from carrier: any Carrier, at point: LogPoint = .head, to path: String,
    options: StoreOptions = StoreOptions()
  ) async throws -> RestoreReceipt {
    let thread = options.machine.thread("strata-restore")
    let result = await thread.result { () throws(StoreError) in
      try restore(from: carrier, at: point, PosixFileSystem(), to: path, options: options)
    }
    return try result.get()
  }

  /// Restores on any file system. Blocks.
  package static func restore(
    from carrier: any Carrier, at point: LogPoint = .head, _ fileSystem: any FileSystem, to path: String,
    options: StoreOptions = StoreOptions(), progress: (UInt64, UInt64) -> Void = { _, _ in }
  ) throws(StoreError) -> RestoreReceipt {
    let (origin, position) = try CarrierPoint(carrier).resolve(point)
    let fresh = StoreID.random()
    let log = try Log.openWriter(fileSystem, path: path, options: options, storeID: fresh) {
      part, isEmpty throws(StoreError) in
      guard part == nil, isEmpty else {
        throw .invalid(
          what: part?.isUnfinished == true
            ? "\(path) holds a restore that did not end" : "\(path) holds a store already",
          next: part?.isUnfinished == true
            ? "remove the folder, and restore again" : "choose a folder that is not there yet")
      }
      var mark = ReplicaMark(.fenced, of: fresh, member: .random(), carrier: carrier.name)
      mark.reason = "the restore into this folder did not end"
      mark.isUnfinished = true
      return mark
    }
    do throws(StoreError) {
      let follower = Follower(log, from: carrier, of: origin, through: position.sequence)
      while try follower.step() { progress(log.mark.sequence, position.sequence) }
      let end = log.mark.visible
      guard end.sequence == position.sequence else {
        throw .damaged(
          StoreFinding(
            .missing, file: carrier.name, offset: 0, first: end.sequence + 1, last: position.sequence,
            what: "the objects end at sequence \(end.sequence)"))
      }
      var mark = ReplicaMark(.fork, of: fresh, member: .random(), carrier: carrier.name)
      (mark.origin, mark.originSequence, mark.originChain) = (origin, end.sequence, end.chain)
      // What was ordered is carried out here as well. The next open notes it.
      let store = EventStore(log: log)
      if try store.carryOutOrders(after: 0) > 0, try store.hasOpenErasures() { try log.setErasing(true) }
      try log.syncBuffered()
      try log.setReplica(mark)
      try log.close()
      return RestoreReceipt(
        store: fresh.description, origin: origin.description,
        position: LogPosition(sequence: end.sequence, chain: end.chain))
    } catch {
      try? log.close()
      throw error
    }
  }
}

/// Finds the end of an append in a carrier.
package struct CarrierPoint {
  private let objects: CarrierLog
  private let storeID: StoreID

  package init(_ carrier: any Carrier) throws(StoreError) {
    guard let found = try CarrierLog(carrier, of: nil).foundStoreID() else {
      throw .nothingThere(carrier.name)
    }
    storeID = found
    objects = CarrierLog(carrier, of: storeID)
  }

  /// The end of the append that a point is after.
  package func resolve(
    _ point: LogPoint
  ) throws(StoreError) -> (storeID: StoreID, position: LogPosition) {
    (storeID, try position(of: point))
  }

  private func position(of point: LogPoint) throws(StoreError) -> LogPosition {
    let last = try objects.end()
    switch point {
    case .beginning: return try end(at: 0, last: last.sequence)
    case .head: return LogPosition(sequence: last.sequence, chain: last.chain)
    case .sequence(let sequence): return try end(at: sequence, last: last.sequence)
    case .position(let position):
      guard try end(at: position.sequence, last: last.sequence) == position else {
        throw .diverged(sequence: position.sequence)
      }
      return position
    case .time(let time):
      return try end(at: try end(notLaterThan: time.nanoseconds), last: last.sequence)
    }
  }

  private func end(at sequence: UInt64, last: UInt64) throws(StoreError) -> LogPosition {
    guard sequence > 0 else { return LogPosition(sequence: 0, chain: 0) }
    guard sequence <= last else { throw .position(.beyondEnd(sequence: sequence, last: last)) }
    let (block, place) = try block(holding: sequence)
    let chains: [UInt64: UInt64]
    do throws(ContentProblem) { chains = try block.chainsAfterAppends() } catch {
      throw error.storeError(
        in: place, at: 0, first: block.header.firstSequence, last: block.header.nextSequence - 1)
    }
    guard let chain = chains[sequence] else {
      let next = chains.keys.filter { $0 > sequence }.min() ?? block.header.nextSequence - 1
      throw .invalid(
        what: "sequence \(sequence) is inside an append, which ends at \(next)",
        next: "name \(next), or the last sequence of an append before it")
    }
    return LogPosition(sequence: sequence, chain: chain)
  }

  /// The block that holds a sequence, and what messages call the place of it.
  private func block(holding sequence: UInt64) throws(StoreError) -> (DecodedBlock, place: String) {
    if let segment = try objects.segment(holding: sequence) {
      var found: DecodedBlock?
      try segment.walk { block in
        if (block.header.firstSequence..<block.header.nextSequence).contains(sequence) { found = block }
      }
      guard let found else { throw segment.offer.lacks(sequence) }
      return (found, segment.place)
    }
    let number = try objects.number(holding: sequence, upTo: try objects.lastNumber())
    guard let object = try objects.object(number) else { throw objects.missing(number) }
    return (try object.block(in: objects.place(number)), objects.place(number))
  }

  /// The end of the last append whose own time is not later. O(events).
  private func end(notLaterThan time: Int64) throws(StoreError) -> UInt64 {
    var found: UInt64 = 0
    try objects.forEachBlock { block, place throws(StoreError) in
      if block.header.lastTime <= time {
        found = max(found, block.header.nextSequence - 1)
        return
      }
      do throws(ContentProblem) {
        try block.forEachAppend { append, first throws(ContentProblem) in
          if append.ownTime <= time { found = max(found, first + UInt64(append.eventCount) - 1) }
        }
      } catch {
        throw error.storeError(
          in: place, at: 0, first: block.header.firstSequence, last: block.header.nextSequence - 1)
      }
    }
    return found
  }
}
