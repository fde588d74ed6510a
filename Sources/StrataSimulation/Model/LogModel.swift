// A model of the log, as an array and two dictionaries, with which tests compare the real log.

package import StrataLog

/// A model of a log of appends, which computes all answers in the simplest way.
package struct LogModel: Sendable {
  package private(set) var appends: [ModelAppend] = []
  /// The sequences of each stream's events, in order.
  package private(set) var streams: [String: [UInt64]] = [:]
  /// The index in `appends` of each append id.
  package private(set) var ids: [String: Int] = [:]

  package init() {}

  /// The last sequence.
  package var head: UInt64 { appends.last?.last ?? 0 }

  package func version(of stream: String) -> UInt64 { UInt64(streams[stream]?.count ?? 0) }

  /// Whether an append that expects this version of a stream would be accepted.
  package func meets(_ version: ExpectedVersion, of stream: String) -> Bool {
    switch version {
    case .any: true
    case .noStream: self.version(of: stream) == 0
    case .exactly(let count): self.version(of: stream) == count
    case .exists: self.version(of: stream) > 0
    }
  }

  /// Adds an append at the end. `time` is the commit time that the log gave it, and `given` what the clock said if that is
  /// another time.
  package mutating func add(_ append: ModelAppend, time: Int64?, given: Int64? = nil) {
    var append = append
    if let given { append.given = given }
    append.first = head + 1
    append.time = time
    if let given = append.given, let time, given == time { append.given = nil }
    for (index, event) in append.events.enumerated() {
      streams[event.stream, default: []].append(append.first + UInt64(index))
    }
    if let id = append.id { ids[id] = appends.count }
    appends.append(append)
  }

  /// Returns the append that holds a sequence.
  package func append(holding sequence: UInt64) -> ModelAppend? {
    var low = 0
    var high = appends.count
    while low < high {
      let middle = (low + high) / 2
      if appends[middle].last < sequence { low = middle + 1 } else { high = middle }
    }
    guard low < appends.count, appends[low].first <= sequence else { return nil }
    return appends[low]
  }

  /// Returns the last append whose own time is not later than `time`.
  package func lastAppend(notAfter time: Int64) -> ModelAppend? {
    appends.last { ($0.ownTime ?? .max) <= time }
  }

  /// Returns the event with a sequence.
  package func event(_ sequence: UInt64) -> ModelEvent? {
    guard let append = append(holding: sequence) else { return nil }
    return append.events[Int(sequence - append.first)]
  }
}

extension LogModel {
  /// Compares a log with this model. Returns a sentence about the first difference; nil if the log holds a prefix of at
  /// least `countMin` appends of the model: whole appends, in order, with dense sequences and revisions.
  package func difference(from log: Log, countMin: Int) -> String? {
    do throws(StoreError) {
      return difference(from: log, holding: try log.modelAppends(), countMin: countMin)
    } catch { return "reading failed: \(error)" }
  }

  /// Compares a log whose appends were read already with this model, as `difference(from:countMin:)` does.
  package func difference(
    from log: Log, holding found: [(append: ModelAppend, revisions: [UInt64])], countMin: Int
  ) -> String? {
    if found.count < countMin {
      return "\(found.count) appends are there, and \(countMin) were acknowledged"
    }
    if found.count > appends.count {
      return "\(found.count) appends are there, and \(appends.count) were made"
    }
    var revisions: [String: UInt64] = [:]
    var lastTime = Int64.min
    for (index, entry) in found.enumerated() {
      let expected = appends[index]
      guard entry.append.first == expected.first else {
        return "append \(index) begins at \(entry.append.first), not at \(expected.first)"
      }
      guard entry.append.hasSameContent(as: expected) else {
        return "append \(index) is not the one that was made"
      }
      if let time = expected.time, entry.append.time != time {
        return "append \(index) has the time \(String(describing: entry.append.time)), not \(time)"
      }
      guard let time = entry.append.time, time >= lastTime else {
        return "the time of append \(index) runs backwards"
      }
      lastTime = time
      for (event, revision) in zip(expected.events, entry.revisions) {
        revisions[event.stream, default: 0] += 1
        guard revisions[event.stream] == revision else {
          return
            "append \(index) has revision \(revision) in \(event.stream), not \(revisions[event.stream]!)"
        }
      }
    }
    let head = found.last?.append.last ?? 0
    guard log.mark.sequence == head else {
      return "the mark is at \(log.mark.sequence), and the last event at \(head)"
    }
    guard log.mark.appends == UInt64(found.count) else {
      return "the mark counts \(log.mark.appends) appends, and \(found.count) are there"
    }
    return nil
  }

  /// Records that the content of some events may be erased from now on.
  package mutating func perhapsErase(where isMeant: (ModelEvent) -> Bool) {
    for append in appends.indices {
      for event in appends[append].events.indices where isMeant(appends[append].events[event]) {
        appends[append].events[event].state = .perhapsErased
      }
    }
  }

  /// Removes the appends after the first `count`, which a power cut lost and which had not been acknowledged.
  package mutating func keepFirst(_ count: Int) {
    if count >= appends.count { return }
    let kept = appends.prefix(count)
    self = LogModel()
    for append in kept { add(append, time: append.time) }
  }

  /// Takes over the times that the log gave to appends that were never acknowledged.
  package mutating func adoptTimes(from log: Log) throws(StoreError) {
    adoptTimes(from: try log.modelAppends())
  }

  /// Takes over the times from a log whose appends were read already.
  package mutating func adoptTimes(from found: [(append: ModelAppend, revisions: [UInt64])]) {
    for (index, entry) in found.enumerated() where index < appends.count {
      appends[index].time = entry.append.time
    }
  }
}
