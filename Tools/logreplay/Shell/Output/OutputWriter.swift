// Standard output, buffered in pieces of 64 KiB; or an answer that is kept in memory.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Thrown if the reader of the output has closed it. Many pipelines end like this, so it counts as success.
package struct BrokenPipe: Error {
  package init() {}
}

/// Buffers output and writes it in large pieces. Belongs to one thread.
package struct OutputWriter: ~Copyable {
  /// The size in bytes at which the buffer is written.
  package static let pieceSize = 64 << 10

  /// The bytes not yet written; append to them, then call `flushIfLarge`.
  package var bytes: [UInt8] = []
  /// Nil for a writer that only keeps the bytes.
  private let descriptor: Int32?
  /// The size in bytes at which the buffer is written, or the most that is kept.
  private let limit: Int

  package init(descriptor: Int32 = STDOUT_FILENO) {
    self.descriptor = descriptor
    limit = Self.pieceSize
    bytes.reserveCapacity(Self.pieceSize + (16 << 10))
  }

  /// A writer that keeps everything in `bytes`. Beyond the limit, `flushIfLarge` and `flush` throw.
  package init(keepingAtMost limit: Int) {
    descriptor = nil
    self.limit = limit
  }

  /// Adds a line of text.
  package mutating func line(_ text: String) throws {
    bytes += text.utf8
    bytes.append(UInt8(ascii: "\n"))
    try flushIfLarge()
  }

  @inline(__always)
  package mutating func flushIfLarge() throws {
    if bytes.count >= limit { try flush() }
  }

  /// Writes everything in the buffer.
  ///
  /// Throws `BrokenPipe` if the reader has closed the output, and an I/O failure if the system refuses the write, as
  /// on a full disk.
  package mutating func flush() throws {
    guard !bytes.isEmpty else { return }
    guard let descriptor else {
      if bytes.count <= limit { return }
      throw CommandFailure(
        ExitStatus.usage, "the answer has more than \(limit) bytes", next: "ask for less at a time")
    }
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
        at: "standard output", next: "free some space, or write the output somewhere else")
    }
  }

  /// Throws `BrokenPipe` if the reader has closed the output, which a write would notice only later.
  package func checkReader() throws {
    guard let descriptor else { return }
    var place = pollfd(fd: descriptor, events: 0, revents: 0)
    if poll(&place, 1, 0) == 1, place.revents & Int16(POLLERR) != 0 { throw BrokenPipe() }
  }
}
