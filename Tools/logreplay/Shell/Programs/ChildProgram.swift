// A child process: git, gzip or sqlite3, whose output is read as it arrives, or a program of the user.

internal import StrataBase
package import StrataLog

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A program that runs as a child process.
package final class ChildProgram {
  /// How a child ended.
  package enum End: Equatable {
    case code(Int32)
    case signal(Int32)
  }

  /// Where a child's standard input comes from.
  package enum Input {
    case nothing
    /// An open file; the child gets a duplicate of its descriptor.
    case file(Int32)
    /// A pipe, with `input` as its write end.
    case pipe
  }

  /// Where a child's output goes.
  package enum Output: Equatable {
    /// Standard output to a pipe, with `output` as its read end. Standard error is kept for messages.
    case pipe
    /// Standard output to an open file; the child gets a duplicate of its descriptor. Standard error is kept for
    /// messages.
    case file(Int32)
    /// Both to the standard error of this process.
    case standardError
  }

  let program: String
  /// The child's standard output; closed if it goes elsewhere.
  package let output: PipeEnd
  /// The write end of the child's standard input, if it was requested as a pipe and not yet taken.
  package private(set) var input: PipeEnd?
  private let errors: Int32
  private var process: pid_t = 0
  private var end: End?

  /// Starts a program, which is found through `PATH`.
  ///
  /// - Throws: an error with the system's error code; `SystemErrorCode.notFound` if there is no such program.
  package init(
    _ program: String, _ arguments: [String], environment: [String], input source: Input = .nothing,
    output target: Output = .pipe
  ) throws(StoreError) {
    self.program = program
    let (outputRead, outputWrite) = target == .pipe ? try Self.makePipe() : (-1, -1)
    output = PipeEnd(outputRead)
    defer { if outputWrite >= 0 { close(outputWrite) } }
    var childInput: Int32
    var ownsChildInput = true
    switch source {
    case .nothing:
      input = nil
      childInput = open("/dev/null", O_RDONLY | O_CLOEXEC)
    case .file(let file):
      input = nil
      childInput = file
      ownsChildInput = false
    case .pipe:
      let (read, write) = try Self.makePipe()
      input = PipeEnd(write)
      childInput = read
    }
    defer { if ownsChildInput { close(childInput) } }
    errors = target == .standardError ? -1 : Self.makeScratchFile()
    let childOutput =
      switch target {
      case .pipe: outputWrite
      case .file(let file): file
      case .standardError: STDERR_FILENO
      }
    let code = Self.spawn(
      [program] + arguments, environment, input: childInput, output: childOutput,
      errors: errors < 0 ? STDERR_FILENO : errors, &process)
    guard code == 0 else {
      // There is no process, and `deinit` must not wait for one.
      end = .code(code)
      throw .refused("start", program, code: code)
    }
  }

  deinit {
    if end == nil, process > 0 {
      kill(process, SIGKILL)
      _ = wait()
    }
    if errors >= 0 { close(errors) }
  }

  /// Closes the pipes and waits until the child has ended.
  package func wait() -> End {
    if let end { return end }
    input?.close()
    output.close()
    // A child of which the system does not report how it ended counts as failed.
    var status: Int32 = 0xFF << 8
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    let result = signal == 0 ? End.code(status >> 8 & 0xFF) : .signal(signal)
    end = result
    return result
  }

  /// Transfers the child's standard input to the caller, which must close it.
  package func takeInput() -> PipeEnd? {
    defer { input = nil }
    return input
  }

  /// The beginning of what the child wrote to standard error, on one line.
  package var complaint: String {
    var bytes = [UInt8](repeating: 0, count: 2048)
    let count = pread(errors, &bytes, bytes.count, 0)
    guard count > 0 else { return "" }
    return Self.oneLine(String(decoding: bytes[..<count], as: UTF8.self))
  }

  /// Lines of a message as one: what a line announces, as a command, follows it without a semicolon.
  static func oneLine(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).reduce("") { whole, line in
      let line = line.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
      guard !line.isEmpty, let last = whole.last else { return whole + line }
      return whole + (":,;.!?".contains(last) ? " " : "; ") + line
    }
  }

  /// What to do after a program could not be started.
  package static func nextStep(after error: StoreError, starting program: String) -> String {
    switch error.systemCode {
    case SystemErrorCode.notFound where program.contains("/"): "check the path of the program"
    case SystemErrorCode.notFound where program.contains(" "):
      "give the program and its arguments as words of their own: \(program)"
    case SystemErrorCode.notFound: "install \(program)"
    case SystemErrorCode.tooManyOpenFiles: "raise the limit of open files (ulimit -n)"
    default: "check that \(program) can be run here"
    }
  }

  private static func makePipe() throws(StoreError) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw .refused("make", "a pipe", code: errno) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// A file without a name. /dev/null if none can be created; error messages then lack the child's own words.
  private static func makeScratchFile() -> Int32 {
    var name = Array("/tmp/logreplay.XXXXXX".utf8CString)
    let file = mkstemp(&name)
    guard file >= 0 else { return open("/dev/null", O_RDWR | O_CLOEXEC) }
    unlink(name)
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    return file
  }

  private static func spawn(
    _ arguments: [String], _ environment: [String], input: Int32, output: Int32, errors: Int32,
    _ process: inout pid_t
  ) -> Int32 {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
    // This thread may block SIGPIPE, and a child must not inherit that mask.
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var argumentPointers = arguments.map { strdup($0) } + [nil]
    defer { for pointer in argumentPointers { free(pointer) } }
    var environmentPointers = environment.map { strdup($0) } + [nil]
    defer { for pointer in environmentPointers { free(pointer) } }
    return posix_spawnp(
      &process, arguments[0], &actions, &attributes, &argumentPointers, &environmentPointers)
  }
}

