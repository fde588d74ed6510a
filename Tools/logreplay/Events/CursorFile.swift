// The file that stores how far a reader has read: `SEQUENCE@CHAIN` and a line feed.

internal import StrataBase
internal import StrataEvents
internal import StrataLog

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A cursor in a file. The file is replaced atomically, so it holds either the old position or the new one.
struct CursorFile: Sendable {
  let path: String

  private static let lengthMax = 64

  /// The position in the file, or nil if there is no file.
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
      let text = String(decoding: bytes[..<count], as: UTF8.self)
      if let position = LogPosition(String(text.prefix { !$0.isNewline && $0 != " " })) { return position }
    } catch { throw Self.failure(error, path) }
    throw CommandFailure(
      ExitStatus.corrupt, "the file does not hold a cursor", at: path,
      next: "a cursor is SEQUENCE@CHAIN; delete the file to start over")
  }

  /// Replaces the file.
  func write(_ position: LogPosition) throws(CommandFailure) {
    let system = PosixFileSystem()
    let temporary = "\(path).\(processID()).tmp"
    do throws(StoreError) {
      let file = try system.open(temporary, .create)
      do throws(StoreError) {
        let text = Array("\(position)\n".utf8)
        try text.lendBytes { bytes throws(StoreError) in try file.write(bytes, at: 0) }
        try file.truncate(to: Int64(text.count))
        // Otherwise the name may be on disk before the bytes.
        try file.syncData()
        file.close()
        try system.rename(temporary, to: path)
      } catch {
        file.close()
        try? system.remove(temporary)
        throw error
      }
    } catch { throw Self.failure(error, path) }
  }

  private static func failure(_ error: StoreError, _ path: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.inputOutput, error.reason == .linked ? "it is a symbolic link" : error.what, at: path,
      next: "check the path and the permissions of the cursor file")
  }
}
