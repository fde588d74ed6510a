// An immutable, sorted key/value file: the index of one closed segment.

internal import StrataBase

/// An index file after its trailer was read. Only the filter and the fences are in memory; a chunk is read, and its
/// checksum compared, when it is needed. No descriptor stays open in between: a store has an index for every closed
/// segment, and a process may have only a few hundred descriptors.
///
/// Safe to use from several threads. Calls block on the file system.
package final class IndexFile: Sendable {
  package let identity: IndexIdentity
  /// The number of keys.
  package let entryCount: Int
  let path: String
  let fileSystem: any FileSystem
  let filter: FileBytes
  let fences: IndexFences
  /// The chunk read last. Keys that are neighbours are often looked up together.
  let lastChunk: Lock<(index: Int, chunk: IndexChunk)?>

  /// Opens a file and reads its trailer, filter and fences.
  ///
  /// - Returns: nil if there is no file, or it cannot be read, is damaged, has another version, or belongs to something
  ///   else. In each case the caller builds it again from the log.
  package static func open(
    _ fileSystem: any FileSystem, path: String, expecting identity: IndexIdentity
  ) -> IndexFile? {
    try? IndexFile(fileSystem, path: path, expecting: identity)
  }

  private init?(
    _ fileSystem: any FileSystem, path: String, expecting: IndexIdentity
  ) throws(StoreError) {
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    let fileLength = UInt64(try file.size())
    let trailerLength = IndexFormat.trailerLength
    guard fileLength >= trailerLength,
      let bytes = try FileBytes(file, at: fileLength - UInt64(trailerLength), count: trailerLength),
      let trailer = bytes.withBytes({ IndexTrailer(decoding: $0, fileLength: fileLength) }),
      trailer.identity == expecting,
      let filter = try FileBytes(file, at: trailer.filterOffset, count: Int(trailer.filterLength)),
      filter.withBytes({ $0.checksum() }) == trailer.filterChecksum,
      let fences = try IndexFences(file, trailer)
    else { return nil }
    self.path = path
    self.fileSystem = fileSystem
    self.filter = filter
    self.fences = fences
    identity = expecting
    entryCount = Int(trailer.entryCount)
    lastChunk = Lock(nil)
  }

  /// Bytes in memory while this object exists, without the chunk read last.
  package var residentBytes: Int { filter.count + fences.byteCount }
}
