// The file to which bad records go: what they are, where they were, and why they are bad.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataLog

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Writes a line of JSON for each bad record: `{"column":c,"line":n,"record":"…","why":"…"}`. A record that is not UTF-8
/// is `{"b64":"…"}`, and one that is too long is null.
///
/// The file is made with the first bad record. One that is there already is replaced: a second run meets the same
/// bad records again.
final class ImportBadFile {
  private static let bufferLength = 64 << 10
  private let path: String
  private var descriptor: Int32 = -1
  private var buffer: [UInt8] = []

  init(_ path: String) { self.path = path }

  /// Whether a path is that of the input, which would be emptied while it is read.
  static func isSame(_ path: String, as input: String) -> Bool {
    var (own, other) = (stat(), stat())
    guard stat(path, &own) == 0 else { return path == input }
    guard (input == "-" ? fstat(0, &other) : stat(input, &other)) == 0 else { return false }
    return own.st_dev == other.st_dev && own.st_ino == other.st_ino && other.st_mode & S_IFMT == S_IFREG
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func add(
    _ bad: ImportBadRecord, line: UInt64, column: Int, _ bytes: [UInt8]
  ) throws(CommandFailure) {
    let record: DocumentValue =
      bytes.isEmpty ? .null : String(validating: bytes, as: UTF8.self).map { .string($0) } ?? .bytes(bytes)
    let object: DocumentObject = [
      "line": DocumentValue(line), "column": .int(Int64(column)), "why": .string(bad.why), "record": record,
    ]
    buffer += DocumentValue.object(object).jsonBytes()
    buffer.append(0x0A)
    if descriptor < 0 || buffer.count >= Self.bufferLength { try flush() }
  }

  /// Writes what is left.
  func end() throws(CommandFailure) { try flush() }

  private func flush() throws(CommandFailure) {
    if buffer.isEmpty { return }
    if descriptor < 0 { descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666) }
    var done = 0
    while descriptor >= 0, done < buffer.count {
      let count = buffer.withUnsafeBytes { write(descriptor, $0.baseAddress! + done, $0.count - done) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { break }
      done += count
    }
    guard done == buffer.count else {
      throw CommandFailure(
        ExitStatus.inputOutput, "cannot write the bad records: \(systemMessage(errno))", at: path,
        next: "name with --skip-errors a file that can be written, and import again")
    }
    buffer.removeAll(keepingCapacity: true)
  }
}
