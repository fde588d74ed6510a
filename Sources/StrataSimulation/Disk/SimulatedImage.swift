// The state of a simulated disk as a value: files, folders, and the entries that a power cut may lose.

internal import StrataBase
internal import StrataLog

/// Files and folders by inode number, and their names, both live and durable. Copies are cheap until one of them
/// changes.
struct SimulatedImage: Sendable {
  typealias Inode = Int
  static let root: Inode = 0

  struct Folder: Sendable {
    var live: [String: Inode] = [:]
    var durable: [String: Inode] = [:]
  }

  /// An entry that was set or removed, and is not yet durable. A rename is two changes with the same operation number:
  /// the new name is set, then the old one is removed.
  struct EntryChange: Sendable {
    var operation: Int
    var folder: Inode
    var name: String
    /// The file or folder that has the name; nil if the name was removed.
    var inode: Inode?
    var isRename: Bool
  }

  private(set) var folders: [Inode: Folder] = [root: Folder()]
  private(set) var files: [Inode: SimulatedContent] = [:]
  /// The bytes of files that cannot be read.
  private var unreadable: [Inode: [Range<Int>]] = [:]
  /// Oldest first.
  private(set) var changes: [EntryChange] = []
  /// How many files there were after those that nothing reaches were last removed.
  private var reachableCount = 0
  private var lastInode = root
  private var lastOperation = 0

  enum Node {
    case file(Inode)
    case folder(Inode)
  }

  // MARK: Names

  /// Returns the file or folder at a path, or the error code if there is none.
  func node(at parts: PathParts) -> Result<Node, SimulatedCode> {
    var folder = Self.root
    for (index, name) in parts.names.enumerated() {
      guard let inode = folders[folder]?.live[name] else { return .failure(.init(SystemErrorCode.notFound)) }
      if folders[inode] != nil {
        folder = inode
      } else if index == parts.names.count - 1 {
        return .success(.file(inode))
      } else {
        return .failure(.init(SystemErrorCode.notDirectory))
      }
    }
    return .success(.folder(folder))
  }

  /// Returns the folder that contains, or would contain, the path's last name.
  func parent(of parts: PathParts) -> Result<Inode, SimulatedCode> {
    guard let parent = parts.parent else { return .failure(.init(SystemErrorCode.isDirectory)) }
    return node(at: parent).flatMap { node in
      if case .folder(let inode) = node { return .success(inode) }
      return .failure(.init(SystemErrorCode.notDirectory))
    }
  }

  func file(at path: String) -> Inode? {
    if case .success(.file(let inode)) = node(at: PathParts(path)) { return inode }
    return nil
  }

