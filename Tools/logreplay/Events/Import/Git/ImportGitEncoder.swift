// Encodes one commit as one append, or as several if it changes too much for one.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// Turns commits into drafts of appends.
///
/// The first event is `git.commit` in `commit/HASH`. It is followed by a `git.merged` for each commit that came with this
/// one, and by a `$put` or `$delete` in `file/PATH` for each path that differs, in git's order.
struct ImportGitEncoder: ~Copyable {
  private let options: StoreOptions
  private var payload = CBORWriter(capacity: 1024)
  /// What is the same in all appends of the commit, and the one that is encoded.
  private var hash = ""
  private var time: Int64 = 0
  private var metadata: [UInt8] = []
  private var draft = AppendDraft()
  /// The number of appends of the commit before this one.
  private var part = 0

  /// More than all of an event but its names, metadata and payload takes, in either of its forms.
  private static let eventOverhead = 256

  init(options: StoreOptions) { self.options = options }

  /// Encodes a commit, and lends its drafts in their order. The id of the last one is the commit's hash; the others have
  /// ids of `SplitCommits`, and end with an event that says so. The same commit results in the same drafts.
  ///
  /// - Parameters:
  ///   - sizes: the sizes of the changes that have a blob, in the order of the changes.
  ///   - time: the time of the appends.
  mutating func encode(
    _ commit: ImportGitCommit, sizes: [Int64], time: Int64,
    _ take: (AppendDraft) throws(CommandFailure) -> Void
  ) throws(CommandFailure) {
    (hash, self.time, part) = (commit.hash, time, 0)
    metadata = DocumentValue.object(["commit": .string(hash)]).cbor()
    draft = AppendDraft(bytesHint: min(options.appendSizeMax, 512 + commit.changes.count * 256))
    try add("git.commit", "commit/\(hash)", Self.document(of: commit), take)
    for other in commit.remarks.others {
      try add(SplitCommits.mergedType, "commit/\(other)", .object(["append": .string(hash)]), take)
    }
    var sizes = sizes[...]
    for change in commit.changes {
      let path = ImportGitPath(change.path)
      let stream = "file/" + path.id
      guard let mode = change.mode else {
        try add(DocumentEvent.delete, stream, .null, take)
        continue
      }
      let size = change.isSubmodule ? nil : sizes.popFirst()
      let document = Self.document(of: change, path, mode: mode, size: size, author: commit.author)
      try add(DocumentEvent.put, stream, document, take)
    }
    try end(id: hash, take)
  }

  private mutating func add(
    _ type: String, _ stream: String, _ document: DocumentValue,
    _ take: (AppendDraft) throws(CommandFailure) -> Void
  ) throws(CommandFailure) {
    payload.removeAll()
    payload.write(document)
    let length = Self.eventOverhead + stream.utf8.count + type.utf8.count + metadata.count + payload.count
    if draft.eventCount > 0, !hasRoom(for: length) {
      part += 1
      let sign = DocumentValue.object(["commit": .string(hash), "part": .int(Int64(part))]).cbor()
      add(SplitCommits.partType, SplitCommits.stream, sign)
      try end(id: SplitCommits.id(of: hash, part: part), take)
      draft = AppendDraft(bytesHint: 1 << 20)
    }
    payload.withUnsafeBytes { payload in
      metadata.withUnsafeBytes { ImportRowEncoder.add(type, stream, payload, $0, to: draft) }
    }
  }

  /// Whether an event fits that may be so long, and after it the one that ends a part.
  private func hasRoom(for length: Int) -> Bool {
    draft.eventCount + 2 <= options.appendEventsMax
      && draft.encodedLengthMax + length + 2 * Self.eventOverhead + metadata.count <= options.appendSizeMax
  }

  private func add(_ type: String, _ stream: String, _ payload: [UInt8]) {
    payload.withUnsafeBytes { payload in
      metadata.withUnsafeBytes { ImportRowEncoder.add(type, stream, payload, $0, to: draft) }
    }
  }

  private func end(
    id: String, _ take: (AppendDraft) throws(CommandFailure) -> Void
  ) throws(CommandFailure) {
    draft.id = Array(id.utf8)
    draft.given = time
    try take(draft)
  }

  // MARK: Documents

  private static func document(of commit: ImportGitCommit) -> DocumentValue {
    var object: DocumentObject = [
      "author": .string(commit.author), "authored": .string(commit.authored.text),
      "committed": .string(commit.committed.text), "committer": .string(commit.committer),
      "committerEmail": .string(commit.committerEmail), "email": .string(commit.authorEmail),
      "parents": .array(commit.parents.map { .string($0) }), "subject": .string(commit.subject),
      "tree": .string(commit.tree),
    ]
    let remarks = commit.remarks
    if let line = remarks.authorLine { object["authorLine"] = .string(line) }
    if let line = remarks.committerLine { object["committerLine"] = .string(line) }
    if let base = remarks.comparedWith {
      object["comparedWith"] = .string(base)
      object["otherCommits"] = .int(Int64(remarks.otherCount))
    }
    if remarks.isShallow { object["shallow"] = .bool(true) }
    return .object(object)
  }

  private static func document(
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
    if path.isShortened { object["path"] = .string(path.text) }
    return .object(object)
  }
}
