// The result of a comparison, for people and for programs.

internal import LogreplayShell
internal import StrataEvents
internal import StrataLog

/// What `compare` prints.
struct CompareReport {
  private let first: CompareSide
  private let second: CompareSide
  private let difference: StoreDifference?

  init(_ first: CompareSide, _ second: CompareSide, _ difference: StoreDifference?) {
    (self.first, self.second, self.difference) = (first, second, difference)
  }

  /// `{"schema":1,"equal":false,"events":4,"appends":3,"leftOut":[0,0],"what":"payload","first":{…},"second":{…}}`:
  /// the counts are those of the events before the difference, and the two events are as `log` prints them, null for a
  /// store that has ended.
  func json() throws(CommandFailure) -> [UInt8] {
    var line = JSONLine.document()
    line.field("equal", difference == nil)
    line.field("events", first.eventCount)
    line.field("appends", first.appendCount)
    line.array("leftOut", [first, second].map { Array(String($0.leftOutCount).utf8) })
    if let difference {
      line.field("what", difference.what)
      if let event = try event(difference.first, of: first) {
        line.raw("first", event.json)
      } else {
        line.null("first")
      }
      if let event = try event(difference.second, of: second) {
        line.raw("second", event.json)
      } else {
        line.null("second")
      }
    }
    return line.finish()
  }

  func text(people: PeopleText) throws(CommandFailure) -> String {
    let count = "\(counted(first.eventCount, "event")) in \(counted(first.appendCount, "append"))"
    var text: String
    if let difference {
      text = "the first \(count) are the same; then \(sentence(difference))\n"
      for (name, sequence, side) in [
        (first.opened.path, difference.first, first), (second.opened.path, difference.second, second),
      ] {
        text += "\n\(PeopleText.printable(name)):\n"
        guard let event = try event(sequence, of: side) else {
          text += "no further event\n"
          continue
        }
        text += EventText.whole(event.event, of: event.append, people: people)
      }
    } else {
      text = "the two stores hold the same \(count)\n"
    }
    let leftOut = first.leftOutCount + second.leftOutCount
    if leftOut > 0 {
      text +=
        "\(counted(leftOut, "event")) of Strata's own \(leftOut == 1 ? "was" : "were") left out; --exact compares them\n"
    }
    return text
  }

  private func sentence(_ difference: StoreDifference) -> String {
    switch difference.what {
    case "end":
      let ended = difference.first == nil ? first : second
      return "\(PeopleText.printable(ended.opened.path)) ends"
    case "append": return "an append begins in one of them only"
    case "state": return "the event is erased in one of them only"
    case "id", "time", "flags": return "the \(difference.what) of the append differs"
    default: return "the \(difference.what) differs"
    }
  }

  private struct Shown {
    var event: RecordedEvent
    var append: RecordedAppend

    var json: [UInt8] {
      var bytes: [UInt8] = []
      var json = EventJSON()
      json.append(event, of: append, to: &bytes)
      return bytes
    }
  }

  private func event(_ sequence: UInt64?, of side: CompareSide) throws(CommandFailure) -> Shown? {
    guard let sequence else { return nil }
    do throws(StoreError) {
      guard let append = try side.opened.store.appendBlocking(holding: sequence),
        let event = append.events.first(where: { $0.sequence == sequence })
      else { return nil }
      return Shown(event: event, append: append)
    } catch { throw side.opened.failure(error) }
  }
}
