// The bytes to import: a file or standard input, decompressed if it is gzip data.

internal import StrataBase
internal import StrataLog

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file or standard input, read from its beginning to its end, once.
final class ImportInput {
  /// The name used in messages.
  let name: String
  /// Whether it is a regular file: its name identifies it, and it has the same content when it is read again.
  let isFile: Bool
  /// The file's length on disk; nil if it is not known.
  let byteCount: Int64?
  private let descriptor: Int32
  private let ownsDescriptor: Bool
  /// Bytes that were read to recognise what the input is, and that `read` has not returned yet.
  private var head: [UInt8] = []
  private var gzip: ChildProgram?
  /// Whether something that is no gzip data follows the compressed lines, and was left out. Known after `finish`.
  private(set) var hasMoreThanGzip = false
  private let feedProblem = Lock<StoreError?>(nil)

  /// Opens a file, or standard input for `-`.
  init(_ path: String) throws(CommandFailure) {
    name = path == "-" ? "standard input" : path
    if path == "-" {
      descriptor = 0
      ownsDescriptor = false
    } else {
      descriptor = open(path, O_RDONLY | O_CLOEXEC)
      ownsDescriptor = true
      guard descriptor >= 0 else {
        let code = errno
        throw CommandFailure(
          code == ENOENT || code == ENOTDIR ? ExitStatus.notFound : ExitStatus.inputOutput,
          "cannot open the file to import: \(systemMessage(code))", at: path,
          next: "check the path and the permissions")
      }
    }
    var status = stat()
    isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    byteCount = isFile ? Int64(status.st_size) : nil
    if try readsMagic(isSeekable: isFile) { try startGzip(isSeekable: isFile) }
  }

  deinit {
    gzip = nil
    if ownsDescriptor { close(descriptor) }
  }

  /// The fraction of the file that was read, 0 to 1; nil if it is not known. gzip advances the same file offset.
  var fractionRead: Double? {
    byteCount.map { Double(max(0, lseek(descriptor, 0, SEEK_CUR))) / Double(max(1, $0)) }
  }

  /// Reads the next bytes. 0 is the end of the input, once `finish` has confirmed it.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(CommandFailure) -> Int {
    do throws(StoreError) {
      if !head.isEmpty {
        let count = min(head.count, buffer.count)
        head.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        head.removeFirst(count)
        return count
      }
      if let gzip { return try gzip.output.read(into: buffer) }
      return try readAvailable(descriptor, into: buffer, of: name)
    } catch {
      throw failure(error)
    }
  }

  /// The first bytes, which are read again by `read`: fewer than asked for only if the input is shorter.
  func peek(_ count: Int) throws(CommandFailure) -> [UInt8] {
    while head.count < count {
      var bytes = [UInt8](repeating: 0, count: count - head.count)
      let known = head
      head = []
      defer { head = known + head }
      let more = try bytes.lendMutableBytes { buffer throws(CommandFailure) in try read(into: buffer) }
      if more == 0 { break }
      head = Array(bytes[..<more])
    }
    return Array(head.prefix(count))
  }

  /// Checks that the end was the end of the whole input. Throws if a compressed stream was damaged or cut short.
  func finish() throws(CommandFailure) {
    guard let gzip else { return }
    let end = gzip.wait()
    if let problem = feedProblem.withLock({ $0 }) { throw failure(problem) }
    switch end {
    case .code(0):
      return
    case .code(2) where gzip.complaint.contains("trailing garbage ignored"):
      // A warning: all that is compressed was there, and its checksum is right.
      hasMoreThanGzip = true
    case .code:
      let why = gzip.complaint.replacingPrefix("gzip: ", with: "").replacingPrefix("stdin: ", with: "")
      throw CommandFailure(
        ExitStatus.corrupt, "the gzip stream is damaged or cut short\(why.isEmpty ? "" : ": \(why)")",
        at: name,
        next:
          "get the file again and import it; what was imported before the damage stays, and is not appended twice"
      )
    case .signal(let number):
      throw CommandFailure(
        ExitStatus.inputOutput, "gzip was ended by signal \(number)", at: name, next: "import it again")
    }
  }

  private func failure(_ error: StoreError) -> CommandFailure {
    CommandFailure(
      ExitStatus.inputOutput, error.what, at: name,
      next:
        "check the file and the disk, and import it again; what was imported stays, and is not appended twice"
    )
  }

  // MARK: gzip

  private static let magic: [UInt8] = [0x1F, 0x8B]

  private func readsMagic(isSeekable: Bool) throws(CommandFailure) -> Bool {
    if isSeekable {
      var bytes: [UInt8] = [0, 0]
      let start = max(0, lseek(descriptor, 0, SEEK_CUR))
      return pread(descriptor, &bytes, 2, start) == 2 && bytes == Self.magic
    }
    while head.count < 2 {
      var bytes = [UInt8](repeating: 0, count: 2 - head.count)
      let count: Int
      do throws(StoreError) {
        count = try bytes.lendMutableBytes { buffer throws(StoreError) in
          try readAvailable(descriptor, into: buffer, of: name)
        }
      } catch { throw failure(error) }
      if count == 0 { break }
      head += bytes[..<count]
    }
    return head == Self.magic
  }

  private func startGzip(isSeekable: Bool) throws(CommandFailure) {
    do throws(StoreError) {
      let child = try ChildProgram(
        "gzip", ["-dc"], environment: ChildEnvironment.gzip, input: isSeekable ? .file(descriptor) : .pipe)
      gzip = child
      if let input = child.takeInput() { try feed(input) }
    } catch {
      throw CommandFailure(
        ExitStatus.inputOutput,
        error.systemCode == SystemErrorCode.notFound
          ? "the input is compressed, and there is no gzip to decompress it"
          : "cannot start gzip: \(error.systemCode.map(systemMessage) ?? error.what)",
        at: name,
        next: ChildProgram.nextStep(after: error, starting: "gzip")
          + ", or pass the decompressed lines on standard input")
    }
  }

  /// Copies the input to gzip on a dedicated thread.
  private func feed(_ input: PipeEnd) throws(StoreError) {
    let head = head
    self.head = []
    try StoreMachine.process.start("import-feed") { [descriptor, name, feedProblem] in
      withoutBrokenPipeSignal {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var count = head.count
        buffer.replaceSubrange(..<count, with: head)
        while count > 0 {
          // If the input is damaged, gzip ends before its input does and reports the damage itself.
          guard
            (try? buffer.withUnsafeBytes { try input.write(UnsafeRawBufferPointer(rebasing: $0[..<count])) })
              != nil
          else { break }
          do throws(StoreError) {
            count = try buffer.lendMutableBytes { bytes throws(StoreError) in
              try readAvailable(descriptor, into: bytes, of: name)
            }
          } catch {
            feedProblem.withLock { $0 = error }
            break
          }
        }
        input.close()
      }
    }
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
    hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
  }
}
