// The sizes of blobs, requested from one git process.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

/// Looks up the sizes of blobs.
final class ImportGitSizes {
  /// Blobs per round. The requests and answers of one round fit into the pipes, so that the two processes do not block
  /// each other.
  private static let roundMax = 256

  private let repository: ImportGitRepository
  private let child: ChildProgram
  private let answers: ImportPieces

  init(_ repository: ImportGitRepository) throws(CommandFailure) {
    self.repository = repository
    child = try repository.start(["cat-file", "--batch-check=%(objectsize)"], input: .pipe)
    answers = ImportPieces(child, separator: 0x0A, of: repository)
  }

  /// The sizes of blobs, in the order of `blobs`; nil for a blob that is missing or that git cannot read. At one that
  /// would have to be fetched git ends, and there the sizes end.
  func sizes(of blobs: [String]) throws(CommandFailure) -> [Int64?] {
    var sizes: [Int64?] = []
    sizes.reserveCapacity(blobs.count)
    while sizes.count < blobs.count {
      let round = blobs[sizes.count..<min(blobs.count, sizes.count + Self.roundMax)]
      let questions = Array(round.joined(separator: "\n").utf8) + [0x0A]
      do throws(StoreError) {
        try questions.lendBytes { bytes throws(StoreError) in try child.input?.write(bytes) }
      } catch {
        try repository.finish(child)
        throw repository.failure(error)
      }
      for _ in round {
        guard let answer = try answers.next() else {
          let blob = blobs[sizes.count]
          if child.wait() != .code(0), child.complaint.contains(blob) { return sizes + [nil] }
          try repository.finish(child)
          throw repository.failure(.refused("read", "sizes", code: SystemErrorCode.inputOutput))
        }
        sizes.append(Int64(String(decoding: answer, as: UTF8.self)))
      }
    }
    return sizes
  }
}
