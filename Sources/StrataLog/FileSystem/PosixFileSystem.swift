// The file system of the machine.

internal import CStrata

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
      case .readWrite: O_RDWR
      case .create: O_RDWR | O_CREAT
      case .createNew: O_RDWR | O_CREAT | O_EXCL
      }
    let descriptor = try SystemCall.repeating("open", path) { strata_open(path, flags, 0o666) }
    let file = PosixFile(path: path, descriptor: descriptor, transfers: transfers)
    guard try file.status("open").is_directory == 0 else {
      throw FileSystemError("open", path, code: EISDIR)
    }
    return file
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

  package func remove(_ path: String) throws(FileSystemError) {
    _ = try SystemCall.repeating("remove", path) { unlink(path) }
  }

  package func syncDirectory(_ path: String) throws(FileSystemError) {
    let descriptor = try SystemCall.repeating("open folder", path) {
      strata_open(path, O_RDONLY | O_DIRECTORY, 0)
    }
    let folder = PosixFile(path: path, descriptor: descriptor)
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
    try Self.status(of: path).map { "device \($0.device) file \($0.inode)" }
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
