// The file that stores how far a reader has read: `SEQUENCE@CHAIN` and a line feed.

package import LogreplayShell
internal import StrataBase
package import StrataEvents
internal import StrataLog

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A cursor in a file. The file is replaced atomically, so it holds either the old position or the new one. If the path
/// is a symbolic link, the file that it points to is replaced.
package struct CursorFile: Sendable {
  let path: String

  package init(path: String) {
    self.path = path
  }

  private static let lengthMax = 64
  private static let linksMax = 32

  /// The position in the file, as `read` gives it. Throws if the file could not be replaced later, before anything is
  /// printed.
  package func begin() throws(CommandFailure) -> LogPosition? {
    let position = try read()
    let system = PosixFileSystem()
    do throws(StoreError) {
      let temporary = Self.temporary(for: try Self.target(of: path))
      try system.open(temporary, .create).close()
      try system.remove(temporary)
    } catch { throw Self.failure(error, path) }
    return position
  }

  /// The position in the file, or nil if there is no file, or an empty one as `mktemp` makes.
  func read() throws(CommandFailure) -> LogPosition? {
    let system = PosixFileSystem()
    do throws(StoreError) {
      guard let kind = try system.kind(of: path) else { return nil }
      guard kind != .directory else { throw .refused("open", path, code: EISDIR) }
      let file = try system.open(path, .read)
      defer { file.close() }
      var bytes = [UInt8](repeating: 0, count: Self.lengthMax)
      let count = try bytes.lendMutableBytes { buffer throws(StoreError) in
        try file.read(into: buffer, at: 0)
      }
      if count == 0 { return nil }
      let text = String(decoding: bytes[..<count], as: UTF8.self)
      if let position = LogPosition(String(text.prefix { !$0.isNewline && $0 != " " })) { return position }
    } catch { throw Self.failure(error, path) }
    throw CommandFailure(
      ExitStatus.corrupt, "the file does not hold a cursor", at: path,
      next: "a cursor is SEQUENCE@CHAIN; delete the file to start over")
  }

  /// Replaces the file.
  package func write(_ position: LogPosition) throws(CommandFailure) {
    let system = PosixFileSystem()
    do throws(StoreError) {
      let target = try Self.target(of: path)
      let temporary = Self.temporary(for: target)
      let file = try system.open(temporary, .create)
      do throws(StoreError) {
        let text = Array("\(position)\n".utf8)
        try text.lendBytes { bytes throws(StoreError) in try file.write(bytes, at: 0) }
        try file.truncate(to: Int64(text.count))
        // Otherwise the name may be on disk before the bytes.
        try file.syncData()
        file.close()
        try system.rename(temporary, to: target)
      } catch {
        file.close()
        try? system.remove(temporary)
        throw error
      }
    } catch { throw Self.failure(error, path) }
  }

  private static func temporary(for target: String) -> String { "\(target).\(processID()).tmp" }

  /// The path that symbolic links lead to. Nothing need be there yet.
  private static func target(of path: String) throws(StoreError) -> String {
    let system = PosixFileSystem()
    var target = path
    for _ in 0..<linksMax {
      guard try system.isLink(target) else { return target }
      let link = try content(ofLink: target)
      let folder = target.utf8.lastIndex(of: UInt8(ascii: "/")).map { target[...$0] } ?? ""
      target = link.utf8.first == UInt8(ascii: "/") ? link : folder + link
    }
    throw .refused("open", path, code: ELOOP)
  }

  private static func content(ofLink path: String) throws(StoreError) -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      count = buffer.withMemoryRebound(to: CChar.self) { max(0, readlink(path, $0.baseAddress!, $0.count)) }
    }
    guard !bytes.isEmpty else { throw .refused("read the link", path, code: errno) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .refused("follow the link", path, code: EILSEQ)
    }
    return text
  }

  private static func failure(_ error: StoreError, _ path: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.inputOutput, error.reason == .linked ? "it is a symbolic link" : error.what, at: path,
      next: "check the path and the permissions of the cursor file")
  }
}
