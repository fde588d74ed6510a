// The standard streams, and the terminal that they may be connected to.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The process's standard streams and environment.
package enum Terminal {
  package static var isOutput: Bool { isatty(STDOUT_FILENO) == 1 }
  package static var isError: Bool { isatty(STDERR_FILENO) == 1 }

  /// False if NO_COLOR is set to any non-empty value, or if TERM is `dumb`.
  static var wantsColor: Bool {
    variable("NO_COLOR") == nil && variable("TERM") != "dumb"
  }

  /// The number of columns of the terminal on standard output; nil if it is not a terminal.
  package static var width: Int? {
    var size = winsize()
    guard isOutput, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// The value of an environment variable; nil if it is unset or empty.
  package static func variable(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
  }

  /// Writes a line to standard error. A failure to write there is ignored, because it cannot be reported.
  package static func note(_ line: String, end: String = "\n") {
    var line = line + end
    line.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while rest.count > 0 {
        let count = write(STDERR_FILENO, rest.baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
    }
  }
}
