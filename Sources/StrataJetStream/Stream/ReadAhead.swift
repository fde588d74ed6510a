// Objects that were read before they were asked for.

/// The messages that follow the one that was read last, as far as one answer had them. Bounded by what is asked for at once.
struct ReadAhead {
  /// How many messages are asked for at once, and about how many bytes.
  static let countMax = 2048
  static let sizeMax = 8 << 20

  private var messages: [UInt64: [UInt8]] = [:]
  /// The number that was asked for last.
  private var last: UInt64 = 0

  /// Takes a message out. Returns nil if it was not read ahead.
  mutating func take(_ number: UInt64) -> [UInt8]? {
    last = number
    return messages.removeValue(forKey: number)
  }

  /// Whether the reader goes from number to number, so that more is read than is asked for.
  func isSequential(_ number: UInt64) -> Bool { number == last &+ 1 }

  mutating func keep(_ found: [(sequence: UInt64, bytes: [UInt8])]) {
    messages.removeAll(keepingCapacity: true)
    for message in found { messages[message.sequence] = message.bytes }
  }

  mutating func forget(_ number: UInt64) { messages[number] = nil }
}
