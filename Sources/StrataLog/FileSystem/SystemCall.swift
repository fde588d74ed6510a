// How a system call is made: retried after a signal interrupted it, continued if it did only part of the work, and its
// errno converted to a typed error.

internal import CStrata
internal import StrataBase

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The rules for retrying calls. Pure except for errno, so that tests can pass any call to them.
package enum SystemCall {
  /// Devices and foreign file systems may return EAGAIN, "not now". A file that returns nothing else is broken, so
  /// after this many retries the caller gets the error.
  package static let tryAgainCountMax = 1_000

  /// Makes a call that returns -1 on failure, and retries it until it succeeds or fails for another reason.
  package static func repeating<Count: SignedInteger>(
    _ operation: String, _ path: String, _ call: () -> Count
  ) throws(StoreError) -> Count {
    var tryAgainCount = 0
    while true {
      let result = call()
      if result != -1 { return result }
      let code = strata_errno()
      if code == EINTR { continue }
      if code == EAGAIN && tryAgainCount < tryAgainCountMax {
        tryAgainCount += 1
        sched_yield()
        continue
      }
      throw .refused(operation, path, code: code)
    }
  }

  /// Moves `count` bytes by calls that may move fewer, and returns how many were moved before a call moved none, which
  /// is the end of a file.
  /// - Parameter call: gets how many bytes were moved so far, and returns how many more it moved, or -1 with errno.
  package static func transferring(
    _ operation: String, _ path: String, count: Int, _ call: (_ done: Int) -> Int
  ) throws(StoreError) -> Int {
    var done = 0
    while done < count {
      let moved = try repeating(operation, path) { call(done) }
      if moved == 0 { break }
      done += moved
      assert(done <= count, "no call moves more bytes than requested")
    }
    return done
  }
}

/// The two calls that move bytes, with the contract of the system's: they return how many were moved, or -1 with errno.
package struct SystemTransfers: Sendable {
  package var read: @Sendable (_ descriptor: Int32, UnsafeMutableRawPointer, _ count: Int, _ at: Int64) -> Int
  package var write: @Sendable (_ descriptor: Int32, UnsafeRawPointer, _ count: Int, _ at: Int64) -> Int

  package init(
    read: @escaping @Sendable (Int32, UnsafeMutableRawPointer, Int, Int64) -> Int,
    write: @escaping @Sendable (Int32, UnsafeRawPointer, Int, Int64) -> Int
  ) {
    self.read = read
    self.write = write
  }

  package static let system = SystemTransfers(
    read: { pread($0, $1, $2, off_t($3)) }, write: { pwrite($0, $1, $2, off_t($3)) })
}
