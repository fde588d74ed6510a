// A store that was overtaken follows again.

internal import StrataBase
public import StrataEvents
package import StrataLog

/// What a rejoin has found and done.
public struct RejoinReceipt: Sendable, Equatable {
  /// The end that the store had in common with its copies.
  public var common: LogPosition
  /// How many events only the store had: those after `common`.
  public var ownCount: UInt64
  /// The folder to which the store was moved with them; nil if it had none, and follows where it is.
  public var aside: String?
}

extension EventStore {
  /// Lets a store that was overtaken follow again, at the same path.
  ///
  /// What only this store has, after the last event that the copies have too, cannot be put after what another member
  /// has appended since: its folder is moved aside, whole and readable, and the path becomes a new copy. Export the events
  /// after `common` from there, and import those that still hold. Without such events the store follows as it is.
  ///
  /// Open it by `follow(from:at:options:lookingEvery:)` after that.
  ///
  /// - Throws: `invalid` if the store was not overtaken; `carrierUnavailable`; the errors of an open for writing.
  @discardableResult
  public static func rejoin(from carrier: any Carrier, at path: String) async throws -> RejoinReceipt {
    let thread = StoreOptions().machine.thread("strata-rejoin")
    let result = await thread.result { () throws(StoreError) in
      try rejoin(from: carrier, PosixFileSystem(), at: path)
    }
    return try result.get()
  }

  /// Rejoins on any file system. Blocks.
  ///
  /// - Parameter keep: called with what only the store has, if there is something, before it is moved: the store, open for
  ///   reading appends, and the folder that it will have.
  package static func rejoin(
    from carrier: any Carrier, _ fileSystem: any FileSystem, at path: String,
    keep: (EventStore, _ common: UInt64, _ aside: String) throws(StoreError) -> Void = {
      (_, _, _) throws(StoreError) in
    }
  ) throws(StoreError) -> RejoinReceipt {
    let log = try Log.openWriter(fileSystem, path: path, options: StoreOptions()) {
      part, _ throws(StoreError) in
      guard part?.role == .fenced || part?.role == .writer else { throw .notOvertaken(part) }
      return nil
    }
    defer { try? log.close() }
    guard var mark = log.replica else { throw .closed }
    let common = try rejoinPoint(of: log, in: carrier)
    let head = log.mark.sequence
    guard common.sequence < head else {
      (mark.role, mark.reason, mark.erasedThrough) = (.follower, "", 0)
      try log.setReplica(mark)
      return RejoinReceipt(common: common, ownCount: 0, aside: nil)
    }
    let aside = try asides(fileSystem, log.layout.root).free
    try keep(EventStore(log: log), common.sequence, aside)
    (mark.role, mark.reason) = (
      .fenced, "the store was moved aside: after sequence \(common.sequence) it has events of its own"
    )
    try log.setReplica(mark)
    try log.close()
    try fileSystem.renameNew(log.layout.root, to: aside)
    try fileSystem.syncDirectory(log.layout.parent)
    let (store, _) = try openFollower(of: carrier, fileSystem, at: path, options: StoreOptions())
    try store.closeBlocking()
    return RejoinReceipt(common: common, ownCount: head - common.sequence, aside: aside)
  }

  /// The last event that an overtaken store has in common with its copies. O(log objects).
  ///
  /// - Throws: `invalid` if the store was not overtaken.
  package static func rejoinPoint(of log: Log, in carrier: any Carrier) throws(StoreError) -> LogPosition {
    guard let mark = log.replica, mark.role == .fenced || mark.role == .writer else {
      throw .notOvertaken(log.replica)
    }
    let objects = CarrierLog(carrier, of: log.storeID)
    try checkOvertaken(objects, mark)
    return try commonEnd(of: log, objects)
  }

  /// Throws if this member is the last that put something there.
  private static func checkOvertaken(_ objects: CarrierLog, _ mark: ReplicaMark) throws(StoreError) {
    guard let last = try objects.lastObject() else { throw .nothingThere(objects.carrier.name) }
    guard last.header.writer != mark.member || mark.role == .fenced else {
      throw .invalid(what: "the store was not overtaken: it is the writer", next: "open it, and ship it")
    }
  }

