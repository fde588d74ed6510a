// The contract of file systems: a random walk of calls whose record must be equal for every implementation.

internal import StrataBase
package import StrataLog

/// A random walk of calls on a file system.
///
/// Two file systems that fulfil the contract give the same record of the same walk. Each line of the record is a call
/// and its result, which is a value or an error number.
package struct FileSystemContract {
  private let fileSystem: any FileSystem
  private let root: String
  private var random: SeededGenerator
  private var open: [(any File)?] = Array(repeating: nil, count: 4)
  private var record: [String] = []

  private static let files = ["a", "b", "log/c", "log/d", "missing/e", "a/f", "log/deep/g"]
  private static let folders = ["", "log", "log/deep", "absent/folder", "a/folder"]
  /// Offsets around the boundaries of sectors, and of the chunks of a file in memory.
  private static let offsets = [0, 1, 511, 512, 4_096, 65_535, 65_536, 131_000]

  /// The bytes that are written, from varying starts. The period is odd, so that misplaced bytes differ.
  private static let pattern = (0..<71_000).map { UInt8($0 % 251) }

  private init(_ fileSystem: any FileSystem, root: String, seed: UInt64) {
    self.fileSystem = fileSystem
    self.root = root
    random = SeededGenerator(seed: seed)
  }

  /// Runs a walk, and returns its record.
  /// - Parameter root: an existing, empty folder.
  package static func record(
    of fileSystem: any FileSystem, root: String, seed: UInt64, callCount: Int
  ) -> [String] {
    var walk = FileSystemContract(fileSystem, root: root, seed: seed)
    for _ in 0..<callCount { walk.step() }
    return walk.record
  }

  private mutating func step() {
    switch Int.random(in: 0..<20, using: &random) {
    case 0...2: openFile()
    case 3: closeFile()
    case 4...6: changeNames()
    case 7: lookAtNames()
    case 8...10: write()
    case 11...13: read()
    case 14: truncate()
    case 15: sync()
    default: lockOrAsk()
    }
  }

  // MARK: Names

  private mutating func openFile() {
    let (slot, path) = (Int.random(in: 0..<4, using: &random), anyPath())
    let mode = [FileOpenMode.read, .readWrite, .create, .create, .createNew].randomElement(using: &random)!
    open[slot]?.close()
    open[slot] = nil
    note("open \(mode) \(path) in \(slot)") { (walk) throws(StoreError) in
      walk.open[slot] = try walk.fileSystem.open(walk.at(path), mode)
      return "opened"
    }
  }

  private mutating func closeFile() {
    let slot = Int.random(in: 0..<4, using: &random)
    open[slot]?.close()
    if Bool.random(using: &random) { open[slot] = nil }
    record.append("close \(slot)")
  }

  private mutating func changeNames() {
    let path = Self.files.randomElement(using: &random)!
    let newPath = Self.files.randomElement(using: &random)!
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      note("rename new \(path) to \(newPath)") { (walk) throws(StoreError) in
        try walk.fileSystem.renameNew(walk.at(path), to: walk.at(newPath))
        return "renamed"
      }
    case 1, 2:
      note("rename \(path) to \(newPath)") { (walk) throws(StoreError) in
        try walk.fileSystem.rename(walk.at(path), to: walk.at(newPath))
        return "renamed"
      }
    case 3:
      note("remove \(path)") { (walk) throws(StoreError) in
        try walk.fileSystem.remove(walk.at(path))
        return "removed"
      }
    case 4:
      let folder = Self.folders.randomElement(using: &random)!
      // Do not create a folder at the path of a file or at an absent path, so that both occur until the end of the
      // walk.
      let isAllowed = folder == "" || folder.hasPrefix("log") || isFile("a")
      let created = isAllowed && !folder.hasPrefix("absent") ? folder : "log/deep"
      note("create folder \(created)") { (walk) throws(StoreError) in
        try walk.fileSystem.createDirectory(walk.at(created))
        return "created"
      }
    default:
      let folder = Self.folders.randomElement(using: &random)!
      note("sync folder \(folder)") { (walk) throws(StoreError) in
        try walk.fileSystem.syncDirectory(walk.at(folder))
        return "synced"
      }
    }
  }

  private mutating func lookAtNames() {
    let (path, folder) = (anyPath(), Self.folders.randomElement(using: &random)!)
    note("kind \(path)") { (walk) throws(StoreError) in
      try walk.fileSystem.kind(of: walk.at(path)).map { "\($0)" } ?? "nothing"
    }
    note("list \(folder)") { (walk) throws(StoreError) in
      try walk.fileSystem.contents(ofDirectory: walk.at(folder)).joined(separator: " ")
    }
  }

  // MARK: Bytes

  private mutating func write() {
    let (slot, offset) = (Int.random(in: 0..<4, using: &random), anyOffset())
    let count = Bool.random(using: &random) ? Int.random(in: 0..<700, using: &random) : 70_000
    let start = Int.random(in: 0..<256, using: &random)
    let bytes = Self.pattern[start..<start + count]
    use(slot, "write \(count) at \(offset)") { (file) throws(StoreError) in
      var failure: StoreError?
      bytes.withUnsafeBytes { bytes in
        do throws(StoreError) { try file.write(bytes, at: Int64(offset)) } catch { failure = error }
      }
      if let failure { throw failure }
      return "written"
    }
  }

  private mutating func read() {
    let (slot, offset) = (Int.random(in: 0..<4, using: &random), anyOffset())
    let count = Bool.random(using: &random) ? Int.random(in: 0..<700, using: &random) : 140_000
    use(slot, "read \(count) at \(offset)") { (file) throws(StoreError) in
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
      defer { buffer.deallocate() }
      let found = try file.read(into: buffer, at: Int64(offset))
      // Every byte of a short read; of a long one, enough bytes that every sector is included.
      let places = stride(from: 0, to: found, by: count > 700 ? 37 : 1)
      let sum = places.reduce(UInt64(found)) { ($0 &* 1_099_511_628_211) ^ UInt64(buffer[$1]) }
      return "\(found) bytes, sum \(sum)"
    }
  }

  private mutating func truncate() {
    let (slot, size) = (Int.random(in: 0..<4, using: &random), anyOffset())
    use(slot, "truncate to \(size)") { (file) throws(StoreError) in
      try file.truncate(to: Int64(size))
      return "\(try file.size()) bytes"
    }
  }

  private mutating func sync() {
    let (slot, isData) = (Int.random(in: 0..<4, using: &random), Bool.random(using: &random))
    use(slot, isData ? "sync data" : "sync") { (file) throws(StoreError) in
      if isData { try file.syncData() } else { try file.sync() }
      file.dropCache()
      file.willRead(at: 0, count: 1 << 20)
      return "synced"
    }
  }

  private mutating func lockOrAsk() {
    let slot = Int.random(in: 0..<4, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      let kind = Bool.random(using: &random) ? FileLockKind.shared : .exclusive
      use(slot, "lock \(kind)") { (file) throws(StoreError) in
        try file.tryLock(kind) ? "taken" : "already held"
      }
    case 1:
      use(slot, "unlock") { (file) throws(StoreError) in
        file.unlock()
        return "released"
      }
    case 2:
      use(slot, "size") { (file) throws(StoreError) in "\(try file.size()) bytes" }
    default:
      use(slot, "is still at its path") { (file) throws(StoreError) in "\(try file.isStillAtItsPath())" }
    }
  }

  // MARK: Helpers

  private func at(_ path: String) -> String { path.isEmpty ? root : "\(root)/\(path)" }

  private func isFile(_ path: String) -> Bool { (try? fileSystem.kind(of: at(path))) == .file }

  private mutating func anyPath() -> String {
    let isFolder = Int.random(in: 0..<8, using: &random) == 0
    return (isFolder ? Self.folders : Self.files).randomElement(using: &random)!
  }

  private mutating func anyOffset() -> Int {
    Self.offsets.randomElement(using: &random)! + Int.random(in: 0..<3, using: &random)
  }

  private mutating func use(
    _ slot: Int, _ call: String, _ body: (any File) throws(StoreError) -> String
  ) {
    guard let file = open[slot] else { return }
    note("\(call) in \(slot)") { (_) throws(StoreError) in try body(file) }
  }

  private mutating func note(
    _ call: String, _ body: (inout FileSystemContract) throws(StoreError) -> String
  ) {
    do throws(StoreError) {
      let result = try body(&self)
      record.append("\(call): \(result)")
    } catch {
      record.append("\(call): \(systemMessage(error.systemCode ?? 0)) (\(error.systemCode ?? 0))")
    }
  }
}
