// An append as its caller encodes it, before the committer decides sequence, revisions and time.

package import StrataBase

/// Whole events in the bytes of the format, with gaps for their revisions, and the hashes that the chain will need.
/// Built on the caller's thread, so that the committer only copies.
package final class AppendDraft: @unchecked Sendable {
  // Safe to send: it is only mutated while it is built, before the one call that submits it.

  /// What the committer needs to know about each event.
  package struct Mark: Sendable {
    /// The offset of the revision's eight bytes in `events`.
    package var revisionOffset: Int
    package var streamOffset: Int
    package var streamLength: Int
    package var streamHash: UInt64
    package var namesHash: UInt64
    package var contentHash: UInt64
    /// False for an event of which only the hash of the content is known, and for one that this version cannot read.
    package var hasContent = true
  }

  /// The version that a stream must have for the append to be accepted.
  package struct Expectation: Sendable {
    package var stream: [UInt8]
    package var version: ExpectedVersion

    package init(stream: [UInt8], version: ExpectedVersion) {
      self.stream = stream
      self.version = version
    }
  }

  // Not checked at run time for overlapping accesses: the committer makes a dozen for each append, and nothing changes a
  // draft that was submitted.
  @exclusivity(unchecked) package private(set) var events: RawBuffer
  @exclusivity(unchecked) package private(set) var marks = DraftMarks()
  /// The length of the contents of all events.
  @exclusivity(unchecked) private(set) var contentLength = 0
  /// How many bytes the events grow by if those with a longer erased form are erased.
  @exclusivity(unchecked) private var growth = 0
  @exclusivity(unchecked) package var id: [UInt8] = []
  @exclusivity(unchecked) package var given: Int64?
  /// The commit time to record, for an append that another log has already committed. It is raised to that of the append
  /// before it.
  @exclusivity(unchecked) package var committed: Int64?
  /// The sequence that its first event must get; nil for any. What another log has says its own sequences.
  @exclusivity(unchecked) package var expectedFirst: UInt64?
  /// Whether each event must get the revision that it has.
  @exclusivity(unchecked) package var expectsRevisions = false
  @exclusivity(unchecked) package var isErasable = false
  @exclusivity(unchecked) package var expectations: [Expectation] = []

  package init(bytesHint: Int = 512) {
    events = RawBuffer(capacity: bytesHint)
  }

  package var eventCount: Int { marks.count }
  package var byteCount: Int { events.count }

  /// Adds one event. Names and lengths must be within the format's limits, which the caller has checked.
  package func add(
    stream: UnsafeRawBufferPointer, type: UnsafeRawBufferPointer, codec: UInt64,
    salt: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
    metadata: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer
  ) {
    let namesLength = Self.namesLength(stream, type)
    let contentLength = Varint.length(codec) + field(salt) + field(metadata) + field(payload)
    let length = 1 + 1 + 8 + namesLength + contentLength
    self.contentLength += contentLength
    let erased = ErasedForm.length(namesLength: namesLength, contentLength: contentLength)
    growth += max(0, erased - length - Varint.length(UInt64(length)))
    var mark = begin(kind: EventKind.event, length: length, stream: stream, type: type)
    let content = events.count
    events.append(varint: codec)
    events.append(varint: UInt64(salt.count))
    events.append(salt)
    events.append(varint: UInt64(metadata.count))
    events.append(metadata)
    events.append(varint: UInt64(payload.count))
    events.append(payload)
    assert(events.count - content == contentLength, "an event's content is as long as it was counted")
    assert(events.count - (mark.revisionOffset - 2) == length, "an event is as long as its length field says")
    mark.contentHash = XXH64.of(UnsafeRawBufferPointer(start: events.base + content, count: contentLength))
    marks.append(mark)
  }

  /// Adds an event whose content was erased in another log.
  package func addErased(
    stream: UnsafeRawBufferPointer, type: UnsafeRawBufferPointer, contentHash: UInt64, contentLength: UInt64
  ) {
    let length = 1 + 1 + 8 + Self.namesLength(stream, type) + 8 + Varint.length(contentLength)
    var mark = begin(kind: EventKind.erased, length: length, stream: stream, type: type)
    events.append(integer: contentHash)
    events.append(varint: contentLength)
    (mark.contentHash, mark.hasContent) = (contentHash, false)
    marks.append(mark)
  }

  /// Adds an event of a kind that this version cannot read, as another log has it.
  package func addOpaque(
    kind: UInt8, stream: UnsafeRawBufferPointer, type: UnsafeRawBufferPointer, contentHash: UInt64,
    rest: UnsafeRawBufferPointer
  ) {
    precondition(kind >= EventKind.firstOpaque, "only kinds of 128 or more are opaque")
    let namesLength = Self.namesLength(stream, type)
    let length = 1 + 1 + 8 + namesLength + 8 + rest.count
    contentLength += rest.count
    let erased = ErasedForm.length(namesLength: namesLength, contentLength: rest.count)
    growth += max(0, erased - length - Varint.length(UInt64(length)))
    var mark = begin(kind: kind, length: length, stream: stream, type: type)
    events.append(integer: contentHash)
    events.append(rest)
    (mark.contentHash, mark.hasContent) = (contentHash, false)
    marks.append(mark)
  }

  /// Writes what every kind of event begins with. Returns its mark, without the hash of the content.
  private func begin(
    kind: UInt8, length: Int, stream: UnsafeRawBufferPointer, type: UnsafeRawBufferPointer
  ) -> Mark {
    _ = events.reserve(length + Varint.lengthMax)
    events.append(varint: UInt64(length))
    events.append(byte: kind)
    events.append(byte: 0)
    let revisionOffset = events.count
    events.append(integer: UInt64(0))
    let names = events.count
    events.append(varint: UInt64(stream.count))
    let streamOffset = events.count
    events.append(stream)
    events.append(varint: UInt64(type.count))
    events.append(type)
    let namesLength = events.count - names
    return Mark(
      revisionOffset: revisionOffset, streamOffset: streamOffset, streamLength: stream.count,
      streamHash: XXH64.of(stream),
      namesHash: XXH64.of(UnsafeRawBufferPointer(start: events.base + names, count: namesLength)),
      contentHash: 0)
  }

  private static func namesLength(_ stream: UnsafeRawBufferPointer, _ type: UnsafeRawBufferPointer) -> Int {
    precondition(
      (1...FormatLimits.streamLengthMax).contains(stream.count), "a stream's name has 1 to 1024 bytes")
    precondition((1...FormatLimits.typeLengthMax).contains(type.count), "a type's name has 1 to 255 bytes")
    return Varint.length(UInt64(stream.count)) + stream.count + Varint.length(UInt64(type.count)) + type.count
  }

  private func field(_ bytes: UnsafeRawBufferPointer) -> Int {
    Varint.length(UInt64(bytes.count)) + bytes.count
  }

  /// The most bytes that this append takes in a block, including its head, whichever of its events are erased.
  package var encodedLengthMax: Int { events.count + growth + Self.headLengthMax + Varint.lengthMax }

  /// The length of the longest head: flags, count, two times and an id.
  package static let headLengthMax =
    2 * Varint.lengthMax + 16 + Varint.lengthMax + FormatLimits.appendIDLengthMax
}

