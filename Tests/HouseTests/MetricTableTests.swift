// The page's table of metrics against their list in the code.

import StrataObservability
import Testing

@Suite struct MetricTableTests {
  private static let page = "Sources/StrataObservability/StrataObservability.docc/StrataObservability.md"

  @Test func `the page lists every metric once, in the order of the code, with its kind and its unit`() throws
  {
    let rows = try Repository.text(Self.page).matches(
      of: /\n\| `(strata\.[a-z_.]+)` \| (\w+) \| `([^`]+)` \| ([^|\n]+) \|/)
    #expect(
      rows.map { "\($0.1) \($0.2) \($0.3)" }
        == StoreMetric.allCases.map {
          "\($0.rawValue) \($0.kind.rawValue) \($0.unit)"
        })
  }

  @Test func `no metric has the name of a group of others`() {
    let names = StoreMetric.allCases.map(\.rawValue)
    for name in names { #expect(!names.contains { $0.hasPrefix(name + ".") }, "\(name)") }
  }
}
