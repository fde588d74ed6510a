// What is measured with.

/// What every workload is given.
struct Bench: Sendable {
  var corpus: Corpus
  var scratch: Scratch
  var rounds: Int
}
