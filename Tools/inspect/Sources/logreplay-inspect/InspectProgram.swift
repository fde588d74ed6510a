// The program: opens a store for reading, serves its page on the loopback interface, and prints the address.

import ArgumentParser
import LogreplayInspect

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@main
struct InspectProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logreplay-inspect",
    abstract: "Shows a store in a browser: any list at any moment, what changed, and why.",
    discussion: """
      It serves one page on this machine alone, prints its address and opens it. The address has a token, without which \
      nothing is answered: give it to nobody. It only reads, and works beside a process that writes. It ends with \
      Control-C.
      """)

  @Argument(help: "The store's folder.")
  var store: String

  @Option(help: "The port. Default: one that is free.")
  var port = 0

  @Flag(help: "Only print the address.")
  var noOpen = false

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("a port is a number up to 65535") }
  }

  func run() async throws {
    // A page that is closed is an error of `write`.
    signal(SIGPIPE, SIG_IGN)
    // Before a socket is opened: that there is a store.
    do { _ = try Inspector(path: store, port: port, assets: [:]) } catch let error as InspectError {
      fail(error.description, code: error.code)
    }
    do {
      try await PageServer(port: port).run { [store, noOpen] port in
        let inspector = try Inspector(path: store, port: port, assets: PageAssets.all)
        print(inspector.access.address)
        fflush(nil)
        if !noOpen { Browser.open(inspector.access.addressForOnce()) }
        return inspector
      }
    } catch {
      fail(
        "logreplay-inspect: the server cannot run on port \(port): \(error)\n  give another --port, or none",
        code: 74)
    }
  }

  private func fail(_ text: String, code: Int32) -> Never {
    let line = Array("\(text)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    Self.exit(withError: ExitCode(code))
  }
}

/// The browser of the person at this machine.
enum Browser {
  /// Opens an address, if there is a screen. It is seen in the list of processes, so it is good for once.
  static func open(_ address: String) {
    #if canImport(Darwin)
      let program = "open"
    #else
      let program = "xdg-open"
      guard getenv("DISPLAY") != nil || getenv("WAYLAND_DISPLAY") != nil else { return }
    #endif
    var process: pid_t = 0
    var arguments = [strdup(program), strdup(address), nil]
    defer { for argument in arguments { free(argument) } }
    posix_spawnp(&process, program, nil, nil, &arguments, environ)
  }
}
