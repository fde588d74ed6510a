// The orders to erase that the log does not note as done.

internal import StrataLog

/// An order that is not yet completely carried out.
struct OpenErasure {
  var sequence: UInt64
  var erasure: Erasure
  /// The number of events erased so far, according to the notes.
  var eventCount: UInt64 = 0
  /// The sequences that could not be rewritten, according to the last note; nil if there is none, or none that can be
  /// read.
  var left: [ClosedRange<UInt64>]?

  /// Returns the number of events erased so far plus those of one more part. Saturates, since a note may hold any
  /// number.
  func count(with events: UInt64) -> UInt64 {
    let (sum, isTooLarge) = eventCount.addingReportingOverflow(events)
    return isTooLarge ? .max : sum
  }
}

/// The open orders, in the order of the log.
struct OpenErasures {
  var orders: [OpenErasure] = []
  /// The error that kept a part of the stream from being read: there may be more open orders.
  var failure: StoreError?

  /// Returns the sequence of the open order that an erasure repeats. That is an order with the same targets and reason,
  /// if no event that it names was appended after it.
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
  /// Reads the open orders from the stream of erasures. An event that cannot be read does not hide the others.
  ///
  /// - Throws: errors that stop the writer.
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

  /// Returns the events that can be read. O(events of the stream · segments).
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
