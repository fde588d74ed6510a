// Where an export is written: standard output, a pipe, or a file that gets its name only when it is complete.

package import LogreplayShell
internal import StrataBase
internal import StrataLog

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The target of an export, written from its beginning to its end, once. Belongs to one thread; every call blocks.
///
/// A file is written under a temporary name beside its own, synced, and renamed by `finish`. So an export that fails or
/// is killed leaves nothing under the name, and what was there before stays. What is not finished is removed when the
/// target is released. A name that ends in `.gz` is compressed by the gzip program. A path at which there is something
/// that is no file, as a pipe or a device, is written as it is.
package final class ExportTarget {
  /// The name used in messages.
  let name: String
  /// Whether it is standard output: reports then go elsewhere.
  let isStandardOutput: Bool
  private var descriptor: Int32
  /// The file's own path and the one that it has until it is finished; nil for what is written as it is.
  private let file: (path: String, temporary: String)?
  private let replaces: Bool
  /// Whether the file has its name.
  private var isFinished = false
  private var gzip: ChildProgram?
  /// The bytes that are not written yet.
  private var buffer: [UInt8] = []
  /// The number of bytes that were given, before compression.
  private(set) var byteCount: UInt64 = 0

  private static let pieceSize = 256 << 10

  /// Opens a target.
  ///
  /// - Parameter replaces: whether a file that has the name is replaced once the export is complete. If not, it is
  ///   refused now, and again at the end.
  package init(_ path: String, replaces: Bool) throws(CommandFailure) {
    self.replaces = replaces
    isStandardOutput = path == "-"
    name = isStandardOutput ? "standard output" : path
    guard !isStandardOutput else {
      (descriptor, file) = (STDOUT_FILENO, nil)
      return
    }
    guard !path.isEmpty else {
      throw CommandFailure(
        ExitStatus.usage, "the path to export to is empty",
        next: "give the path of a file, or - for standard output")
    }
    switch Self.kind(of: path) {
    case S_IFDIR:
      throw CommandFailure(
        ExitStatus.cannotCreate, "the path to export to is a folder", at: path,
        next: "give the path of a file in it")
    case S_IFREG where !replaces: throw Self.exists(path)
    case S_IFREG, nil:
      let own = Self.resolved(path)
      let temporary = "\(own)-\(String(PosixFileSystem().freshToken(), radix: 16)).tmp"
      file = (own, temporary)
      // Noted first: a signal may come before the next line.
      UnfinishedFiles.add(temporary)
      descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    default:
      file = nil
      descriptor = open(path, O_WRONLY | O_CLOEXEC)
    }
    guard descriptor >= 0 else {
      let code = errno
      if let file { UnfinishedFiles.forget(file.temporary) }
      throw CommandFailure(
        ExitStatus.cannotCreate, "the file to export to cannot be created: \(systemMessage(code))", at: path,
        next: "check the path and the permissions")
    }
    if path.hasSuffix(".gz") { try startGzip() }
  }

  deinit {
    gzip = nil
    if !isStandardOutput, descriptor >= 0 { close(descriptor) }
    guard let file, !isFinished else { return }
    unlink(file.temporary)
    UnfinishedFiles.forget(file.temporary)
  }

  /// The path of the file while it is not finished, for another program that writes to it; nil for what is written as it
  /// is.
  package var temporaryPath: String? { file?.temporary }

  /// Writes bytes. Throws `BrokenPipe` if the reader of a pipe has closed it, which is a success.
  package func write(_ bytes: UnsafeRawBufferPointer) throws {
    byteCount += UInt64(bytes.count)
    guard buffer.count + bytes.count > Self.pieceSize else {
      buffer += bytes
      return
    }
    try flush()
    if bytes.count > Self.pieceSize { try pass(bytes) } else { buffer += bytes }
  }

  package func write(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try write($0) } }

  package func write(_ text: String) throws { try write(Array(text.utf8)) }

  /// Writes what is buffered: for a reader that waits for it, and before a long pause.
  func flush() throws {
    guard !buffer.isEmpty else { return }
    defer { buffer.removeAll(keepingCapacity: true) }
    try buffer.withUnsafeBytes { try pass($0) }
  }

  /// Completes the target. A file is synced and then gets its name.
  package func finish() throws {
    try flush()
    try finishGzip()
    guard let file else { return }
    guard fsync(descriptor) == 0 else { throw refused(errno) }
    close(descriptor)
    descriptor = -1
    let files = PosixFileSystem()
    do throws(StoreError) {
      if replaces {
        try files.rename(file.temporary, to: file.path)
      } else {
        guard Self.kind(of: file.path) == nil else {
          throw StoreError.refused("rename", file.path, code: EEXIST)
        }
        try files.renameNew(file.temporary, to: file.path)
      }
      try files.syncDirectory(Self.folder(of: file.path))
    } catch {
      if error.systemCode == EEXIST { throw Self.exists(name) }
      throw CommandFailure(error)
    }
    isFinished = true
    UnfinishedFiles.forget(file.temporary)
  }

  // MARK: Writing

  private func pass(_ bytes: UnsafeRawBufferPointer) throws {
    if let gzip, let input = gzip.input {
      do throws(StoreError) { try input.write(bytes) } catch {
        // gzip ends before its input does only if it cannot write, and says why.
        try finishGzip()
        throw CommandFailure(error)
      }
      return
    }
    var rest = bytes
    while rest.count > 0 {
      #if canImport(Darwin)
        let count = Darwin.write(descriptor, rest.baseAddress, rest.count)
      #elseif canImport(Musl)
        let count = Musl.write(descriptor, rest.baseAddress, rest.count)
      #else
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      #endif
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      } else if errno == EAGAIN {
        var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&place, 1, -1)
      } else if errno != EINTR {
        throw refused(errno)
      }
    }
  }

  private func refused(_ code: Int32) -> any Error {
    if code == EPIPE { return BrokenPipe() }
    let full = code == ENOSPC || code == EDQUOT
    return CommandFailure(
      ExitStatus.inputOutput,
      full ? "the disk is full" : "the export cannot be written: \(systemMessage(code))", at: name,
      next: (full ? "free some space, or export to another disk" : "check the disk and the path") + left)
  }

  private var left: String { file == nil ? "" : "; nothing is left of this export" }

  // MARK: gzip

  private func startGzip() throws(CommandFailure) {
    do throws(StoreError) {
      gzip = try ChildProgram(
        "gzip", ["-c"], environment: ChildEnvironment.gzip, input: .pipe, output: .file(descriptor))
    } catch {
      throw CommandFailure(
        ExitStatus.inputOutput,
        "cannot start gzip: \(error.systemCode.map(systemMessage) ?? error.what)", at: name,
        next: ChildProgram.nextStep(after: error, starting: "gzip") + ", or give a name without .gz")
    }
  }

  private func finishGzip() throws {
    guard let child = gzip else { return }
    gzip = nil
    let end = child.wait()
    guard end != .code(0) else { return }
    let why = child.complaint
    guard !why.contains("Broken pipe") else { throw BrokenPipe() }
    guard !why.contains("No space left") else { throw refused(ENOSPC) }
    throw CommandFailure(
      ExitStatus.inputOutput, "gzip failed\(why.isEmpty ? "" : ": \(why)")", at: name,
      next: "check the disk and the path\(left)")
  }

  // MARK: Paths

  /// The kind of what is at a path, through links; nil if nothing is there.
  private static func kind(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  /// The path of the file itself, where the last part of a path is a link to one: the link stays.
  private static func resolved(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func exists(_ path: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.cannotCreate, "there is a file of this name already", at: path,
      next: "give another name, or --force to replace it once the export is complete")
  }
}
