// Encodes one commit as one append.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// Turns commits into drafts of appends.
///
/// The first event is `git.commit` in `commit/HASH`. It is followed by a `$put` or `$delete` in `file/PATH` for each
/// path that differs from the first parent's tree, in git's order.
struct ImportGitEncoder: ~Copyable {
  private let options: StoreOptions
  private let place: String
  private var payload = CBORWriter(capacity: 1024)

  init(options: StoreOptions, place: String) {
    self.options = options
    self.place = place
  }

  /// - Parameter sizes: the sizes of the changes that have a blob, in the order of the changes.
  mutating func draft(
    _ commit: ImportGitCommit, sizes: [Int64]
  ) throws(CommandFailure) -> AppendDraft {
    guard commit.changes.count < options.appendEventsMax else {
      throw tooLarge(commit, "\(options.appendEventsMax) events (appendEventsMax)")
    }
    let draft = AppendDraft(bytesHint: 512 + commit.changes.count * 256)
    draft.id = Array(commit.hash.utf8)
    draft.given = try time(of: commit)
    let metadata = DocumentValue.object(["commit": .string(commit.hash)]).cbor()
    add("git.commit", "commit/\(commit.hash)", document(of: commit), metadata, to: draft)
    var sizes = sizes[...]
    for change in commit.changes {
      let path = ImportGitPath(change.path)
      let stream = "file/" + path.text
      guard stream.utf8.count <= FormatLimits.streamLengthMax else {
        throw CommandFailure(
          ExitStatus.corrupt,
          "the path \(path.text) is too long: an id may have \(FormatLimits.streamLengthMax - 5) bytes",
          at: "commit \(commit.hash) of \(place)", next: "this history cannot be imported into format 1.0")
      }
      if let mode = change.mode {
        let size = change.isSubmodule ? nil : sizes.popFirst()
        add(
          DocumentEvent.put, stream,
          document(of: change, path, mode: mode, size: size, author: commit.author),
          metadata, to: draft)
      } else {
        add(DocumentEvent.delete, stream, .null, metadata, to: draft)
      }
      guard draft.encodedLengthMax <= options.appendSizeMax else {
        throw tooLarge(commit, "\(options.appendSizeMax) bytes (appendSizeMax)")
      }
    }
    return draft
  }

  private mutating func add(
    _ type: String, _ stream: String, _ document: DocumentValue, _ metadata: [UInt8], to draft: AppendDraft
  ) {
    payload.removeAll()
    payload.write(document)
    payload.withUnsafeBytes { payload in
      metadata.withUnsafeBytes { ImportLineEncoder.add(type, stream, payload, $0, to: draft) }
    }
  }

  private func time(of commit: ImportGitCommit) throws(CommandFailure) -> Int64 {
    let (nanoseconds, isOver) = commit.seconds?.multipliedReportingOverflow(by: 1_000_000_000) ?? (0, true)
    guard !isOver, nanoseconds != FormatLimits.noTime else {
      throw CommandFailure(
        ExitStatus.corrupt,
        commit.time.isEmpty
          ? "git cannot read the time in the committer line"
          : "the committer's time, \(commit.time) seconds after 1970, is outside 1677-09-21 to 2262-04-11",
        at: "commit \(commit.hash) of \(place)",
        next:
          "look at the commit with git cat-file commit, and import a history in which its time is corrected")
    }
    return nanoseconds
  }

  private func tooLarge(_ commit: ImportGitCommit, _ limit: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt,
      "the commit changes \(commit.changes.count) paths, but one append holds at most \(limit), the limit of the "
        + "format",
      at: "commit \(commit.hash) of \(place)",
      next: "this history cannot be imported: a commit is never split into two appends")
  }

  private func document(of commit: ImportGitCommit) -> DocumentValue {
    .object([
      "author": .string(commit.author), "authored": .string(commit.authored),
      "committed": .string(commit.committed), "committer": .string(commit.committer),
      "committerEmail": .string(commit.committerEmail), "email": .string(commit.authorEmail),
      "parents": .array(commit.parents.map { .string($0) }), "subject": .string(commit.subject),
      "tree": .string(commit.tree),
    ])
  }

  private func document(
    of change: ImportGitChange, _ path: ImportGitPath, mode: String, size: Int64?, author: String
  ) -> DocumentValue {
    let slash = change.path.lastIndex(of: UInt8(ascii: "/"))
    let folder = ImportGitPath(change.path[..<(slash ?? 0)])
    let name = ImportGitPath(change.path[(slash.map { $0 + 1 } ?? 0)...])
    var object: DocumentObject = [
      "author": .string(author), "blob": .string(change.blob), "folder": .string(folder.text),
      "mode": .string(mode), "name": .string(name.text), "size": size.map { .int($0) } ?? .null,
    ]
    if path.isQuoted { object["quoted"] = .bool(true) }
    return .object(object)
  }
}
