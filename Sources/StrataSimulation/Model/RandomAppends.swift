// Random appends from a seed, of many sizes and in many streams: most are small, some are unusual.

/// A source of random appends.
package struct RandomAppends: Sendable {
  package var random: SeededGenerator
  /// Most payloads are at most this long; some are longer, up to `sizeMax`.
  package var sizeTypical: Int
  package var sizeMax: Int
  package var streamCount: Int
  package var eventsMax: Int
  private var idCount = 0

  package init(
    seed: UInt64, sizeTypical: Int = 120, sizeMax: Int = 6_000, streamCount: Int = 12, eventsMax: Int = 5
  ) {
    random = SeededGenerator(seed: seed)
    self.sizeTypical = sizeTypical
    self.sizeMax = sizeMax
    self.streamCount = streamCount
    self.eventsMax = eventsMax
  }

  package mutating func stream() -> String {
    // Some streams have many events and many have few.
    let number = Int.random(in: 0..<streamCount, using: &random)
    let skewed = Int.random(in: 0...number, using: &random)
    return ["a/", "été/", "x", "deep/er/"][skewed % 4] + "\(skewed)"
  }

  package mutating func payload() -> [UInt8] {
    let size =
      switch Int.random(in: 0..<16, using: &random) {
      case 0, 1: 0
      case 2: Int.random(in: 0...sizeMax, using: &random)
      default: Int.random(in: 0...sizeTypical, using: &random)
      }
    if Bool.random(using: &random) {
      return (0..<size).map { UInt8(truncatingIfNeeded: $0 / 7) }
    }
    return (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  package mutating func event() -> ModelEvent {
    ModelEvent(
      stream: stream(), type: ["opened", "t", "ünïcode"].randomElement(using: &random)!,
      codec: Int.random(in: 0..<8, using: &random) == 0 ? 9 : 3,
      metadata: Int.random(in: 0..<4, using: &random) == 0
        ? [0xA1, 0x61, 0x6B, 0x18, UInt8.random(in: 24...255, using: &random)] : [],
      payload: payload())
  }

  /// Returns the next append. A third of the appends have an id.
  package mutating func append() -> ModelAppend {
    let count = Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 1...eventsMax, using: &random) : 1
    var id: String?
    if Int.random(in: 0..<3, using: &random) == 0 {
      idCount += 1
      id = "id-\(idCount)-\(random.next() % 1000)"
    }
    return ModelAppend((0..<count).map { _ in event() }, id: id)
  }
}
