// The machine's file system for a command that must not write: as far as the first file, it says what a write would.

internal import StrataBase
internal import StrataLog
internal import StrataReplica

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Reads as the machine does. Folders are made in memory only, or refused as the machine would refuse them; what comes up to
/// the first file that would be written has not been refused, and ends there.
final class LookingFileSystem: FileSystem {
  private let files = PosixFileSystem()
  private let made = Lock<Set<String>>([])
  private let isAtEnd = Lock(false)

  /// Runs what would write, up to the first file. Throws what it throws before that.
  func look(_ body: () throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) { try body() } catch {
      guard isAtEnd.withLock({ $0 }) else { throw error }
    }
  }

  private func end() -> StoreError {
    isAtEnd.withLock { $0 = true }
    return .invalid(what: "here something would be written", next: "run the command without --dry-run")
  }

  /// As the machine makes a folder, and any that are missing above it.
  func createDirectory(_ path: String) throws(StoreError) {
    if try files.kind(of: path) == .directory || made.withLock({ $0.contains(path) }) { return }
    let parent = StoreLayout(root: path).parent
    if parent != path {
      do throws(StoreError) { try createDirectory(parent) } catch {
        let code = error.systemCode ?? SystemErrorCode.inputOutput
        throw .refused(
          "create folder", path,
          code: code == SystemErrorCode.alreadyExists ? SystemErrorCode.notDirectory : code)
      }
    }
    if let code = try refusal(of: path, in: parent) { throw .refused("create folder", path, code: code) }
    made.withLock { _ = $0.insert(path) }
  }

  /// Why no folder can be made; nil if nothing speaks against it.
  private func refusal(of path: String, in parent: String) throws(StoreError) -> Int32? {
    if made.withLock({ $0.contains(parent) }) { return nil }
    if try files.kind(of: path) != nil { return SystemErrorCode.alreadyExists }
    if try files.isLink(path) { return SystemErrorCode.alreadyExists }
    return access(parent, W_OK | X_OK) == 0 ? nil : errno
  }

  func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File {
    guard mode == .read else { throw end() }
    return try files.open(path, mode)
  }

  func contents(ofDirectory path: String) throws(StoreError) -> [String] {
    try files.contents(ofDirectory: path)
  }
  func kind(of path: String) throws(StoreError) -> FileKind? { try files.kind(of: path) }
  func isLink(_ path: String) throws(StoreError) -> Bool { try files.isLink(path) }
  func identity(of path: String) throws(StoreError) -> String? { try files.identity(of: path) }
  func freshToken() -> UInt64 { files.freshToken() }
  func timeText() -> String { files.timeText() }
  func absolutePath(_ path: String) -> String { files.absolutePath(path) }
  func watch(_ folder: String) -> (any FolderWatch)? { nil }
  func freeSize(at path: String) -> UInt64? { files.freeSize(at: path) }

  func rename(_ path: String, to newPath: String) throws(StoreError) { throw end() }
  func renameNew(_ path: String, to newPath: String) throws(StoreError) { throw end() }
  func renameFenced(_ path: String, to newPath: String) throws(StoreError) { throw end() }
  func remove(_ path: String) throws(StoreError) { throw end() }

  // What would be removed here is what an interruption has left.
  func removeFiles(in folder: String, where isMeant: (String) -> Bool) throws(StoreError) {}
  func syncDirectory(_ path: String) throws(StoreError) {}
}

extension LookingFileSystem {
  /// Throws what the folder of a copy would be refused for, whatever is in it.
  static func checkCopy(at path: String) throws(StoreError) {
    let files = LookingFileSystem()
    try files.look { () throws(StoreError) in
      _ = try Log.openWriter(files, path: path, options: StoreOptions()) { part, _ throws(StoreError) in part
      }
    }
  }

  /// Throws what a place would be refused for when a store is shipped there. Of anything but folders nothing is known
  /// without a write.
  static func check(_ carrier: any Carrier) throws(StoreError) {
    guard carrier is FolderCarrier else { return }
    let files = LookingFileSystem()
    let folder = FolderCarrier(files, path: String(carrier.name.dropFirst("file:".count)))
    try files.look { () throws(StoreError) in
      try CarrierLog(folder, of: nil).asStoreError { () throws(CarrierError) in try folder.prove() }
    }
  }
}
