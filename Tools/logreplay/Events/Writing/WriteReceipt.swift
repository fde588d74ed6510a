// The receipt of one write, for people and for programs.

internal import LogreplayPoints
internal import LogreplayShell
internal import StrataEvents
internal import StrataLog

/// What became of an append of one event.
struct WriteReceipt {
  var outcome: AppendOutcome
  var write: ShellWrite
  /// The version of the stream after the append.
  var version: UInt64
  var id: String?

  /// The time that counts: the one that was given, or that of the commit.
  private var ownTime: Timestamp { outcome.ownTime }

  var json: [UInt8] {
    var line = JSONLine.document()
    outcome.write(to: &line)
    line.field("known", outcome.isKnown)
    line.field("id", id)
    line.field("stream", write.stream.text)
    line.field("type", write.type)
    line.field("version", version)
    return line.finish()
  }

  func short(_ people: PeopleText) -> String {
    let stream = PeopleText.printable(write.stream.text)
    let place = "sequence \(outcome.first), version \(version), \(people.time(ownTime))"
    guard outcome.isKnown else { return "\(stream): \(PeopleText.printable(write.type)) is \(place)" }
    return "\(stream): known by its append id as \(place); nothing was appended"
  }
}

extension AppendOutcome {
  /// The time that counts where a time is asked for.
  var ownTime: Timestamp { Timestamp(nanoseconds: given.map { min($0, time) } ?? time) }

  /// Writes the sequences and the times.
  func write(to line: inout JSONLine) {
    line.field("first", first)
    line.field("last", last)
    line.field("time", ownTime.description)
    line.field("committed", Timestamp(nanoseconds: time).description)
  }
}
