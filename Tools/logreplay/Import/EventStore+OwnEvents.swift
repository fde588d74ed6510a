// The times of a store that those of an import are compared with.

internal import StrataEvents
internal import StrataLog

extension EventStore {
  /// The latest of the own times of all appends: the time that was given for an append, or else that of its commit.
  /// Nil if there is none. Blocks.
  ///
  /// Events of Strata's own, such as the note of an erasure, have the time of a command and are passed over. The commit
  /// of an append without a given time is not earlier than any append before it. So this reads the log backwards up to
  /// such an append, which is the last one unless times went back, or were passed over.
  ///
  /// - Parameter isPassedOver: whether a time does not count.
  func latestOwnTime(passingOver isPassedOver: (Int64) -> Bool) throws(CommandFailure) -> Int64? {
    do throws(StoreError) {
      var latest: Int64?
      var sequence = head.sequence
      while sequence >= log.mark.logBegin, let block = try log.block(holding: sequence) {
        let first = block.header.firstSequence
        let appends: [RecordedAppend]
        do throws(ContentProblem) { appends = try RecordedAppend.appends(in: block, after: first - 1) } catch
        {
          throw error.storeError(of: block.header, through: sequence)
        }
        for append in appends.reversed() where !append.events.allSatisfy({ $0.stream.text.hasPrefix("$") }) {
          let time = (append.givenTime ?? append.time).nanoseconds
          if isPassedOver(time) { continue }
          latest = max(time, latest ?? time)
          if append.givenTime == nil { return latest }
        }
        sequence = first - 1
      }
      return latest
    } catch {
      throw CommandFailure(error)
    }
  }
}
