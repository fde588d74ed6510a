// An immutable, sorted key/value file with the fingerprints of append ids: the index of one segment.

internal import StrataBase

/// An index file after its trailer was read. Only the filter, the fences and the fingerprints of append ids are in
/// memory; a chunk is read, and its checksum compared, when it is needed. No descriptor stays open in between: a store has an index for every closed
/// segment, and a process may have only a few hundred descriptors.
///
/// Safe to use from several threads. Calls block on the file system.
package final class IndexFile: Sendable {
  package let identity: IndexIdentity
  /// The number of keys.
  package let entryCount: Int
  /// The least own time of the appends; `Int64.max` without any.
  package let leastTime: Int64
  /// The number of append ids.
  package var idCount: Int { ids.layout.count }
  let path: String
  let fileSystem: any FileSystem
  let filter: FileBytes
  let fences: IndexFences
  let ids: IndexIDs
  /// The chunk read last. Keys that are neighbours are often looked up together.
  let lastChunk: Lock<(index: Int, chunk: IndexChunk)?>

  /// Opens a file and reads its trailer, filter, fences and fingerprints.
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
    guard let trailer = try Self.trailer(of: file), trailer.identity == expecting,
      let filter = try FileBytes(file, at: trailer.filterOffset, count: Int(trailer.filterLength)),
      filter.withBytes({ $0.checksum() }) == trailer.filterChecksum,
      let fences = try IndexFences(file, trailer), let ids = try IndexIDs(file, trailer)
    else { return nil }
    self.path = path
    self.fileSystem = fileSystem
    self.filter = filter
    self.fences = fences
    self.ids = ids
    identity = expecting
    entryCount = Int(trailer.entryCount)
    leastTime = trailer.leastTime
    lastChunk = Lock(nil)
  }

  /// What a file says that it is an index of; nil if it cannot be read, is damaged or has another version. The log may
  /// say otherwise.
  package static func identity(_ fileSystem: any FileSystem, path: String) -> IndexIdentity? {
    guard let file = try? fileSystem.open(path, .read) else { return nil }
    defer { file.close() }
    return (try? trailer(of: file))?.identity
  }

  private static func trailer(of file: any File) throws(StoreError) -> IndexTrailer? {
    let fileLength = UInt64(max(0, try file.size()))
    let length = IndexFormat.trailerLength
    guard fileLength >= length,
      let bytes = try FileBytes(file, at: fileLength - UInt64(length), count: length)
    else { return nil }
    return bytes.withBytes { IndexTrailer(decoding: $0, fileLength: fileLength) }
  }

  /// Bytes in memory while this object exists, without the chunk read last.
  package var residentBytes: Int { filter.count + fences.byteCount + ids.byteCount }
}
