// The temporary file of a sort: sorted runs of lines, written one after another and read at the same time.

internal import LogreplayShell
internal import StrataBase
internal import StrataLog

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A file without a name, which the system removes when the process ends, however it ends.
///
/// A record is the two numbers of its key, the length of the key's bytes, the length of its own bytes (8 bytes each), and
/// the bytes of both.
package final class ImportSortFile {
  /// A part of the file with records in order.
  struct Run {
    var begin: Int64
    var end: Int64
  }

  static let headLength = 32
  private static let bufferLength = 1 << 20
  private let folder: String
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var flushed: Int64 = 0
  /// The runs in the file.
  private(set) var runs: [Run] = []
  private var runBegin: Int64 = 0

  /// - Parameter folder: where the file is made. It needs as much room as the lines to be sorted, or twice that where
  ///   they are more than a few gigabytes.
  init(in folder: String) throws(CommandFailure) {
    self.folder = folder
    var name = Array("\(folder)/.logreplay-sort.XXXXXX".utf8CString)
    descriptor = mkstemp(&name)
    guard descriptor >= 0 else { throw Self.failure("make a temporary file", errno, folder) }
    unlink(name)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  deinit { close(descriptor) }

  /// Where temporary files are made: the folder that TMPDIR names, or else the one in which the store is.
  package static func folder(besides store: String) -> String {
    if let folder = ProcessInfo.processInfo.environment["TMPDIR"], !folder.isEmpty { return folder }
    let parent = PosixFileSystem().absolutePath(store).split(separator: "/").dropLast().joined(separator: "/")
    return "/" + parent
  }

  /// Adds a record to the run that is being written.
  func add(_ key: some ImportSortable, _ bytes: UnsafeRawBufferPointer) throws(CommandFailure) {
    let name = key.name
    if buffer.count + Self.headLength + name.count + bytes.count > Self.bufferLength { try flush() }
    let words = key.words
    for word in [words.0, words.1, UInt64(name.count), UInt64(bytes.count)] {
      withUnsafeBytes(of: word.littleEndian) { buffer.append(contentsOf: $0) }
    }
    buffer.append(contentsOf: name)
    buffer.append(contentsOf: bytes)
  }

  /// Ends the run that is being written.
  func endRun() throws(CommandFailure) {
    try flush()
    if flushed > runBegin { runs.append(Run(begin: runBegin, end: flushed)) }
    runBegin = flushed
  }

  /// Reads bytes at an offset; all of them were written.
  func read(at offset: Int64, into target: UnsafeMutableRawBufferPointer) throws(CommandFailure) {
    var done = 0
    while done < target.count {
      let count = pread(
        descriptor, target.baseAddress! + done, target.count - done, off_t(offset) + off_t(done))
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw Self.failure("read the temporary file", count < 0 ? errno : EIO, folder) }
      done += count
    }
  }

  private func flush() throws(CommandFailure) {
    var done = 0
    while done < buffer.count {
      let count = buffer.withUnsafeBytes { bytes in
        pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(flushed))
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw Self.failure("write the temporary file", errno, folder) }
      done += count
      flushed += Int64(count)
    }
    buffer.removeAll(keepingCapacity: true)
  }

  private static func failure(_ what: String, _ code: Int32, _ folder: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.inputOutput, "cannot \(what) of the sort: \(systemMessage(code))", at: folder,
      next: "name with TMPDIR a folder that has room for all lines; nothing was appended")
  }
}

/// Reads the records of one run in order, through a window of bounded size.
final class ImportSortRunReader<Key: ImportSortable> {
  private static var windowLength: Int { 64 << 10 }
  private let file: ImportSortFile
  private let end: Int64
  /// Where the next record begins.
  private var offset: Int64
  private var window: [UInt8] = []
  private var windowBegin: Int64
  /// The key of the next record; nil at the end.
  private(set) var key: Key?
  private var length = 0
  private var nameLength = 0

  init(_ run: ImportSortFile.Run, of file: ImportSortFile) throws(CommandFailure) {
    self.file = file
    end = run.end
    offset = run.begin
    windowBegin = run.begin
    try readHead()
  }

  /// Replaces `bytes` with those of the next record, and goes to the one after it.
  func take(into bytes: inout [UInt8]) throws(CommandFailure) {
    let begin = offset + Int64(ImportSortFile.headLength + nameLength)
    if bytes.count < length {
      bytes = [UInt8](repeating: 0, count: length)
    } else {
      bytes.removeLast(bytes.count - length)
    }
    try copy(from: begin, into: &bytes)
    offset = begin + Int64(length)
    try readHead()
  }

  private func readHead() throws(CommandFailure) {
    guard offset < end else { return key = nil }
    var head = [UInt8](repeating: 0, count: ImportSortFile.headLength)
    try copy(from: offset, into: &head)
    func word(_ index: Int) -> UInt64 {
      head.withUnsafeBytes {
        UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
      }
    }
    nameLength = Int(clamping: word(2))
    length = Int(clamping: word(3))
    var name = [UInt8](repeating: 0, count: nameLength)
    if nameLength > 0 { try copy(from: offset + Int64(ImportSortFile.headLength), into: &name) }
    key = Key(words: (word(0), word(1)), name: name)
  }

  /// Copies bytes of the run, out of the window if they fit into one.
  private func copy(from begin: Int64, into target: inout [UInt8]) throws(CommandFailure) {
    let count = target.count
    if begin < windowBegin || begin + Int64(count) > windowBegin + Int64(window.count) {
      guard count <= Self.windowLength else {
        return try target.lendMutableBytes { bytes throws(CommandFailure) in
          try file.read(at: begin, into: bytes)
        }
      }
      window = [UInt8](repeating: 0, count: Int(min(Int64(Self.windowLength), end - begin)))
      windowBegin = begin
      try window.lendMutableBytes { bytes throws(CommandFailure) in try file.read(at: begin, into: bytes) }
    }
    let first = Int(begin - windowBegin)
    target.withUnsafeMutableBytes { target in
      window.withUnsafeBytes {
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[first..<first + count]))
      }
    }
  }
}
