// Carrying out orders to erase: each independently of the others, and each as far as possible.

internal import StrataBase
package import StrataLog

extension EventStore {
  /// Carries out the orders that a crash or a full disk left unfinished.
  ///
  /// Orders that cannot be finished now do not make the open fail; the HEAD file keeps saying that something is left.
  package func finishErasures() throws(StoreError) {
    guard try log.isErasing else { return }
    do throws(StoreError) {
      try withErasing { () throws(StoreError) in _ = try carryOut(try openErasures()) }
    } catch { guard error.canWait else { throw error } }
  }

  /// Whether an order is open, or one may be that cannot be read.
  package func hasOpenErasures() throws(StoreError) -> Bool {
    let open = try openErasures()
    return !open.orders.isEmpty || open.failure != nil
  }

  /// Runs the body while no other erasure of this store runs.
  func withErasing<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    let gate = attachment { ErasureTurn() }.gate
    gate.wait { isTaken in
      defer { isTaken = true }
      return !isTaken
    }
    defer {
      gate.withLock { $0 = false }
      gate.signalOne()
    }
    return try body()
  }

  /// Appends an order or a note to the stream of erasures, and returns its sequence.
  func appendToErasures(_ event: NewEvent) throws(StoreError) -> UInt64 {
    let draft = try draft([event], id: nil, time: nil, expecting: [:], isOwn: false)
    return try log.appendBlocking(draft).first
  }

  /// Carries out every open order, in the order of the log.
  ///
  /// Returns, by the order's sequence, how many events it erased, or the error that kept it from being finished. If all
  /// are finished, the HEAD file is updated to say so.
  ///
  /// - Throws: errors that stop the writer.
  func carryOut(_ open: OpenErasures) throws(StoreError) -> [UInt64: Result<UInt64, StoreError>] {
    var results: [UInt64: Result<UInt64, StoreError>] = [:]
    var isDone = open.failure == nil
    for order in open.orders {
      do throws(StoreError) { results[order.sequence] = .success(try carryOut(order)) } catch {
        guard error.canWait else { throw error }
        results[order.sequence] = .failure(error)
        isDone = false
      }
    }
    if isDone { try log.setErasing(false) }
    return results
  }

  /// Carries out one order: rewrites every segment that can be rewritten, removes the tails in quarantine and
  /// the states on disk, and appends a note.
  ///
  /// - Throws: the first error that kept a part of the order from being carried out.
  private func carryOut(_ order: OpenErasure) throws(StoreError) -> UInt64 {
    let (outcome, concerned) = try rewrite(for: order)
    let count = order.count(with: outcome.erased)
    guard let failure = outcome.left.first?.error ?? outcome.failure else {
      let done = ErasureEvent.Done(order: order.sequence, events: count)
      _ = try appendToErasures(try Erasure.event(ErasureEvent.done, done))
      return count
    }
    // A note is appended only if what is left has changed since the last one: the tries of each open must not make
    // the log grow.
    let left = outcome.left.map(\.sequences).sorted { $0.lowerBound < $1.lowerBound }
    if left != order.left ?? concerned.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      let part = ErasureEvent.Part(order: order.sequence, events: outcome.erased, left: left)
      let event = try Erasure.event(ErasureEvent.part, part)
      do throws(StoreError) { _ = try appendToErasures(event) } catch {
        guard error.canWait else { throw error }
      }
    }
    throw failure
  }

  /// Carries out the orders that the log has after a sequence, whatever its notes say, and appends none: they are those of
  /// the store that this one follows. Returns how many orders there are. Blocks.
  ///
  /// - Throws: the first error that kept a part of an order from being carried out.
  package func carryOutOrders(after sequence: UInt64) throws(StoreError) -> Int {
    let orders = try eventsBlocking(in: ErasureEvent.stream, limit: .max)
      .filter { $0.sequence > sequence && $0.type == ErasureEvent.order }
    for event in orders {
      let order = OpenErasure(sequence: event.sequence, erasure: try Erasure(event))
      let outcome = try rewrite(for: order).outcome
      if let failure = outcome.left.first?.error ?? outcome.failure { throw failure }
    }
    return orders.count
  }

  /// The orders after a sequence up to the first that is open, each with the sequences that it names, and whether one is
  /// open. Blocks.
  package func carriedOutOrders(
    after sequence: UInt64
  ) throws(StoreError) -> (orders: [(sequence: UInt64, targets: [ClosedRange<UInt64>])], hasOpen: Bool) {
    let open = try openErasures()
    if let failure = open.failure { throw failure }
    let firstOpen = open.orders.first?.sequence ?? .max
    var orders: [(sequence: UInt64, targets: [ClosedRange<UInt64>])] = []
    for event in try eventsBlocking(in: ErasureEvent.stream, limit: .max)
    where event.type == ErasureEvent.order && event.sequence > sequence && event.sequence < firstOpen {
      let targets = ErasureTargets(try Erasure(event), before: event.sequence)
      orders.append((event.sequence, try targets.ranges(in: log)))
    }
    return (orders, firstOpen != .max)
  }

  /// Rewrites every segment that an order concerns and that can be rewritten, and removes the tails in quarantine and the
  /// states on disk.
  ///
  /// - Returns: what came of it, and the sequences of the segments that the order concerns.
  private func rewrite(
    for order: OpenErasure
  ) throws(StoreError) -> (outcome: EraseOutcome, concerned: [ClosedRange<UInt64>]) {
    let targets = ErasureTargets(order.erasure, before: order.sequence)
    var outcome = EraseOutcome()
    var concerned: [ClosedRange<UInt64>] = []
    // Only closed segments are rewritten, and the order itself must be on disk first.
    let active = log.mark.segment.firstSequence
    if active <= order.sequence {
      do throws(StoreError) { try log.roll() } catch {
        guard error.isLocal else { throw error }
        let rest = active...order.sequence
        concerned.append(rest)
        outcome.left.append((rest, error))
      }
    }
    var segments = try targets.segments(of: log)
    // Segments that an earlier try has rewritten need no second rewrite.
    if let left = order.left {
      segments.removeAll { segment in
        !left.contains { $0.overlaps(log.sequences(ofClosed: segment)) }
      }
    }
    concerned += segments.map { log.sequences(ofClosed: $0) }
    try log.erase(in: segments, &outcome) { event, sequence in targets.contain(event, sequence) }
    for remove in [log.emptyQuarantine, log.removeStates] {
      do throws(StoreError) { try remove() } catch {
        guard error.isLocal else { throw error }
        outcome.failure = outcome.failure ?? error
      }
    }
    return (outcome, concerned)
  }
}

extension StoreError {
  /// Whether the store can continue although an order to erase could not be read or carried out.
  ///
  /// That holds if the error is about a part of the log, a call that the system refused, one of the store's folders, or
  /// the order or one of its notes. The order is tried again later.
  var canWait: Bool {
    switch self {
    case .invalid, .undecodable: true
    default: isLocal || reason == .linked
    }
  }
}

/// The gate that admits one erasure of a store at a time.
private final class ErasureTurn: Sendable {
  let gate = Gate(false)
}
