// The file system of the machine.

internal import CStrata
package import StrataBase

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Files and folders of the machine, through POSIX calls.
///
/// New files get the permissions 0666 and folders 0777, less the process's umask.
package struct PosixFileSystem: FileSystem {
  private let transfers: SystemTransfers

  /// - Parameter transfers: how bytes are moved; a test hands in calls that are interrupted or do only a part.
  package init(transfers: SystemTransfers = .system) { self.transfers = transfers }

  /// Creates the folder and those above it that are missing, each made durable in the one above it.
  package func createDirectory(_ path: String) throws(FileSystemError) {
    if try kind(of: path) == .directory { return }
    let parent = Self.parent(of: path)
    if let parent {
      do throws(FileSystemError) {
        try createDirectory(parent)
      } catch {
        // What exists on the way and is no folder is not what the caller asked to create.
        let code = error.code == EEXIST ? ENOTDIR : error.code
        throw FileSystemError("create folder", path, code: code)
      }
    }
    do throws(FileSystemError) {
      _ = try SystemCall.repeating("create folder", path) { mkdir(path, 0o777) }
    } catch {
      guard error.code == EEXIST, try kind(of: path) == .directory else { throw error }
    }
    try syncDirectory(parent ?? ".")
  }

  package func contents(ofDirectory path: String) throws(FileSystemError) -> [String] {
    guard let directory = strata_directory_open(path) else {
      throw FileSystemError("list", path, code: strata_errno())
    }
    defer { strata_directory_close(directory) }
    var names: [String] = []
    while let name = strata_directory_next(directory) { names.append(String(cString: name)) }
    let code = strata_errno()
    guard code == 0 else { throw FileSystemError("list", path, code: code) }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  package func kind(of path: String) throws(FileSystemError) -> FileKind? {
    guard let status = try Self.status(of: path) else { return nil }
    if status.is_file != 0 { return .file }
    return status.is_directory != 0 ? .directory : .other
  }

  package func open(_ path: String, _ mode: FileOpenMode) throws(FileSystemError) -> any File {
    let flags =
      switch mode {
      case .read: O_RDONLY
      case .readWrite: O_RDWR | O_NOFOLLOW
      case .create: O_RDWR | O_NOFOLLOW | O_CREAT
      case .createNew: O_RDWR | O_NOFOLLOW | O_CREAT | O_EXCL
      }
    let descriptor: Int32
    do throws(FileSystemError) {
      // Of a pipe, the open would wait until somebody opens its other end. Of a regular file the flag says nothing.
      descriptor = try SystemCall.repeating("open", path) { strata_open(path, flags | O_NONBLOCK, 0o666) }
    } catch {
      throw try linkError(error)
    }
    let file = try PosixFile(path: path, descriptor: descriptor, transfers: transfers)
    guard file.opened.is_directory == 0 else { throw FileSystemError("open", path, code: EISDIR) }
    guard file.opened.is_file != 0 else {
      throw FileSystemError("open", path, code: SystemErrorCode.notRegularFile)
    }
    return file
  }

  /// The error of an open that follows no link, and what it says where that is the reason.
  private func linkError(_ error: FileSystemError) throws(FileSystemError) -> FileSystemError {
    // Systems disagree on the number: a link is a loop, no folder, or too many links.
    guard [ELOOP, ENOTDIR, EMLINK].contains(error.code), try isLink(error.path) else { return error }
    return FileSystemError(error.operation, error.path, code: SystemErrorCode.isLink)
  }

  package func rename(_ path: String, to newPath: String) throws(FileSystemError) {
    // `rename` alone would name this method.
    #if canImport(Darwin)
      _ = try SystemCall.repeating("rename", path) { Darwin.rename(path, newPath) }
    #elseif canImport(Musl)
      _ = try SystemCall.repeating("rename", path) { Musl.rename(path, newPath) }
    #else
      _ = try SystemCall.repeating("rename", path) { Glibc.rename(path, newPath) }
    #endif
  }

  package func renameNew(_ path: String, to newPath: String) throws(FileSystemError) {
    _ = try SystemCall.repeating("rename", path) { strata_rename_new(path, newPath) }
  }

  package func remove(_ path: String) throws(FileSystemError) {
    _ = try SystemCall.repeating("remove", path) { unlink(path) }
  }

  package func removeFiles(
    in folder: String, where isMeant: (String) -> Bool
  ) throws(FileSystemError) {
    guard let directory = strata_directory_open_itself(folder) else {
      let error = FileSystemError("list", folder, code: strata_errno())
      if error.code == ENOENT { return }
      throw try linkError(error)
    }
    defer { strata_directory_close(directory) }
    // Gathered first: a listing need not name what is left where names go meanwhile.
    var names: [String] = []
    while let name = strata_directory_next(directory) {
      let text = String(cString: name)
      if isMeant(text) { names.append(text) }
    }
    let code = strata_errno()
    guard code == 0 else { throw FileSystemError("list", folder, code: code) }
    for name in names {
      _ = try SystemCall.repeating("remove", "\(folder)/\(name)") { strata_directory_remove(directory, name) }
    }
  }

  package func isLink(_ path: String) throws(FileSystemError) -> Bool {
    let found = strata_is_link(path)
    guard found < 0 else { return found != 0 }
    let code = strata_errno()
    guard code == ENOENT || code == ENOTDIR else { throw FileSystemError("look at", path, code: code) }
    return false
  }

  package func absolutePath(_ path: String) -> String {
    guard !path.isEmpty, !path.hasPrefix("/") else { return path }
    // Where the working directory has no path any more, relative ones lead nowhere, now as later.
    guard let working = strata_working_directory() else { return path }
    defer { strata_free(working) }
    var names = Substring(path)
    while names.hasPrefix("./") { names = names.dropFirst(2).drop { $0 == "/" } }
    let folder = String(cString: working)
    if names.isEmpty || names == "." { return folder }
    return folder.hasSuffix("/") ? "\(folder)\(names)" : "\(folder)/\(names)"
  }

  package func syncDirectory(_ path: String) throws(FileSystemError) {
    let descriptor = try SystemCall.repeating("open folder", path) {
      strata_open(path, O_RDONLY | O_DIRECTORY, 0)
    }
    let folder = try PosixFile(path: path, descriptor: descriptor)
    defer { folder.close() }
    do throws(FileSystemError) {
      try folder.sync()
    } catch {
      // Some foreign file systems cannot sync a folder at all and say EINVAL; their names are then as
      // durable as they can be.
      guard error.code == EINVAL else { throw FileSystemError("sync folder", path, code: error.code) }
    }
  }

  package func watch(_ folder: String) -> (any FolderWatch)? { PosixFolderWatch(folder) }

  package func identity(of path: String) throws(FileSystemError) -> String? {
    try Self.status(of: path)?.identity
  }

  /// What stands at the path, or nil where nothing does.
  static func status(of path: String) throws(FileSystemError) -> strata_file_status? {
    var status = strata_file_status()
    do throws(FileSystemError) {
      _ = try SystemCall.repeating("look at", path) { strata_stat(path, &status) }
      return status
    } catch {
      guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
      return nil
    }
  }

  /// The folder above, or nil for the root and for a single relative name.
  static func parent(of path: String) -> String? {
    var rest = Substring(path)
    while rest.count > 1 && rest.hasSuffix("/") { rest.removeLast() }
    guard let slash = rest.lastIndex(of: "/"), rest != "/" else { return nil }
    return slash == rest.startIndex ? "/" : String(rest[..<slash])
  }
}

extension strata_file_status {
  /// What tells this file from all others that exist at the same time.
  var identity: String { "device \(device) file \(inode)" }
}