/// The kinds of events in a payload.
package enum EventKind {
  package static let event: UInt8 = 1
  package static let erased: UInt8 = 2
  package static let firstOpaque: UInt8 = 128
}

/// The flags of an append's head.
package enum AppendFlag {
  package static let given: UInt64 = 1
  package static let id: UInt64 = 2
  package static let erasable: UInt64 = 4
  package static let known: UInt64 = 7
}

extension AppendDraft {
  /// Writes the head of this append to `target`, which has room for `headLengthMax`, and returns its length.
  /// - Parameter given: this draft's given time, or the clock's time if it has none.
  package func writeHead(commitTime: Int64, given: Int64, to target: UnsafeMutableRawPointer) -> Int {
    Self.writeHead(
      commitTime: commitTime, given: given, id: id, isErasable: isErasable, count: eventCount, to: target)
  }

  private static func writeHead(
    commitTime: Int64, given: Int64, id: [UInt8], isErasable: Bool, count: Int,
    to target: UnsafeMutableRawPointer
  ) -> Int {
    var flags: UInt64 = 0
    if given != commitTime { flags |= AppendFlag.given }
    if !id.isEmpty { flags |= AppendFlag.id }
    if isErasable { flags |= AppendFlag.erasable }
    var length = Varint.write(flags, to: target)
    length += Varint.write(UInt64(count), to: target + length)
    target.setLittleEndian(commitTime, at: length)
    length += 8
    if flags & AppendFlag.given != 0 {
      target.setLittleEndian(given, at: length)
      length += 8
    }
    if !id.isEmpty {
      length += Varint.write(UInt64(id.count), to: target + length)
      (target + length).copyMemory(from: id, byteCount: id.count)
      length += id.count
    }
    assert(length <= Self.headLengthMax, "a head is not longer than headLengthMax")
    return length
  }

