// Runs git commands such that user settings do not change their output.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A git repository that is read, and from which nothing else is started: no program that its settings name, and no fetch.
///
/// Its history is what its commits say. Grafts and replaced objects do not count.
struct ImportGitRepository {
  /// The folder, as the user gave it.
  let path: String

  init(_ path: String) { self.path = path }

  /// Whether a folder is a repository, bare or with a work tree.
  static func isOne(_ path: String) -> Bool {
    let manager = FileManager.default
    return manager.fileExists(atPath: path + "/.git")
      || manager.fileExists(atPath: path + "/HEAD") && manager.fileExists(atPath: path + "/objects")
  }

  /// Starts git with these arguments.
  func start(
    _ arguments: [String], input: ChildProgram.Input = .nothing
  ) throws(CommandFailure) -> ChildProgram {
    let settings = [
      "-c", "log.showSignature=false", "-c", "core.quotePath=false", "-c", "core.fsmonitor=false",
      "-c", "core.hooksPath=/dev/null",
    ]
    do throws(StoreError) {
      return try ChildProgram(
        "git", ["--no-pager", "-C", path] + settings + arguments, environment: ChildEnvironment.git,
        input: input)
    } catch {
      throw CommandFailure(
        ExitStatus.inputOutput,
        error.systemCode == SystemErrorCode.notFound
          ? "git is not installed" : "cannot start git: \(error.systemCode.map(systemMessage) ?? error.what)",
        at: path, next: ChildProgram.nextStep(after: error, starting: "git") + ", and import again")
    }
  }

  /// The full hash of the commit that a name refers to.
  func resolve(_ name: String) throws(CommandFailure) -> String {
    let child = try start(["rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"])
    let line = try ImportPieces(child, separator: 0x0A, of: self).next() ?? []
    let end = child.wait()
    let hash = String(decoding: line, as: UTF8.self)
    guard end == .code(0), GitHash.isOne(hash.utf8) else {
      let complaint = child.complaint
      if !name.hasPrefix("-"), let kind = try answer(["cat-file", "-t", name + "^{}"]), kind != "commit" {
        throw CommandFailure(
          ExitStatus.notFound, "\(PeopleText.printable(name)) is a \(kind), and no commit: it has no history",
          at: path,
          next:
            "name a branch, a commit or a tag of one with --ref, or take the commits of all refs with --all")
      }
      throw CommandFailure(
        ExitStatus.notFound,
        complaint.isEmpty ? "the repository has no commit \(name)" : "git cannot read it: \(complaint)",
        at: path, next: "check the path, and name a branch, tag or commit with --ref")
    }
    return hash
  }

  /// Waits for a child process to end. Throws if it did not succeed.
  func finish(_ child: ChildProgram) throws(CommandFailure) {
    let end = child.wait()
    guard end != .code(0) else { return }
    let complaint = child.complaint
    throw CommandFailure(
      ExitStatus.inputOutput,
      "git ended before its work was done" + (complaint.isEmpty ? "" : ": \(complaint)"),
      at: path, next: remedy)
  }

  /// What to do where git did not find an object.
  var remedy: String {
    isPartial
      ? "this is a partial clone, and an import fetches nothing: complete it with git fetch --refetch --no-filter, and "
        + "import again"
      : "run git fsck there, restore what is missing or use a full clone, and import again"
  }

  /// Whether the repository may lack objects by intention, to be fetched when they are needed.
  private var isPartial: Bool {
    (try? answer([
      "config", "--get-regexp", #"^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$"#,
    ]))
    .flatMap { $0 } != nil
  }

  /// Whether the repository lacks the commits before some of its own.
  func isShallow() throws(CommandFailure) -> Bool {
    try answer(["rev-parse", "--is-shallow-repository"]) == "true"
  }

  /// Whether a commit is in the history of another one, or is that one. False where the repository lacks one of them.
  func isCommit(_ hash: String, in descendant: String) throws(CommandFailure) -> Bool {
    try start(["merge-base", "--is-ancestor", hash, descendant]).wait() == .code(0)
  }

  /// The first line that git prints; nil if it ends with an error.
  func answer(_ arguments: [String]) throws(CommandFailure) -> String? {
    let child = try start(arguments)
    let line = try ImportPieces(child, separator: 0x0A, of: self).next() ?? []
    return child.wait() == .code(0) ? String(decoding: line, as: UTF8.self) : nil
  }

  /// The failure for an error while reading from git or writing to it.
  func failure(_ error: StoreError) -> CommandFailure {
    CommandFailure(
      ExitStatus.inputOutput, "\(error.what) (\(error.place) of git)",
      at: path,
      next: "import again")
  }
}

/// Splits the output of a program at a separator byte. Each piece is returned whole, and memory is bounded.
final class ImportPieces {
  private let child: ChildProgram
  private let separator: UInt8
  private var buffer = [UInt8](repeating: 0, count: 128 << 10)
  private var start = 0
  private var end = 0
  /// The longest piece that is accepted; a longer one means that the output is not what was expected.
  private static let lengthMax = 64 << 20

  private let repository: ImportGitRepository

  init(_ child: ChildProgram, separator: UInt8, of repository: ImportGitRepository) {
    self.child = child
    self.separator = separator
    self.repository = repository
  }

  /// The next piece without its separator; nil at the end. Bytes after the last separator are a piece too.
  func next() throws(CommandFailure) -> [UInt8]? {
    var searched = start
    while true {
      if let found = buffer[searched..<end].firstIndex(of: separator) {
        defer { start = found + 1 }
        return Array(buffer[start..<found])
      }
      searched = end
      do throws(StoreError) {
        guard try fill(&searched) else {
          guard start < end else { return nil }
          defer { start = end }
          return Array(buffer[start..<end])
        }
      } catch { throw repository.failure(error) }
    }
  }

  /// Reads more bytes, and makes room for them. Returns false at the end.
  private func fill(_ searched: inout Int) throws(StoreError) -> Bool {
    if end == buffer.count {
      if start > 0 {
        buffer.removeSubrange(..<start)
        end -= start
        searched -= start
        start = 0
      }
      guard buffer.count < Self.lengthMax else {
        throw .refused("read", "the output", code: SystemErrorCode.fileTooLarge)
      }
      buffer += [UInt8](repeating: 0, count: max(128 << 10, buffer.count))
    }
    let place = end
    let count = try buffer.lendMutableBytes { bytes throws(StoreError) in
      try child.output.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[place...]))
    }
    end += count
    return count > 0
  }
}
