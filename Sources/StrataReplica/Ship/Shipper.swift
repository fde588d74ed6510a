// Puts what a log has durably into a carrier, object after object, as its only writer.

internal import StrataBase
package import StrataLog

/// Ships one log. Every call is a step that blocks for as long as the carrier takes; one thread at a time makes them.
///
/// An object is *own* if this member put it there and it has, after its last event, the chain that the log has there.
/// Bytes and borders of objects are not compared: after a restart, or once segments are sealed, the same appends are
/// grouped in another way.
///
///     all stored       go on
///     taken, unknown   look at the number: own: go on after it · another's: this member was overtaken ·
///                      nothing: put the same bytes again, later
///     refused          put the same bytes again, much later, and say so meanwhile
package final class Shipper: @unchecked Sendable {
  // Sendable, so that a thread of its own can make the steps.

  /// What a step found.
  package enum Step: Equatable {
    /// Everything that is durable is in the carrier.
    case idle
    /// Something more is in the carrier.
    case shipped
    /// The carrier did not answer, or refuses. Make the next step later.
    case trouble(CarrierError)
  }

  /// How much goes into one object, and how many objects into one call.
  package struct Limits: Sendable {
    package var objectSize = 1 << 20
    package var window = 4
    package init() {}
  }

  private let log: Log
  private let objects: CarrierLog
  private let member: StoreID
  private let limits: Limits
  /// What is known to be in the carrier; nil until it was looked for.
  package private(set) var end: WireEnd?
  /// Whether the last put was as large as one may be, so that there is more to ship at once.
  package private(set) var hasBacklog = false
  private var nextNumber: UInt64 = 1
  private var slices: LogSlices?
  private var erasing: CarrierErasing
  /// How many orders to erase, and notes of them, the log had when the carrier last held nothing that they erase.
  package var erasedCount: UInt64 { erasing.seen }
  /// The last order that was carried out in the log and in the carrier; 0 if there is none.
  var erasedThrough: UInt64 { erasing.through }
  /// Objects that were put and whose fate is not known, or that were not put yet; the first has `nextNumber`.
  private var pending: [WireObject] = []
  /// How often something was put since erased content was last looked for, and how often at most.
  private var putsSinceErasing = 0
  private static let putsMax = 32
  /// Whether the first of them may be in the carrier.
  private var isDoubtful = false

  /// - Parameter member: the writer as the carrier knows it.
  package init(_ log: Log, to carrier: any Carrier, as member: StoreID, _ limits: Limits = Limits()) {
    self.log = log
    self.member = member
    self.limits = limits
    objects = CarrierLog(carrier, of: log.storeID)
    erasing = CarrierErasing(log, objects)
  }

  /// Makes one step.
  ///
  /// - Throws: an error after which nothing more is shipped: `fenced` if another member has taken over, which the store
  ///   refuses appends with from then on; what is wrong with an object, or with the log.
  package func step() throws(StoreError) -> Step {
    do throws(Trouble) {
      guard let end else {
        try find()
        return .shipped
      }
      if isDoubtful, try settle() { return .shipped }
      try fill(after: end)
      putsSinceErasing += 1
      // Also where appends never end.
      if pending.isEmpty || putsSinceErasing >= Self.putsMax {
        putsSinceErasing = 0
        let next = nextNumber
        try self.carrier { () throws(StoreError) in
          try erasing.run(through: end.sequence, upTo: next - 1) { () throws(StoreError) in
            try objects.object(next) == nil
          }
        }
      }
      return try pending.isEmpty ? .idle : put()
    } catch {
      switch error {
      case .carrier(let error): return .trouble(error)
      case .store(let error): throw error
      }
    }
  }

  /// Looks whether another member has taken over while there was nothing to ship.
  ///
  /// - Throws: `fenced` if so, which the store refuses appends with from then on.
  package func look() throws(StoreError) {
    do throws(Trouble) {
      guard pending.isEmpty, let end else { return }
      let number = nextNumber
      let found = try carrier { () throws(StoreError) in try objects.object(number, after: end.sequence) }
      if let found { try accept(found) } else { try checkKept(from: number) }
    } catch {
      // What a carrier does not answer is asked again.
      guard case .store(let error) = error else { return }
      throw error
    }
  }

  private enum Trouble: Error {
    case carrier(CarrierError)
    case store(StoreError)
  }

  private func store<Result>(_ body: () throws(StoreError) -> Result) throws(Trouble) -> Result {
    do throws(StoreError) { return try body() } catch { throw .store(error) }
  }

  // MARK: The end of the carrier

  /// Looks for the end of what is there.
  private func find() throws(Trouble) {
    guard let last = try last() else {
      guard log.mark.logBegin == 1 else {
        throw .store(
          .invalid(
            what: "the log begins at sequence \(log.mark.logBegin), and \(objects.carrier.name) has nothing",
            next: "ship it to a carrier that has what came before"))
      }
      return accept(.beginning, number: 0)
    }
    try confirm(last)
    try accept(last)
  }

  /// Makes an own object durable.
  private func confirm(_ object: WireObject) throws(Trouble) {
    guard object.header.writer == member else { return }
    do throws(CarrierError) { try objects.carrier.confirm(object.carried) } catch { throw .carrier(error) }
  }

  /// The last object; nil if there is none.
  private func last() throws(Trouble) -> WireObject? {
    try carrier { () throws(StoreError) in try objects.lastObject() }
  }

  /// Runs a read of the carrier. Only what it says about the carrier's answer can pass.
  private func carrier<Result>(_ body: () throws(StoreError) -> Result) throws(Trouble) -> Result {
    do throws(StoreError) { return try body() } catch {
      guard error.reason == .carrierUnavailable else { throw .store(error) }
      throw .carrier(CarrierError(.unreachable, what: error.what, next: error.next))
    }
  }

  /// Goes on after an object of the carrier if it is own, otherwise this member was overtaken.
  private func accept(_ object: WireObject) throws(Trouble) {
    let end = object.end
    // A damaged object is neither this member's nor another's.
    if object.header.kind == WireKind.events {
      _ = try store { () throws(StoreError) in try object.block(in: objects.place(object.header.number)) }
    }
    if let before = self.end, object.header.firstSequence == before.sequence + 1 {
      guard object.header.chainBefore == before.chain else {
        throw .store(
          .damaged(
            StoreFinding(
              .stale, file: objects.place(object.header.number), offset: 0, first: before.sequence + 1,
              last: end.sequence, what: "the object does not continue the chain of the one before it")))
      }
    }
    guard object.header.writer == member else {
      throw .store(
        overtaken("the member \(object.header.writer) writes the store since object \(object.header.number)"))
    }
    if let before = self.end, object.header.firstSequence > before.sequence + 1 {
      throw .store(
        .damaged(
          StoreFinding(
            .stale, file: objects.place(object.header.number), offset: 0, first: before.sequence + 1,
            last: object.header.firstSequence - 1,
            what:
              "the object begins at sequence \(object.header.firstSequence), and the one before it ends at "
              + "\(before.sequence)")))
    }
    guard end.sequence <= log.mark.durable.sequence else {
      throw .store(
        overtaken(
          "the copy has events up to \(end.sequence), and this store ends at \(log.mark.durable.sequence): it was put "
            + "back to an earlier state"))
    }
    guard try store({ () throws(StoreError) in try log.chain(after: end.sequence) }) == end.chain else {
      throw .store(overtaken("the copy has other events than this store up to \(end.sequence)"))
    }
    accept(end, number: object.header.number)
  }

  private func accept(_ end: WireEnd, number: UInt64) {
    self.end = end
    if number > 0 { noteShipped() }
    nextNumber = number + 1
    slices = LogSlices(log, after: end)
    pending = []
    isDoubtful = false
  }

  /// Has the store remember that something of it is in the carrier. A crash before that is on disk costs the memory of it,
  /// and the next object brings it back.
  private func noteShipped() {
    guard var mark = log.replica, mark.role == .writer, !mark.hasShipped else { return }
    mark.hasShipped = true
    try? log.setReplica(mark)
  }

  /// Has the store refuse appends from now on. Returns the error to throw.
  private func overtaken(_ why: String) -> StoreError {
    var mark =
      log.replica ?? ReplicaMark(.fenced, of: log.storeID, member: member, carrier: objects.carrier.name)
    mark.role = .fenced
    mark.reason = why
    // Without it, the next open asks the carrier again before it ships.
    try? log.setReplica(mark)
    return mark.refusal!
  }

  // MARK: Putting

  private func fill(after end: WireEnd) throws(Trouble) {
    while pending.count < limits.window {
      let number = nextNumber + UInt64(pending.count)
      let next = try store { () throws(StoreError) in
        try slices!.next(
          number: number, by: member,
          sizeTarget: min(limits.objectSize, objects.carrier.objectSizeTarget))
      }
      guard let next else { return }
      pending.append(next)
    }
  }

  private func put() throws(Trouble) -> Step {
    hasBacklog = pending.count == limits.window
    let answer = objects.carrier.put(pending.map(\.carried))
    try checkKept(from: nextNumber)
    switch answer {
    case .stored:
      pass(pending.count)
      return .shipped
    case .stopped(let count, let stop):
      pass(count)
      isDoubtful = true
      switch stop {
      case .taken: return try settle() ? .shipped : .trouble(.inProgress(objects.place(nextNumber)))
      case .unknown(let error), .refused(let error): return .trouble(error)
      }
    }
  }

  /// A number is free again once its object was removed, and a writer that slept for so long wins it: what it has put is not
  /// in the log of the others. Objects are removed only after a manifest says so.
  private func checkKept(from number: UInt64) throws(Trouble) {
    do throws(Trouble) {
      let first = try carrier { () throws(StoreError) in try objects.firstNumber() }
      guard first > number else { return }
    } catch {
      // What was put may be there, and may count.
      isDoubtful = !pending.isEmpty
      throw error
    }
    throw .store(
      overtaken("other members have gone on, and the objects from \(number) on were removed since"))
  }

  /// Counts the first of the pending objects as stored.
  private func pass(_ count: Int) {
    guard count > 0 else { return }
    end = pending[count - 1].end
    noteShipped()
    nextNumber += UInt64(count)
    pending.removeFirst(count)
    isDoubtful = false
  }

  /// Looks at the number of the first pending object. Returns whether something is there, which is then own.
  private func settle() throws(Trouble) -> Bool {
    let number = nextNumber
    guard
      let found = try carrier({ () throws(StoreError) in try objects.object(number, after: end!.sequence) })
    else {
      isDoubtful = true
      try checkKept(from: number)
      return false
    }
    try confirm(found)
    if found.bytes == pending[0].bytes {
      pass(1)
    } else {
      try accept(found)
    }
    return true
  }
}

extension CarrierError {
  /// Something has a number, and cannot be read under it yet.
  fileprivate static func inProgress(_ place: String) -> CarrierError {
    CarrierError(
      .unreachable, what: "\(place) is taken, and nothing can be read there yet",
      next: "nothing: it is tried again")
  }
}
