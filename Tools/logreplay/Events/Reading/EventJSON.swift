// An event as the JSON object that `log` and `show` print.

package import LogreplayShell
package import StrataEvents
internal import StrataLog

/// Writes many events as JSON objects. Keeps the text of the last time, because neighbouring events often share it.
package struct EventJSON {
  private var lastTime: Timestamp?
  private var lastTimeText: [UInt8] = []

  package init() {}

  /// Appends `{"schema":1,"sequence":…}` without a line feed.
  ///
  /// - Parameters:
  ///   - isPartial: whether the event was requested as a point and is not the last of its append.
  ///   - more: adds further members.
  package mutating func append(
    _ event: RecordedEvent, of append: RecordedAppend, isPartial: Bool = false, to bytes: inout [UInt8],
    more: (inout JSONLine) -> Void = { _ in }
  ) {
    var line = JSONLine(movingFrom: &bytes)
    line.field("schema", 1 as UInt64)
    line.field("sequence", event.sequence)
    let sequences = append.sequences
    line.key("append")
    line.range(sequences)
    if lastTime != append.time {
      lastTime = append.time
      lastTimeText = Array("\"\(append.time)\"".utf8)
    }
    line.raw("time", lastTimeText)
    if let given = append.givenTime { line.field("given", given.description) }
    line.field("stream", event.stream.text)
    line.field("version", event.revision)
    line.field("type", event.type)
    line.field("id", append.id)
    Self.addMetadata(of: event, to: &line)
    Self.addPayload(of: event, to: &line)
    if isPartial { line.field("partial", true) }
    more(&line)
    line.finish(to: &bytes)
  }

  private static func addMetadata(of event: RecordedEvent, to line: inout JSONLine) {
    if event.state == .erased {
      line.null("metadata")
    } else if event.metadataBytes.isEmpty {
      line.raw("metadata", "{}".utf8)
    } else if let object = try? event.metadata() {
      line.field("metadata", .object(object))
    } else {
      line.field("metadata", .bytes(event.metadataBytes))
    }
  }

  private static func addPayload(of event: RecordedEvent, to line: inout JSONLine) {
    switch event.state {
    case .whole:
      line.field("codec", event.payload.codec.name)
      do throws(StoreError) {
        line.field("payload", try event.document())
      } catch {
        line.field("payload", .bytes(event.payload.bytes))
      }
    case .erased:
      line.null("codec")
      line.null("payload")
      line.field("erased", true)
    case .opaque:
      line.null("codec")
      line.null("payload")
      line.field("opaque", true)
    }
  }
}

extension PayloadCodec {
  /// The codec's name in JSON and in text.
  var name: String {
    switch self {
    case .cbor: "cbor"
    case .json: "json"
    case .bytes: "bytes"
    }
  }
}

extension JSONLine {
  /// Appends `[first,last]` as the value of the preceding key.
  @inline(__always)
  fileprivate mutating func range(_ range: ClosedRange<UInt64>) {
    append(byte: UInt8(ascii: "["))
    append(number: range.lowerBound)
    append(byte: UInt8(ascii: ","))
    append(number: range.upperBound)
    append(byte: UInt8(ascii: "]"))
  }
}
