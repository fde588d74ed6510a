// The rows of the list in both libraries.

/// A ticket of a service desk.
struct Ticket: Codable, Identifiable, Sendable {
  static let sectionCount = 50

  var id: Int
  var product: String
  var time: Int
  var title: String
  var isOpen: Bool

  static func rows(_ count: Int) -> [Ticket] {
    // A fixed generator, so that every run has the same rows.
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
    return (0..<count).map {
      Ticket(
        id: $0, product: product(random(sectionCount)), time: random(10_000_000),
        title: "The printer on floor \($0 % 90)",
        isOpen: $0 % 3 == 0)
    }
  }

  private static func product(_ number: Int) -> String { "PROD\(100 + number)" }

  /// Moves the ticket to the front of another section.
  mutating func move(_ round: Int) {
    let next = Self.product((round * 7 + 1) % Self.sectionCount)
    product = next == product ? Self.product((round * 7 + 2) % Self.sectionCount) : next
    time = 20_000_000 + round
  }
}
