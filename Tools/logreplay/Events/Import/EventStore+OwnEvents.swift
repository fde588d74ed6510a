// The times of a store that those of an import are compared with.

internal import LogreplayShell
internal import StrataEvents
internal import StrataLog

extension EventStore {
  /// The latest of the own times of all appends: the time that was given for an append, or else that of its commit.
  /// Nil if there is none. Blocks.
  ///
  /// Events of Strata's own, such as the note of an erasure, have the time of a command and are passed over. The commit
  /// of an append without a given time is not earlier than any append before it. So this looks backwards up to such an
  /// append, which is the last one unless times went back, or were passed over. Of what is before it, only the spans
  /// are read that may have a later time than was found.
  ///
  /// - Parameter isPassedOver: whether a time does not count. If one does not, no later one does.
  func latestOwnTime(passingOver isPassedOver: (Int64) -> Bool) throws(CommandFailure) -> Int64? {
    do throws(StoreError) {
      var latest: Int64?
      /// The appends of the block that was read last, which may hold several spans.
      var appends: [RecordedAppend] = []
      try log.forEachTimeSpan { span throws(StoreError) in
        if isPassedOver(span.least) || latest.map({ span.greatest <= $0 }) ?? false { return false }
        var end = min(span.last, log.mark.sequence)
        while end >= span.first {
          if appends.isEmpty || appends[0].sequences.lowerBound > end {
            appends = try self.appends(ofBlockHolding: end)
          }
          for append in appends.reversed()
          where span.first...end ~= append.sequences.lowerBound && !append.isOwn {
            let time = append.ownTime.nanoseconds
            if isPassedOver(time) { continue }
            latest = max(time, latest ?? time)
            if append.givenTime == nil { return true }
          }
          guard let first = appends.first?.sequences.lowerBound, first <= end else { return false }
          end = first - 1
        }
        return false
      }
      return latest
    } catch {
      throw CommandFailure(error)
    }
  }

  /// All appends of the block that holds a sequence.
  private func appends(ofBlockHolding sequence: UInt64) throws(StoreError) -> [RecordedAppend] {
    guard let block = try log.block(holding: sequence) else { return [] }
    do throws(ContentProblem) {
      return try RecordedAppend.appends(in: block, after: block.header.firstSequence - 1)
    } catch {
      throw error.storeError(of: block.header, through: sequence)
    }
  }
}

extension RecordedAppend {
  /// Whether all of its events are Strata's own.
  fileprivate var isOwn: Bool { events.allSatisfy { $0.stream.text.hasPrefix("$") } }
}
