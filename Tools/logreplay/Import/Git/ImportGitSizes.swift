// How large blobs are, asked of one git process for all of them.

internal import StrataBase
internal import StrataLog

/// The sizes of blobs.
final class ImportGitSizes {
  /// Questions and answers of one round fit into the pipes, so that neither side waits for the other.
  private static let roundMax = 256

  private let repository: ImportGitRepository
  private let child: ImportChild
  private let answers: ImportPieces

  init(_ repository: ImportGitRepository) throws(CommandFailure) {
    self.repository = repository
    child = try repository.start(["cat-file", "--batch-check=%(objectsize)"], input: .pipe)
    answers = ImportPieces(child, separator: 0x0A, of: repository)
  }

  /// The sizes of these blobs, in their order; nil for one that the repository does not have.
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
          try repository.finish(child)
          throw repository.failure(.refused("read", "sizes", code: SystemErrorCode.inputOutput))
        }
        sizes.append(Int64(String(decoding: answer, as: UTF8.self)))
      }
    }
    return sizes
  }
}
