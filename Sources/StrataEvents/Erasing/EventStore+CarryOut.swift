// Carrying out orders to erase: each by itself, and each as far as it can be.

internal import StrataBase
internal import StrataLog

extension EventStore {
  /// Carries out what a crash, or a disk that was full, left undone. What cannot be done now does not keep the store
  /// from being opened; HEAD goes on saying that something is left.
  func finishErasuresAtOpen() throws(StoreError) {
    guard try log.isErasing else { return }
    do throws(StoreError) {
      try withErasing { () throws(StoreError) in _ = try carryOut(try openErasures()) }
    } catch { guard error.canWait else { throw error } }
  }

  /// One erasure at a time.
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

  /// Appends an event of Strata's own, and returns its sequence.
  func appendToErasures(_ event: NewEvent) throws(StoreError) -> UInt64 {
    let draft = try draft([event], id: nil, time: nil, expecting: [:], isOwn: false)
    return try log.appendBlocking(draft).first
  }

  /// Carries out every open order, in the order of the log, and returns how many events each erased, or why it is not
  /// done. HEAD says that nothing is left where nothing is.
  ///
  /// - Throws: what ends the writer.
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

  /// Carries out one order: rewrites every segment that can be, empties the quarantine, and notes what was done.
  ///
  /// - Throws: the first error that kept a part from being done.
  private func carryOut(_ order: OpenErasure) throws(StoreError) -> UInt64 {
    let targets = ErasureTargets(order.erasure, before: order.sequence)
    var outcome = EraseOutcome()
    var concerned: [ClosedRange<UInt64>] = []
    // What is to be erased must be in a closed segment, and the order itself on disk.
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
    // What an earlier try did is done for good.
    if let left = order.left {
      segments.removeAll { segment in
        !left.contains { $0.overlaps(log.sequences(ofClosed: segment)) }
      }
    }
    concerned += segments.map { log.sequences(ofClosed: $0) }
    try log.erase(in: segments, &outcome) { event, sequence in targets.contain(event, sequence) }
    do throws(StoreError) { try log.emptyQuarantine() } catch {
      guard error.isLocal else { throw error }
      outcome.failure = outcome.failure ?? error
    }
    let count = order.count(with: outcome.erased)
    guard let failure = outcome.left.first?.error ?? outcome.failure else {
      let done = ErasureEvent.Done(order: order.sequence, events: count)
      _ = try appendToErasures(try Erasure.event(ErasureEvent.done, done))
      return count
    }
    // Said once, and again only when less is left: what is tried at each open must not make the log grow.
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
}

extension StoreError {
  /// Whether the store goes on though an order to erase could not be read or carried out: what is wrong is a part of the
  /// log, a refusal of the system, a folder of the store's, or the order or a note about it, which is tried again.
  var canWait: Bool {
    if case .invalid = self { return true }
    return isLocal || reason == .linked
  }
}

/// Held by whoever erases.
private final class ErasureTurn: Sendable {
  let gate = Gate(false)
}
