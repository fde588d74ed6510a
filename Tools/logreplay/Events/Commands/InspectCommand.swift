// `inspect`: starts the program that shows a store in a browser.

internal import ArgumentParser
internal import LogreplayShell

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

package struct InspectCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Shows a store in a browser: any list at any moment, what changed, and why.",
    discussion: """
      It starts logreplay-inspect, a program of its own: from beside this one, from Tools/inspect of the clone that this \
      one was built in, or from PATH. That serves one page on this machine alone, prints its address and opens it. It only \
      reads, works beside a process that writes, and ends with Control-C.

      The address has a token, without which nothing is answered. What the page shows is in the part of the address after \
      the #: a colleague who has the store opens the same view by it, after an address of their own.
      """)

  @OptionGroup var target: StoreArgument

  @Option(help: "The port. Default: one that is free.")
  var port: Int?

  @Flag(help: "Only print the address.")
  var noOpen = false

  private static let program = "logreplay-inspect"

  func perform() throws {
    if let port, !(0...65_535).contains(port) {
      throw CommandFailure(
        ExitStatus.usage, "a port is a number up to 65535", at: "--port", next: "give another")
    }
    var arguments: [String] = []
    if let port { arguments.append("--port=\(port)") }
    if noOpen { arguments.append("--no-open") }
    // A store whose name begins with a dash is no option.
    arguments += ["--", target.store]
    let own = OwnProgram.path
    for path in InspectProgramPaths(own: own, variable: Terminal.variable("PATH") ?? "").all
    where access(path, X_OK) == 0 { Self.become(path, arguments) }
    throw CommandFailure(
      ExitStatus.unsupported, "\(Self.program) is not there", at: own,
      next:
        "build it: swift build -c release --package-path \(ShellWord.of(InspectProgramPaths(own: own).package))"
    )
  }

  /// Puts the program in the place of this one. Returns if it cannot be started.
  private static func become(_ path: String, _ arguments: [String]) {
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    execv(path, &words)
    for word in words { free(word) }
  }
}

/// Where the program may be, in the order in which it is looked for.
struct InspectProgramPaths {
  private static let program = "logreplay-inspect"
  /// The path of the running program.
  let own: String
  /// The folders of PATH.
  var variable = ""

  var all: [String] {
    let folders = variable.split(separator: ":").filter { $0.hasPrefix("/") }
    // Nothing is started from the folder that somebody happens to be in.
    return ["\(Self.folder(of: own))/\(Self.program)"]
      + (clone.map { ["\($0)/Tools/inspect/.build/release/\(Self.program)"] } ?? [])
      + folders.map { "\($0)/\(Self.program)" }
  }

  /// The package that the program is built from: in the clone that this one was built in, if it was.
  var package: String { (clone.map { "\($0)/" } ?? "") + "Tools/inspect" }

  /// The clone that the running program was built in; nil if it is elsewhere.
  private var clone: Substring? { own.firstRange(of: "/.build/").map { own[..<$0.lowerBound] } }

  private static func folder(of path: String) -> Substring {
    path.lastIndex(of: "/").map { path[..<$0] } ?? "."
  }
}

/// The file of the running program.
enum OwnProgram {
  static var path: String {
    #if canImport(Darwin)
      var size = UInt32(PATH_MAX)
      var buffer = [CChar](repeating: 0, count: Int(size) + 1)
      guard _NSGetExecutablePath(&buffer, &size) == 0 else { return CommandLine.arguments[0] }
      return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    #else
      var buffer = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/self/exe", &buffer, buffer.count)
      guard count > 0 else { return CommandLine.arguments[0] }
      return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    #endif
  }
}
