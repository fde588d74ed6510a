// The events that every library of a comparison appends, in a file that programs in other languages read, too.

internal import Foundation

/// Eight bytes `events 1`, and for each event the length of its stream's name and that of its payload, each of four
/// bytes with the lowest one first, the name, and the payload.
enum EventFile {
  struct Event: Sendable {
    var stream: [UInt8]
    var payload: [UInt8]
  }

  private static let magic = Array("events 1".utf8)

  static func write(_ events: some Sequence<Event>, to path: String) throws {
    var bytes = magic
    for event in events {
      for count in [event.stream.count, event.payload.count] {
        withUnsafeBytes(of: UInt32(count).littleEndian) { bytes.append(contentsOf: $0) }
      }
      bytes += event.stream
      bytes += event.payload
    }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  static func read(_ path: String) throws -> [Event] {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    var rest = bytes[...]
    func take(_ count: Int) throws -> [UInt8] {
      guard count <= rest.count else { throw CocoaError(.fileReadCorruptFile) }
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    func length() throws -> Int { try take(4).reversed().reduce(0) { $0 << 8 | Int($1) } }
    guard try take(magic.count) == magic else { throw CocoaError(.fileReadCorruptFile) }
    var events: [Event] = []
    while !rest.isEmpty {
      let (stream, payload) = (try length(), try length())
      events.append(Event(stream: try take(stream), payload: try take(payload)))
    }
    return events
  }
}

/// What a program adds up of each event that it reads, so that all of it is touched and all libraries can be seen to
/// read the same: the length, whole words of eight bytes, and the bytes after them.
func eventSum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
  var sum = UInt64(bytes.count)
  var offset = 0
  while offset + 8 <= bytes.count {
    sum &+= UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    offset += 8
  }
  for byte in bytes[offset...] { sum &+= UInt64(byte) }
  return sum
}
