// One pattern that many threads match at the same time.

@testable internal import StrataLists
internal import Testing

@Suite struct FilterPatternTests {
  @Test func `threads that match a pattern for the first time at once all get its answer`() async throws {
    for round in 0..<20 {
      let pattern = try FilterPattern("item [0-9]+( of [a-f]+)*", ignoresCase: round % 2 == 0)
      let answers = await withTaskGroup(of: [Bool].self) { group in
        for _ in 0..<8 {
          group.addTask {
            (0..<100).map { pattern.matches($0 % 2 == 0 ? "item \($0) of abc of f" : "item \($0) of x") }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers == Array(repeating: (0..<100).map { $0 % 2 == 0 }, count: 8))
    }
  }
}
