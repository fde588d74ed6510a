// The orders in the log that no note says are done.

internal import StrataLog

/// An order that is not carried out whole.
struct OpenErasure {
  var sequence: UInt64
  var erasure: Erasure
  /// Events that lost their content so far, as notes say.
  var eventCount: UInt64 = 0
  /// What the last note says could not be rewritten; nil where there is none.
  var left: [ClosedRange<UInt64>]?

  /// Events of this order in all, with those of one more part. A note may say any number.
  func count(with events: UInt64) -> UInt64 {
    let (sum, isTooLarge) = eventCount.addingReportingOverflow(events)
    return isTooLarge ? .max : sum
  }
}

/// What is open, in the order of the log.
struct OpenErasures {
  var orders: [OpenErasure] = []
  /// Why not all of the stream could be read: there may be others.
  var failure: StoreError?

  /// The order that an erasure repeats: the same one, still open, and nothing that it names came later.
  func order(for erasure: Erasure, in log: Log) throws(StoreError) -> UInt64? {
    let wanted = ErasureTargets(erasure, before: .max)
    for order in orders.reversed() where order.erasure.reason == erasure.reason {
      let targets = ErasureTargets(order.erasure, before: order.sequence)
      guard targets.mean(sameAs: wanted) else { continue }
      return try targets.isWhole(in: log) ? order.sequence : nil
    }
    return nil
  }
}

extension EventStore {
  /// Reads the stream of erasures. What cannot be read of it hides nothing else.
  ///
  /// - Throws: what ends the writer.
  func openErasures() throws(StoreError) -> OpenErasures {
    var open: [UInt64: OpenErasure] = [:]
    var (events, failure) = try erasureEvents()
    for event in events {
      do throws(StoreError) {
        switch event.type {
        case ErasureEvent.order:
          open[event.sequence] = OpenErasure(sequence: event.sequence, erasure: try Erasure(event))
        case ErasureEvent.part:
          let part = try Erasure.decoded(ErasureEvent.Part.self, event)
          guard var order = open[part.order] else { continue }
          order.eventCount = order.count(with: part.events)
          order.left = part.ranges
          open[part.order] = order
        case ErasureEvent.done:
          open[try Erasure.decoded(ErasureEvent.Done.self, event).order] = nil
        default: break
        }
      } catch { failure = failure ?? error }
    }
    return OpenErasures(orders: open.values.sorted { $0.sequence < $1.sequence }, failure: failure)
  }

  private func erasureEvents() throws(StoreError) -> (events: [RecordedEvent], failure: StoreError?) {
    do throws(StoreError) {
      return (try eventsBlocking(in: ErasureEvent.stream, limit: .max), nil)
    } catch {
      guard error.canWait else { throw error }
      return (try erasureEventsOneByOne(), error)
    }
  }

  /// Those that can be read. O(events of the stream · segments).
  private func erasureEventsOneByOne() throws(StoreError) -> [RecordedEvent] {
    let name = Array(ErasureEvent.stream.text.utf8)
    var events: [RecordedEvent] = []
    do throws(StoreError) {
      let count = try log.index.revision(of: name)
      for revision in 0..<count {
        do throws(StoreError) {
          events += try eventsBlocking(in: ErasureEvent.stream, after: revision, limit: 1)
        } catch { guard error.canWait else { throw error } }
      }
    } catch { guard error.canWait else { throw error } }
    return events
  }
}
