// Appends and events in a decoded payload, read without copies.

package import StrataBase

/// One append in a payload. Pointers are valid as long as the payload.
package struct AppendView {
  package var flags: UInt64
  package var eventCount: Int
  package var commitTime: Int64
  /// The clock's or the import's time if it differs from the commit time.
  package var given: Int64?
  package var id: UnsafeRawBufferPointer
  /// The bytes that the chain hashes as *head*.
  package var head: UnsafeRawBufferPointer
  /// The events that follow.
  package var events: ByteCursor

  /// The time that counts where a time is asked for: the given one, otherwise the commit time. A given time after the
  /// commit time, which no writer writes, counts as the commit time.
  package var ownTime: Int64 { given.map { min($0, commitTime) } ?? commitTime }
}

/// One event in a payload. Pointers are valid as long as the payload.
package struct EventView {
  package var kind: UInt8
  package var revision: UInt64
  package var stream: UnsafeRawBufferPointer
  package var type: UnsafeRawBufferPointer
  package var codec: UInt64
  package var salt: UnsafeRawBufferPointer
  package var metadata: UnsafeRawBufferPointer
  package var payload: UnsafeRawBufferPointer
  /// The bytes that the chain hashes as *names*.
  package var names: UnsafeRawBufferPointer
  /// The bytes that the chain hashes as *content*; empty if only H(content) is stored.
  package var content: UnsafeRawBufferPointer
  /// The stored H(content) of an erased or opaque event.
  package var writtenContentHash: UInt64
  /// The length of the content, also of what was erased.
  package var contentLength: Int

  package var contentHash: UInt64 {
    kind == EventKind.event ? XXH64.of(content) : writtenContentHash
  }
}

/// Why an intact payload cannot be read.
package enum DecodingProblem: Error, Equatable, Sendable {
  case damaged(String)
  case unsupported(String)
}

private var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

extension ByteCursor {
  /// The next append of a payload.
  package mutating func nextAppend() throws(DecodingProblem) -> AppendView {
    guard let body = lengthPrefixed(), let start = body.baseAddress else {
      throw .damaged("an append is longer than its block")
    }
    return try Self.append(ByteCursor(start, count: body.count), length: body.count)
  }

  /// Reads the head of the next append, and stops before its first event. Not all of the append need be here.
  package mutating func openAppend() throws(DecodingProblem) -> AppendView {
    guard let length = varint(), length <= UInt64(FormatLimits.rawLengthMax) else {
      throw .damaged("an append is longer than its block")
    }
    let here = ByteCursor(position, count: min(Int(length), remaining))
    let append = try Self.append(here, length: Int(length))
    _ = bytes(UInt64(append.events.position - position))
    return append
  }

  /// - Parameters:
  ///   - body: what is here of the append, without its length.
  ///   - length: the length of the append.
  private static func append(_ body: ByteCursor, length: Int) throws(DecodingProblem) -> AppendView {
    let start = body.position
    var cursor = body
    guard let flags = cursor.varint() else { throw .damaged("an append without flags") }
    guard flags & ~AppendFlag.known == 0 else { throw .unsupported("append flags \(flags)") }
    guard let count = cursor.varint(), count >= 1, count <= UInt64(length),
      let time = cursor.integer(Int64.self), time != FormatLimits.noTime
    else { throw .damaged("an append's head is cut short") }
    var given: Int64?
    if flags & AppendFlag.given != 0 {
      guard let time = cursor.integer(Int64.self) else { throw .damaged("an append's head is cut short") }
      given = time
    }
    var id = nothing
    if flags & AppendFlag.id != 0 {
      guard let bytes = cursor.lengthPrefixed(), (1...FormatLimits.appendIDLengthMax).contains(bytes.count)
      else { throw .damaged("an append's id is empty, too long or cut short") }
      id = bytes
    }
    let head = UnsafeRawBufferPointer(start: start, count: cursor.position - start)
    return AppendView(
      flags: flags, eventCount: Int(count), commitTime: time, given: given, id: id, head: head, events: cursor
    )
  }

  /// The next event of an append.
  @inline(__always)
  package mutating func nextEvent() throws(DecodingProblem) -> EventView {
    guard let body = lengthPrefixed(), let start = body.baseAddress else {
      throw .damaged("an event is longer than its append")
    }
    var cursor = ByteCursor(start, count: body.count)
    guard let kind = cursor.integer(UInt8.self) else { throw .damaged("an event is cut short") }
    // The layout of the rest depends on kind and flags, so nothing after an unknown one is checked.
    guard kind == EventKind.event || kind == EventKind.erased || kind >= EventKind.firstOpaque else {
      throw .unsupported("event kind \(kind)")
    }
    guard let flags = cursor.varint() else { throw .damaged("an event is cut short") }
    guard flags == 0 else { throw .unsupported("event flags \(flags)") }
    guard let revision = cursor.integer(UInt64.self), revision > 0 else {
      throw .damaged("an event is cut short")
    }
    let names = cursor.position
    guard let stream = cursor.lengthPrefixed(), (1...FormatLimits.streamLengthMax).contains(stream.count),
      let type = cursor.lengthPrefixed(), (1...FormatLimits.typeLengthMax).contains(type.count)
    else { throw .damaged("an event's stream or type is empty, too long or cut short") }
    let content = cursor.position
    var view = EventView(
      kind: kind, revision: revision, stream: stream, type: type, codec: 0, salt: nothing, metadata: nothing,
      payload: nothing, names: UnsafeRawBufferPointer(start: names, count: content - names), content: nothing,
      writtenContentHash: 0, contentLength: 0)
    if kind == EventKind.event {
      guard let codec = cursor.varint(), let salt = cursor.lengthPrefixed(),
        salt.count == 0 || salt.count == FormatLimits.saltLength,
        let metadata = cursor.lengthPrefixed(), let payload = cursor.lengthPrefixed(), cursor.remaining == 0
      else { throw .damaged("an event's content does not fill the event") }
      view.codec = codec
      view.salt = salt
      view.metadata = metadata
      view.payload = payload
      view.content = UnsafeRawBufferPointer(start: content, count: cursor.position - content)
      view.contentLength = view.content.count
    } else {
      guard let hash = cursor.integer(UInt64.self) else { throw .damaged("an event is cut short") }
      view.writtenContentHash = hash
      if kind == EventKind.erased {
        guard let length = cursor.varint(), cursor.remaining == 0 else {
          throw .damaged("an erased event does not fill its length")
        }
        view.contentLength = Int(clamping: length)
      } else {
        guard let rest = cursor.bytes(UInt64(cursor.remaining)) else {
          throw .damaged("an event is cut short")
        }
        view.payload = rest
        view.contentLength = rest.count
      }
    }
    return view
  }
}
