// Runs another process and measures it whole: from its start to its end.

internal import Foundation

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A process that ran and ended.
struct ChildProcess {
  /// The time from its start until its end was known, in seconds.
  private(set) var seconds = 0.0
  /// The processor time of all its threads, in seconds. Other programs on the machine affect it little.
  private(set) var processorSeconds = 0.0
  /// The most memory that it had at once, in bytes.
  private(set) var peakMemory = 0
  /// What it wrote to standard output.
  private(set) var output = ""

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// This program.
  static var own: String { Bundle.main.executablePath ?? CommandLine.arguments[0] }

  /// A program in the folder of this one; nil if there is none.
  static func beside(_ name: String) -> String? {
    let path = (own as NSString).deletingLastPathComponent + "/\(name)"
    return FileManager.default.isExecutableFile(atPath: path) ? path : nil
  }

  /// Runs a program, reads its standard output, and waits for its end. Blocks.
  init(_ program: String, _ arguments: [String]) throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Failure(description: "no pipe: error \(errno)") }
    defer { close(ends[0]) }
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addclose(&actions, ends[0])
    posix_spawn_file_actions_addclose(&actions, ends[1])
    var words = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var process: pid_t = 0
    let start = ContinuousClock.now
    let error = posix_spawn(&process, program, &actions, nil, &words, environ)
    close(ends[1])
    guard error == 0 else { throw Failure(description: "\(program) does not start: error \(error)") }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(ends[0], &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { break }
      bytes += buffer[..<count]
    }
    var status: Int32 = 0
    var usage = rusage()
    while wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
    seconds = (ContinuousClock.now - start) / .seconds(1)
    processorSeconds = [usage.ru_utime, usage.ru_stime]
      .reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
    #if canImport(Darwin)
      peakMemory = Int(usage.ru_maxrss)
    #else
      peakMemory = Int(usage.ru_maxrss) << 10
    #endif
    output = String(decoding: bytes, as: UTF8.self)
    guard status == 0 else {
      throw Failure(description: "\(program) \(arguments.joined(separator: " ")) ended with status \(status)")
    }
  }
}
