// Values as source text, which is compared with what was written in this file.

import StrataCheck
import Testing

private struct Point: Sendable {
  var x: Int
  var label: String?
}

private enum Shape: Sendable {
  case empty
  case dot(Point)
  case line(from: Point, to: Point)
}

@Suite struct SourceTests {
  @Test func `values are written as they would be in Swift`() {
    #expect(swiftSource(of: [1, -2]) == "[1, -2]")
    #expect(swiftSource(of: [[Int]]()) == "[]")
    #expect(swiftSource(of: ["b": 1.5, "a": .infinity]) == #"["a": .infinity, "b": 1.5]"#)
    #expect(swiftSource(of: [String: Int]()) == "[:]")
    #expect(swiftSource(of: (1, "x")) == #"(1, "x")"#)
    #expect(swiftSource(of: Point(x: 1, label: nil)) == "Point(x: 1, label: nil)")
    #expect(swiftSource(of: Shape.empty) == ".empty")
    #expect(swiftSource(of: Shape.dot(Point(x: 1, label: "é"))) == #".dot(Point(x: 1, label: "é"))"#)
    #expect(
      swiftSource(of: Shape.line(from: Point(x: 0, label: nil), to: Point(x: 2, label: nil)))
        == ".line(from: Point(x: 0, label: nil), to: Point(x: 2, label: nil))")
    #expect(swiftSource(of: Optional(Optional(3)) as Any) == "3")
  }

  @Test func `strings are escaped so that they read back as the same scalars`() {
    #expect(swiftSource(of: "a\"\\\n\r\t") == #""a\"\\\n\r\t""#)
    #expect(swiftSource(of: "\u{0}e\u{301}\u{202E}") == #""\u{0}e\u{301}\u{202E}""#)
  }
}