  /// The last event that a log and the objects of its store have in common. O(log objects).
  private static func commonEnd(of log: Log, _ objects: CarrierLog) throws(StoreError) -> LogPosition {
    let first = try objects.firstNumber()
    var (low, high) = (first - 1, try objects.lastNumber())
    var common = try commonEnd(of: log, before: first, objects)
    while low < high {
      let middle = low + (high - low + 1) / 2
      guard let object = try objects.object(middle) else { throw objects.missing(middle) }
      let end = object.end
      if end.sequence <= log.mark.sequence, try log.chain(after: end.sequence) == end.chain {
        low = middle
        if end.sequence > common.sequence { common = LogPosition(sequence: end.sequence, chain: end.chain) }
      } else {
        high = middle - 1
      }
    }
    // The next object may begin with events of this store.
    let head = log.mark.visible
    guard let next = try objects.object(low + 1), next.header.kind == WireKind.events,
      next.header.firstSequence <= head.sequence, head.sequence <= next.header.lastSequence
    else { return common }
    let block = try next.block(in: objects.place(low + 1))
    do throws(ContentProblem) {
      guard try block.chain(after: head.sequence) == head.chain else { return common }
    } catch {
      throw error.storeError(
        in: objects.place(low + 1), at: 0, first: next.header.firstSequence, last: next.header.lastSequence)
    }
    return LogPosition(sequence: head.sequence, chain: head.chain)
  }

  /// The last end of a segment's block that a log has too, if there are segments in place of objects.
  private static func commonEnd(
    of log: Log, before first: UInt64, _ objects: CarrierLog
  ) throws(StoreError) -> LogPosition {
    var common = LogPosition(sequence: 0, chain: 0)
    guard first > 1, let manifest = try objects.manifest() else { return common }
    func isOwn(_ sequence: UInt64, _ chain: UInt64) throws(StoreError) -> Bool {
      guard sequence <= log.mark.sequence else { return false }
      return try log.chain(after: sequence) == chain
    }
    for entry in manifest.entries {
      guard try isOwn(entry.last, entry.chain) else {
        try objects.segments?.offer(entry).walk(of: log.storeID) { block throws(StoreError) in
          let ends: [UInt64: UInt64]
          do throws(ContentProblem) { ends = try block.chainsAfterAppends() } catch {
            throw error.storeError(of: block.header)
          }
          for (sequence, chain) in ends where sequence > common.sequence && sequence <= log.mark.sequence {
            if try isOwn(sequence, chain) { common = LogPosition(sequence: sequence, chain: chain) }
          }
        }
        return common
      }
      common = LogPosition(sequence: entry.last, chain: entry.chain)
    }
    return common
  }

  /// What is kept of a folder that was moved aside has its name with this after it.
  package static let linesSuffix = ".jsonl"

  /// The names beside a store that its folder gets when it is moved aside: the first that is free, and the last that has a
  /// folder.
  package static func asides(
    _ fileSystem: any FileSystem, _ root: String
  ) throws(StoreError) -> (free: String, last: String?) {
    var (number, last) = (1, String?.none)
    while true {
      let path = "\(root).before-rejoin-\(number)"
      // A rejoin that was interrupted has left its lines, and so has one whose folder was removed.
      let (folder, lines) = try (fileSystem.kind(of: path), fileSystem.kind(of: path + linesSuffix))
      if folder == nil, lines == nil { return (path, last) }
      if folder != nil { last = path }
      number += 1
    }
  }
}

extension StoreError {
  fileprivate static func notOvertaken(_ mark: ReplicaMark?) -> StoreError {
    .invalid(
      what:
        "the store was not overtaken: it is \(mark.map { "a \($0.role)" } ?? "no copy, and ships nowhere")",
      next: "follow the carrier into a new folder, or open the store")
  }
}
