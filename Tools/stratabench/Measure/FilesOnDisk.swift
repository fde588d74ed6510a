// The files of a store or a database: their size, and how the next reads of them come from the disk.

internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#endif

/// The bytes of a file, or of all files of a folder.
func bytesOnDisk(_ path: String) -> Int {
  var bytes = 0
  for path in filesOnDisk(path) {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    if attributes?[.type] as? FileAttributeType == .typeRegular { bytes += attributes?[.size] as? Int ?? 0 }
  }
  return bytes
}

/// Reads a file, or all files of a folder, so that the next reads find them in the system's page cache.
func readIntoPageCache(_ path: String) {
  for path in filesOnDisk(path) {
    guard let file = FileHandle(forReadingAtPath: path) else { continue }
    while let bytes = try? file.read(upToCount: 1 << 20), !bytes.isEmpty {}
    try? file.close()
  }
}

/// Makes the next reads of a file, or of all files of a folder, come from the disk, where the system can do that.
func dropFromPageCache(_ path: String) {
  #if canImport(Glibc)
    for path in filesOnDisk(path) {
      let descriptor = Glibc.open(path, O_RDONLY)
      guard descriptor >= 0 else { continue }
      fdatasync(descriptor)
      posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
      Glibc.close(descriptor)
    }
  #endif
}

/// The path itself if it is no folder with something in it.
private func filesOnDisk(_ path: String) -> [String] {
  let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
  return names.isEmpty ? [path] : names.map { "\(path)/\($0)" }
}
