// The lines of commits' headers as they are, requested from one git process.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

/// Looks up the lines of a commit whose times git cannot read, or that documents cannot keep.
final class ImportGitHeaders {
  /// A line longer than this is cut.
  private static let lineLengthMax = 1000

  private let repository: ImportGitRepository
  private let child: ChildProgram
  private let pieces: ImportPieces

  init(_ repository: ImportGitRepository) throws(CommandFailure) {
    self.repository = repository
    child = try repository.start(["cat-file", "--batch"], input: .pipe)
    pieces = ImportPieces(child, separator: 0x0A, of: repository)
  }

  /// What follows a word at the begin of a header's line, for each of these words; nil where there is no such line.
  func lines(_ words: [String], of commit: String) throws(CommandFailure) -> [String?] {
    let question = Array((commit + "\n").utf8)
    do throws(StoreError) {
      try question.lendBytes { bytes throws(StoreError) in try child.input?.write(bytes) }
    } catch {
      try repository.finish(child)
      throw repository.failure(error)
    }
    // `HASH commit LENGTH`, then the commit and a line feed.
    let answer = try line().split(separator: UInt8(ascii: " "))
    guard answer.count == 3, let length = Int(String(decoding: answer[2], as: UTF8.self)) else {
      throw repository.failure(.refused("read", "a commit", code: SystemErrorCode.inputOutput))
    }
    var found: [String?] = words.map { _ in nil }
    var rest = length + 1
    var isHeader = true
    while rest > 0 {
      let line = try line()
      rest -= line.count + 1
      isHeader = isHeader && !line.isEmpty
      guard isHeader else { continue }
      for (index, word) in words.enumerated() where found[index] == nil {
        let begin = Array(word.utf8) + [UInt8(ascii: " ")]
        guard line.starts(with: begin) else { continue }
        found[index] = String(decoding: line.dropFirst(begin.count).prefix(Self.lineLengthMax), as: UTF8.self)
      }
    }
    return found
  }

  private func line() throws(CommandFailure) -> [UInt8] {
    if let line = try pieces.next() { return line }
    try repository.finish(child)
    throw repository.failure(.refused("read", "a commit", code: SystemErrorCode.inputOutput))
  }
}
