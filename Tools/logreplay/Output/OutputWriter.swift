// Standard output, gathered into pieces of 64 KiB.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Thrown when whoever read the output has gone. That is how many pipelines end: a success.
struct BrokenPipe: Error {}

/// Gathers output and writes it in large pieces. Belongs to one thread.
struct OutputWriter: ~Copyable {
  /// What is gathered before it is written.
  static let pieceSize = 64 << 10

  /// What was not written yet; append to it, then call `flushIfLarge`.
  var bytes: [UInt8] = []
  private let descriptor: Int32

  init(descriptor: Int32 = STDOUT_FILENO) {
    self.descriptor = descriptor
    bytes.reserveCapacity(Self.pieceSize + (16 << 10))
  }

  /// Adds a line of text.
  mutating func line(_ text: String) throws {
    bytes += text.utf8
    bytes.append(UInt8(ascii: "\n"))
    try flushIfLarge()
  }

  @inline(__always)
  mutating func flushIfLarge() throws {
    if bytes.count >= Self.pieceSize { try flush() }
  }

  /// Writes everything that was gathered.
  ///
  /// Throws `BrokenPipe` where nobody reads any more, and a failure of input and output where the system
  /// refuses, as on a full disk.
  mutating func flush() throws {
    guard !bytes.isEmpty else { return }
    defer { bytes.removeAll(keepingCapacity: true) }
    let code = bytes.withUnsafeBytes { buffer -> Int32 in
      var rest = buffer
      while rest.count > 0 {
        let count = write(descriptor, rest.baseAddress, rest.count)
        if count >= 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        } else if errno == EAGAIN {
          var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&place, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return 0
    }
    if code == EPIPE { throw BrokenPipe() }
    guard code == 0 else {
      throw CommandFailure(
        ExitStatus.inputOutput, "the output cannot be written: \(String(cString: strerror(code)))",
        at: "standard output", next: "make room, or write it somewhere else")
    }
  }

  /// Throws `BrokenPipe` where whoever read the output has gone, which a write would notice only later.
  func checkReader() throws {
    var place = pollfd(fd: descriptor, events: 0, revents: 0)
    if poll(&place, 1, 0) == 1, place.revents & Int16(POLLERR) != 0 { throw BrokenPipe() }
  }
}
