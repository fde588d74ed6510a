// The input of a benchmark.

/// The input of every workload.
struct Bench: Sendable {
  var corpus: Corpus
  var scratch: Scratch
  var rounds: Int
  /// The number of rows of the stores that have as many as one likes.
  var rows: Int
  /// A folder whose stores are made once and used again by later runs; nil if they are removed at the end.
  var stores: String?
  /// What the names of the questions of `past`, and of the ways of `bulk`, contain that are measured; nil for all.
  var question: String?
}
