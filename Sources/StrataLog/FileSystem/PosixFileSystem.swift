// The file system of the machine.

internal import CStrata
internal import StrataBase

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Files and folders of the machine, through POSIX calls.
///
/// New files get the permissions 0666 and folders 0777, minus the process's umask.
package struct PosixFileSystem: FileSystem {
  private let transfers: SystemTransfers

  /// - Parameter transfers: how bytes are moved; a test passes calls that are interrupted or move only some of the
  ///   bytes.
  package init(transfers: SystemTransfers = .system) { self.transfers = transfers }

  /// Creates the folder and any missing folders above it, and makes each durable in its parent.
  package func createDirectory(_ path: String) throws(StoreError) {
    if try kind(of: path) == .directory { return }
    let parent = Self.parent(of: path)
    if let parent {
      do throws(StoreError) {
        try createDirectory(parent)
      } catch {
        // Something on the path that is not a folder is not what the caller asked to create.
        let code = error.systemCode ?? EIO
        throw .refused("create folder", path, code: code == EEXIST ? ENOTDIR : code)
      }
    }
    do throws(StoreError) {
      _ = try SystemCall.repeating("create folder", path) { mkdir(path, 0o777) }
    } catch {
      guard error.systemCode == EEXIST, try kind(of: path) == .directory else { throw error }
    }
    try syncDirectory(parent ?? ".")
  }

  package func contents(ofDirectory path: String) throws(StoreError) -> [String] {
    guard let directory = strata_directory_open(path) else {
      throw .refused("list", path, code: strata_errno())
    }
    defer { strata_directory_close(directory) }
    var names: [String] = []
    while let name = strata_directory_next(directory) { names.append(String(cString: name)) }
    let code = strata_errno()
    guard code == 0 else { throw .refused("list", path, code: code) }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  package func kind(of path: String) throws(StoreError) -> FileKind? {
    guard let status = try Self.status(of: path) else { return nil }
    if status.is_file != 0 { return .file }
    return status.is_directory != 0 ? .directory : .other
  }

  package func open(_ path: String, _ mode: FileOpenMode) throws(StoreError) -> any File {
    let flags =
      switch mode {
      case .read: O_RDONLY
      case .readWrite: O_RDWR | O_NOFOLLOW
      case .create: O_RDWR | O_NOFOLLOW | O_CREAT
      case .createNew: O_RDWR | O_NOFOLLOW | O_CREAT | O_EXCL
      }
    let descriptor: Int32
    do throws(StoreError) {
      // Without the flag, opening a pipe would wait until its other end is opened. For a regular file the flag has no
      // effect.
      descriptor = try SystemCall.repeating("open", path) { strata_open(path, flags | O_NONBLOCK, 0o666) }
    } catch {
      throw try linkError(error, path)
    }
    let file = try PosixFile(path: path, descriptor: descriptor, transfers: transfers)
    guard file.opened.is_directory == 0 else { throw .refused("open", path, code: EISDIR) }
    guard file.opened.is_file != 0 else {
      throw .refused("open", path, code: SystemErrorCode.notRegularFile)
    }
    return file
  }

  /// The error of an open that follows no link: `linked` if a link is the cause, otherwise the error itself.
  private func linkError(_ error: StoreError, _ path: String) throws(StoreError) -> StoreError {
    // Systems report a link with different numbers: as a loop, as not a folder, or as too many links.
    guard [ELOOP, ENOTDIR, EMLINK].contains(error.systemCode), try isLink(path) else { return error }
    return .linked(path: path)
  }

  package func rename(_ path: String, to newPath: String) throws(StoreError) {
    // An unqualified `rename` would call this method.
    #if canImport(Darwin)
      _ = try SystemCall.repeating("rename", path) { Darwin.rename(path, newPath) }
    #elseif canImport(Musl)
      _ = try SystemCall.repeating("rename", path) { Musl.rename(path, newPath) }
    #else
      _ = try SystemCall.repeating("rename", path) { Glibc.rename(path, newPath) }
    #endif
  }

  package func renameNew(_ path: String, to newPath: String) throws(StoreError) {
    _ = try SystemCall.repeating("rename", path) { strata_rename_new(path, newPath) }
  }

  package func renameFenced(_ path: String, to newPath: String) throws(StoreError) {
    _ = try SystemCall.repeating("rename", path) { strata_rename_fenced(path, newPath) }
  }

  package func remove(_ path: String) throws(StoreError) {
    _ = try SystemCall.repeating("remove", path) { unlink(path) }
  }

  package func removeFiles(
    in folder: String, where isMeant: (String) -> Bool
  ) throws(StoreError) {
    guard let directory = strata_directory_open_itself(folder) else {
      let code = strata_errno()
      if code == ENOENT { return }
      throw try linkError(.refused("list", folder, code: code), folder)
    }
    defer { strata_directory_close(directory) }
    // Collected before anything is removed: a listing during which names disappear may skip others.
    var names: [String] = []
    while let name = strata_directory_next(directory) {
      let text = String(cString: name)
      if isMeant(text) { names.append(text) }
    }
    let code = strata_errno()
    guard code == 0 else { throw .refused("list", folder, code: code) }
    for name in names {
      do throws(StoreError) {
        _ = try SystemCall.repeating("remove", "\(folder)/\(name)") {
          strata_directory_remove(directory, name)
        }
      } catch  where error.systemCode == SystemErrorCode.notFound {
        // Another thread or process has removed it since the folder was listed.
      }
    }
  }

  package func isLink(_ path: String) throws(StoreError) -> Bool {
    let found = strata_is_link(path)
    guard found < 0 else { return found != 0 }
    let code = strata_errno()
    guard code == ENOENT || code == ENOTDIR else { throw .refused("look at", path, code: code) }
    return false
  }

  package func absolutePath(_ path: String) -> String {
    guard !path.isEmpty, !path.hasPrefix("/") else { return path }
    // If the working directory no longer has a path, relative paths lead nowhere, now or later. If its path is not
    // UTF-8, text cannot name it: its path with other bytes would be another folder's.
    guard let working = strata_working_directory() else { return path }
    defer { strata_free(working) }
    guard let folder = String(validatingCString: working) else { return path }
    var names = Substring(path)
    while names.hasPrefix("./") { names = names.dropFirst(2).drop { $0 == "/" } }
    if names.isEmpty || names == "." { return folder }
    return folder.hasSuffix("/") ? "\(folder)\(names)" : "\(folder)/\(names)"
  }

  package func syncDirectory(_ path: String) throws(StoreError) {
    let descriptor = try SystemCall.repeating("open folder", path) {
      strata_open(path, O_RDONLY | O_DIRECTORY, 0)
    }
    let folder = try PosixFile(path: path, descriptor: descriptor)
    defer { folder.close() }
    do throws(StoreError) {
      try folder.sync()
    } catch {
      // Some foreign file systems cannot sync a folder at all and return EINVAL; their names are then as durable as
      // they can be.
      guard error.systemCode == EINVAL else {
        throw .refused("sync folder", path, code: error.systemCode ?? EIO)
      }
    }
  }

  package func watch(_ folder: String) -> (any FolderWatch)? { PosixFolderWatch(folder) }

  package func freeSize(at path: String) -> UInt64? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    let (size, isTooMuch) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return isTooMuch ? .max : size
  }

  package func identity(of path: String) throws(StoreError) -> String? {
    try Self.status(of: path)?.identity
  }

  /// The status of what is at the path, or nil if nothing is there.
  static func status(of path: String) throws(StoreError) -> strata_file_status? {
    var status = strata_file_status()
    do throws(StoreError) {
      _ = try SystemCall.repeating("look at", path) { strata_stat(path, &status) }
      return status
    } catch {
      guard error.systemCode == ENOENT || error.systemCode == ENOTDIR else { throw error }
      return nil
    }
  }

  /// The parent folder, or nil for the root and for a single relative name.
  static func parent(of path: String) -> String? {
    var rest = Substring(path)
    while rest.count > 1 && rest.hasSuffix("/") { rest.removeLast() }
    guard let slash = rest.lastIndex(of: "/"), rest != "/" else { return nil }
    return slash == rest.startIndex ? "/" : String(rest[..<slash])
  }
}

extension strata_file_status {
  /// Distinguishes this file from all others that exist at the same time.
  var identity: String { "device \(device) file \(inode)" }
}
