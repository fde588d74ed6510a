// The tree against a sorted array.

internal import StrataTables
internal import Testing

@Suite struct TreeTests {
  @Test("an empty tree holds nothing") func empty() { #expect(Tree().count == 0) }
}