/// One end of a pipe. Blocks.
package final class PipeEnd: @unchecked Sendable {
  // Sendable because only one thread at a time uses an end: the thread that feeds a child, or the one that reads it.
  /// Negative once it is closed.
  package private(set) var descriptor: Int32

  package init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close() }

  /// Reads the available bytes, at least one; 0 at the end.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    try readAvailable(descriptor, into: buffer, of: "a pipe")
  }

  /// Writes all bytes. Throws if the reader has closed the pipe; the thread must block SIGPIPE.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    var rest = bytes
    while !rest.isEmpty {
      #if canImport(Darwin)
        let count = Darwin.write(descriptor, rest.baseAddress, rest.count)
      #elseif canImport(Musl)
        let count = Musl.write(descriptor, rest.baseAddress, rest.count)
      #else
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      #endif
      if count < 0 {
        if errno == EINTR { continue }
        throw .refused("write", "a pipe", code: errno)
      }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  package func close() {
    guard descriptor >= 0 else { return }
    #if canImport(Darwin)
      Darwin.close(descriptor)
    #elseif canImport(Musl)
      Musl.close(descriptor)
    #else
      Glibc.close(descriptor)
    #endif
    descriptor = -1
  }
}

/// Reads from a descriptor, and retries after an interruption. Returns 0 at the end.
package func readAvailable(
  _ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, of path: String
) throws(StoreError) -> Int {
  while true {
    let count = read(descriptor, buffer.baseAddress, buffer.count)
    if count >= 0 { return count }
    guard errno == EINTR else { throw .refused("read", path, code: errno) }
  }
}

/// Runs the body with SIGPIPE blocked: a write to a pipe without a reader then fails with an error instead of a signal.
package func withoutBrokenPipeSignal<Result, Failure: Error>(
  _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  var blocked = sigset_t()
  var before = sigset_t()
  sigemptyset(&blocked)
  sigaddset(&blocked, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &blocked, &before)
  defer {
    // A signal that arrived in between is consumed before the mask is restored.
    var pending = sigset_t()
    sigpending(&pending)
    if sigismember(&pending, SIGPIPE) == 1, sigismember(&before, SIGPIPE) == 0 {
      var number: Int32 = 0
      sigwait(&blocked, &number)
    }
    pthread_sigmask(SIG_SETMASK, &before, nil)
  }
  return try body()
}
