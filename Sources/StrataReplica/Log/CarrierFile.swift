// A file of a carrier, for what reads files of a log.

internal import StrataBase
internal import StrataLog

/// Reads one file of a carrier, a large piece at a time. It cannot be written.
final class CarrierFile: File {
  private let files: any CarrierFiles
  private let name: String
  private let length: Int64
  private let isGone: @Sendable () -> Void

  /// - Parameters:
  ///   - size: the length that the file must have, in bytes.
  ///   - isGone: called when it is not there.
  init(_ files: any CarrierFiles, _ name: String, size: Int64, orElse isGone: @escaping @Sendable () -> Void)
  {
    self.files = files
    self.name = name
    self.isGone = isGone
    length = size
  }

  var path: String { files.place(of: name) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(StoreError) -> Int {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let count: Int?
      do throws(CarrierError) { count = try files.readFile(name, at: offset + Int64(done), into: rest) } catch
      {
        throw .carrier(error, files.name)
      }
      // The next manifest names what has taken its place.
      guard let count else {
        isGone()
        throw .replica(
          .carrierUnavailable, place: path, what: "the segment was replaced while it was read",
          next: "nothing: it is tried again")
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  func size() throws(StoreError) -> Int64 { length }
  func isStillAtItsPath() throws(StoreError) -> Bool { true }
  var identity: String? { nil }
  func willRead(at offset: Int64, count: Int) {}
  func dropCache() {}
  func takePermissions(of other: any File) {}
  func unlock() {}
  func close() {}

  private var readOnly: StoreError { .readOnly }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(StoreError) { throw readOnly }
  func truncate(to size: Int64) throws(StoreError) { throw readOnly }
  func sync() throws(StoreError) { throw readOnly }
  func syncData() throws(StoreError) { throw readOnly }
  func tryLock(_ kind: FileLockKind) throws(StoreError) -> Bool { throw readOnly }
}
