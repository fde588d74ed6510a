// The input of a benchmark.

/// The input of every workload.
struct Bench: Sendable {
  var corpus: Corpus
  var scratch: Scratch
  var rounds: Int
}
