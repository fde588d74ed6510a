// Filters against a naive evaluator.

internal import StrataFetch
internal import Testing

@Suite struct FilterTests {
}
