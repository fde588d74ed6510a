// The bytes to import: a file or standard input, decompressed if it is gzip data or frames of lz4.

internal import LogreplayShell
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
package final class ImportInput: ImportByteSource {
  /// The name used in messages.
  package let name: String
  /// Whether it is a regular file: its name identifies it, and it has the same content when it is read again.
  let isFile: Bool
  /// The file's length on disk; nil if it is not known.
  let byteCount: Int64?
  /// Whether it is a database file of SQLite.
  private(set) var isSQLite = false
  private let descriptor: Int32
  private let ownsDescriptor: Bool
  /// Bytes that were read to recognise what the input is, and cannot be read again.
  private var head: [UInt8] = []
  private var gzip: ChildProgram?
  private var lz4: ImportLZ4?
  /// Decompressed bytes that were looked at, and not read yet.
  private var peeked: [UInt8] = []
  /// What follows compressed data and was left out, if there was something: the name of the format. Known after `finish`.
  private(set) var rest: String?
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
    switch try beginning() {
    case .gzip: try startGzip(isSeekable: isFile)
    case .lz4: lz4 = ImportLZ4()
    case .foreign(let what, let command):
      try ImportBeginning.foreign(what: what, command: command).check(name)
    case .sqlite: isSQLite = true
    case nil: break
    }
  }

  /// The first bytes of the content, decompressed, which `read` returns again: up to the first line feed after something
  /// that is not white space, but at most about `countMax`.
  func peek(_ countMax: Int = 64 << 10) throws(CommandFailure) -> [UInt8] {
    while peeked.count < countMax {
      let begin = peeked.firstIndex { $0 > 0x20 } ?? peeked.count
      if begin < peeked.count, peeked[begin...].contains(0x0A) { break }
      var more = [UInt8](repeating: 0, count: 64 << 10)
      let count = try more.lendMutableBytes { bytes throws(CommandFailure) in try readContent(into: bytes) }
      if count == 0 { break }
      peeked += more[..<count]
    }
    return peeked
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
    peeked.isEmpty ? try readContent(into: buffer) : take(&peeked, into: buffer)
  }

  private func readContent(into buffer: UnsafeMutableRawBufferPointer) throws(CommandFailure) -> Int {
    do throws(StoreError) {
      if let gzip { return try gzip.output.read(into: buffer) }
      if let lz4 {
        return try lz4.read(into: buffer) { bytes throws(StoreError) in try readRaw(into: bytes) }
      }
      return try readRaw(into: buffer)
    } catch {
      throw failure(error)
    }
  }

  private func readRaw(into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    head.isEmpty ? try readAvailable(descriptor, into: buffer, of: name) : take(&head, into: buffer)
  }

  private func take(_ bytes: inout [UInt8], into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(bytes.count, buffer.count)
    bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    bytes.removeFirst(count)
    return count
  }

  /// Checks that the end was the end of the whole input. Throws if a compressed stream was damaged or cut short.
  func finish() throws(CommandFailure) {
    if let lz4 {
      if let problem = lz4.problem { throw damaged("lz4", problem) }
      if lz4.hasMore { rest = "lz4" }
    }
    guard let gzip else { return }
    let end = gzip.wait()
    if let problem = feedProblem.withLock({ $0 }) { throw failure(problem) }
    switch end {
    case .code(0):
      return
    case .code(2) where gzip.complaint.contains("trailing garbage ignored"):
      // A warning: all that is compressed was there, and its checksum is right.
      rest = "gzip"
    case .code:
      let why = gzip.complaint.replacingPrefix("gzip: ", with: "").replacingPrefix("stdin: ", with: "")
      throw damaged("gzip", why)
    case .signal(let number):
      throw CommandFailure(
        ExitStatus.inputOutput, "gzip was ended by signal \(number)", at: name, next: "import it again")
    }
  }

  private func damaged(_ format: String, _ why: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt, "the \(format) stream is damaged or cut short\(why.isEmpty ? "" : ": \(why)")",
      at: name,
      next:
        "get the file again and import it; what was imported before the damage stays, and is not appended twice"
    )
  }

  private func failure(_ error: StoreError) -> CommandFailure {
    CommandFailure(
      ExitStatus.inputOutput, error.what, at: name,
      next:
        "check the file and the disk, and import it again; what was imported stays, and is not appended twice"
    )
  }

  /// What the first bytes are. Those of a file can be read again.
  private func beginning() throws(CommandFailure) -> ImportBeginning? {
    if isFile {
      var bytes = [UInt8](repeating: 0, count: ImportBeginning.lengthMax)
      let count = pread(descriptor, &bytes, bytes.count, max(0, lseek(descriptor, 0, SEEK_CUR)))
      return ImportBeginning.of(bytes.prefix(max(0, count)))
    }
    while head.isEmpty || ImportBeginning.isUndecided(head) {
      var bytes = [UInt8](repeating: 0, count: ImportBeginning.lengthMax - head.count)
      let count: Int
      do throws(StoreError) {
        count = try bytes.lendMutableBytes { buffer throws(StoreError) in
          try readAvailable(descriptor, into: buffer, of: name)
        }
      } catch { throw failure(error) }
      if count == 0 { break }
      head += bytes[..<count]
    }
    return ImportBeginning.of(head)
  }

  // MARK: gzip

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
