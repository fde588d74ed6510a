// Where the bytes of records come from: a file or a pipe, or the output of a program.

internal import LogreplayShell

/// Bytes that are read from their beginning to their end, once.
protocol ImportByteSource: AnyObject {
  /// Reads the next bytes, at least one. 0 is the end, once `finish` has confirmed it.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(CommandFailure) -> Int

  /// Checks that the end was the end of all. Throws if it was cut short.
  func finish() throws(CommandFailure)
}