  /// The paths of all files, in ascending order.
  func paths() -> [String] {
    var found: [String] = []
    var open: [(Inode, String)] = [(Self.root, "")]
    while let (folder, path) = open.popLast() {
      for (name, inode) in folders[folder]?.live ?? [:] {
        if folders[inode] != nil {
          open.append((inode, "\(path)/\(name)"))
        } else {
          found.append("\(path)/\(name)")
        }
      }
    }
    return found.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  mutating func addFolder(_ name: String, in parent: Inode) {
    lastInode += 1
    folders[lastInode] = Folder()
    setEntries([(parent, name, lastInode)])
  }

  mutating func addFile(_ name: String, in parent: Inode) -> Inode {
    lastInode += 1
    files[lastInode] = SimulatedContent()
    setEntries([(parent, name, lastInode)])
    return lastInode
  }

  mutating func removeFile(_ name: String, in parent: Inode) { setEntries([(parent, name, nil)]) }

  mutating func renameFile(
    _ inode: Inode, _ name: String, in parent: Inode, to newName: String, in newParent: Inode
  ) {
    guard parent != newParent || name != newName else { return }
    setEntries([(newParent, newName, inode), (parent, name, nil)])
  }

  private mutating func setEntries(_ entries: [(folder: Inode, name: String, inode: Inode?)]) {
    lastOperation += 1
    for (folder, name, inode) in entries {
      folders[folder]!.live[name] = inode
      changes.append(
        EntryChange(
          operation: lastOperation, folder: folder, name: name, inode: inode, isRename: entries.count > 1
        )
      )
    }
  }

  /// Makes the folder's entries durable. If a file was renamed out of the folder, its new name is made durable too,
  /// since no file system loses a file through a rename.
  mutating func syncFolder(_ folder: Inode) {
    let movedOut = Set(
      changes.filter { $0.folder == folder && $0.isRename && $0.inode == nil }.map(\.operation))
    for change in changes where change.inode != nil && movedOut.contains(change.operation) {
      makeDurable(change)
    }
    for change in changes where change.folder == folder { makeDurable(change) }
  }

  /// Makes a change durable, and removes the earlier changes of the same name, which it supersedes.
  private mutating func makeDurable(_ change: EntryChange) {
    folders[change.folder]!.durable[change.name] = change.inode
    changes.removeAll {
      $0.folder == change.folder && $0.name == change.name && $0.operation <= change.operation
    }
  }

  /// Removes what `removeUnreachable` does, once there may be as many such files as others.
  mutating func removeUnreachableIfMany(open: Set<Inode>) {
    guard files.count > 2 * reachableCount + 8 else { return }
    removeUnreachable(open: open)
    reachableCount = files.count
  }

  /// Removes the files that are not open, and that have no name, neither now nor after any power cut.
  mutating func removeUnreachable(open: Set<Inode>) {
    var reachable = open
    for folder in folders.values {
      reachable.formUnion(folder.live.values)
      reachable.formUnion(folder.durable.values)
    }
    reachable.formUnion(changes.compactMap(\.inode))
    if files.keys.allSatisfy(reachable.contains) { return }
    files = files.filter { reachable.contains($0.key) }
  }

  /// The size of all files that have a name or are open, in bytes.
  func usedSize(open: Set<Inode>) -> Int {
    var counted = open
    for folder in folders.values { counted.formUnion(folder.live.values) }
    return counted.reduce(0) { $0 + (files[$1]?.live.count ?? 0) }
  }

  // MARK: Contents

  func content(_ inode: Inode) -> SimulatedContent { files[inode] ?? SimulatedContent() }

  func isUnreadable(_ inode: Inode, _ range: Range<Int>) -> Bool {
    unreadable[inode, default: []].contains { $0.overlaps(range) }
  }

  mutating func makeUnreadable(_ inode: Inode, _ range: Range<Int>) {
    unreadable[inode, default: []].append(range)
  }

  mutating func makeReadable() { unreadable = [:] }

  mutating func change<Result>(_ inode: Inode, _ body: (inout SimulatedContent) -> Result) -> Result {
    body(&files[inode, default: SimulatedContent()])
  }

  var unsynced: SimulatedUnsynced {
    SimulatedUnsynced(
      sectorCount: files.values.reduce(0) { $0 + $1.unsyncedSectorCount },
      sizeCount: files.values.count(where: \.isSizeUnsynced),
      entryCount: changes.count
    )
  }

  // MARK: Power cuts

  /// Returns the disk after a crash. Unless the model is `lossless`, everything that remains is durable.
  func crashed(_ model: CrashModel, using random: inout SeededGenerator) -> SimulatedImage {
    if model == .lossless { return self }
    var image = self
    image.changes = []
    let kept = model == .dropAll ? [] : keptChanges(using: &random)
    for change in kept { image.folders[change.folder]!.durable[change.name] = change.inode }
    for inode in image.folders.keys { image.folders[inode]!.live = image.folders[inode]!.durable }
    // In ascending order: the order of a dictionary differs between runs, and with it the random draws would too.
    for (inode, content) in files.sorted(by: { $0.key < $1.key }) where !content.isFullyDurable {
      image.files[inode] =
        model == .dropAll
        ? content.droppingUnsynced() : content.keepingSome(garbage: model == .garbage, using: &random)
    }
    image.removeUnreachable(open: [])
    return image
  }

  /// The entry changes that reached the medium: either all up to some operation, as in a journal; or for each name
  /// separately, all up to some change. In the second case, a renamed file may have both names, but never none.
  private func keptChanges(using random: inout SeededGenerator) -> [EntryChange] {
    guard let first = changes.first, let last = changes.last else { return [] }
    if Bool.random(using: &random) {
      let end = Int.random(in: first.operation - 1...last.operation, using: &random)
      return changes.filter { $0.operation <= end }
    }
    return changesKeptByName(using: &random)
  }

  private func changesKeptByName(using random: inout SeededGenerator) -> [EntryChange] {
    struct Name: Hashable {
      var folder: Inode
      var name: String
    }
    var left: [Name: Int] = [:]
    for change in changes { left[Name(folder: change.folder, name: change.name), default: 0] += 1 }
    var drawn: Set<Name> = []
    for change in changes {
      let name = Name(folder: change.folder, name: change.name)
      if drawn.insert(name).inserted { left[name] = Int.random(in: 0...left[name]!, using: &random) }
    }
    // The renames whose new name has not been kept; their old names must stay.
    var unlinked = Set(changes.filter { $0.isRename && $0.inode != nil }.map(\.operation))
    return changes.filter { change in
      let name = Name(folder: change.folder, name: change.name)
      let isOldName = change.isRename && change.inode == nil
      guard left[name]! > 0, !(isOldName && unlinked.contains(change.operation)) else {
        left[name] = 0
        return false
      }
      left[name]! -= 1
      if change.isRename && change.inode != nil { unlinked.remove(change.operation) }
      return true
    }
  }
}

/// A value of `errno`, before the operation and the path are added to make an error.
struct SimulatedCode: Error {
  var code: Int32
  init(_ code: Int32) { self.code = code }
}