  /// The hash of the head that an append with these fields has, as the chain has it. The id is within the format's limit.
  package static func headHash(
    commitTime: Int64, given: Int64, id: [UInt8], isErasable: Bool, count: Int
  ) -> UInt64 {
    withUnsafeTemporaryAllocation(byteCount: headLengthMax, alignment: 8) { buffer in
      let length = writeHead(
        commitTime: commitTime, given: given, id: id, isErasable: isErasable, count: count,
        to: buffer.baseAddress!)
      return XXH64.of(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<length]))
    }
  }

  /// Fills the gap for one event's revision.
  @inline(__always)
  package func setRevision(_ revision: UInt64, of mark: Mark) {
    assert(mark.revisionOffset + 8 <= events.count, "a mark belongs to an event of this draft")
    events.base.setLittleEndian(revision, at: mark.revisionOffset)
  }

  /// The revision of one event.
  func revision(of mark: Mark) -> UInt64 {
    UnsafeRawPointer(events.base).littleEndian(UInt64.self, at: mark.revisionOffset)
  }

  /// The bytes of a mark's stream name, valid while the draft exists.
  @inline(__always)
  package func stream(of mark: Mark) -> UnsafeRawBufferPointer {
    assert(mark.streamOffset + mark.streamLength <= events.count, "a mark belongs to an event of this draft")
    return UnsafeRawBufferPointer(start: events.base + mark.streamOffset, count: mark.streamLength)
  }

  /// The bytes of a mark's type, valid while the draft exists.
  @inline(__always)
  func type(of mark: Mark) -> UnsafeRawBufferPointer {
    let begin = mark.streamOffset + mark.streamLength
    var cursor = ByteCursor(UnsafeRawPointer(events.base) + begin, count: events.count - begin)
    guard let type = cursor.lengthPrefixed() else { preconditionFailure("a draft holds whole events") }
    return type
  }

  /// The parts of an event's content, which it must have: codec, salt, and metadata and payload with their length prefixes. Valid while the
  /// draft exists.
  func content(
    of mark: Mark
  ) -> (codec: UInt64, salt: UnsafeRawBufferPointer, rest: UnsafeRawBufferPointer) {
    let begin = mark.revisionOffset + 8
    var cursor = ByteCursor(UnsafeRawPointer(events.base) + begin, count: events.count - begin)
    guard cursor.lengthPrefixed() != nil, cursor.lengthPrefixed() != nil, let codec = cursor.varint(),
      let salt = cursor.lengthPrefixed()
    else { preconditionFailure("a draft holds whole events") }
    let rest = cursor.position
    guard cursor.lengthPrefixed() != nil, cursor.lengthPrefixed() != nil else {
      preconditionFailure("a draft holds whole events")
    }
    return (codec, salt, UnsafeRawBufferPointer(start: rest, count: cursor.position - rest))
  }

  /// The hash that an event's content would have with another salt. O(bytes of the content).
  func contentHash(of mark: Mark, salt: UnsafeRawBufferPointer) -> UInt64 {
    guard mark.hasContent else { return mark.contentHash }
    let content = content(of: mark)
    if salt.elementsEqual(content.salt) { return mark.contentHash }
    var bytes = RawBuffer(capacity: 2 * Varint.lengthMax + salt.count + content.rest.count)
    bytes.append(varint: content.codec)
    bytes.append(varint: UInt64(salt.count))
    bytes.append(salt)
    bytes.append(content.rest)
    return XXH64.of(bytes.bytes)
  }
}
