// The limits of the machine: LZ4 and system calls only.

internal import CLZ4
internal import StrataBase

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

enum RawLimits {
  static let blockSize = 64 << 10

  /// The seconds to split bytes into blocks of 64 KiB, compress and write each, and sync once at the end.
  static func compressAndWrite(_ bytes: [UInt8], path: String) -> Double {
    let target = UnsafeMutablePointer<CChar>.allocate(capacity: Int(LZ4_compressBound(Int32(blockSize))))
    defer { target.deallocate() }
    return seconds {
      let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
      defer { close(descriptor) }
      bytes.withUnsafeBytes { bytes in
        var offset = 0
        while offset < bytes.count {
          let count = min(blockSize, bytes.count - offset)
          let stored = LZ4_compress_default(
            (bytes.baseAddress! + offset).assumingMemoryBound(to: CChar.self), target, Int32(count),
            LZ4_compressBound(Int32(blockSize)))
          _ = write(descriptor, target, Int(stored))
          offset += count
        }
      }
      fsync(descriptor)
    }
  }

  /// Writes the same bytes in compressed blocks, and returns the table of blocks for `readAndDecompress`.
  static func compressed(_ bytes: [UInt8], path: String) -> [(offset: Int, stored: Int, raw: Int)] {
    var table: [(Int, Int, Int)] = []
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    defer { close(descriptor) }
    let target = UnsafeMutablePointer<CChar>.allocate(capacity: Int(LZ4_compressBound(Int32(blockSize))))
    defer { target.deallocate() }
    bytes.withUnsafeBytes { bytes in
      var offset = 0
      var place = 0
      while offset < bytes.count {
        let count = min(blockSize, bytes.count - offset)
        let stored = Int(
          LZ4_compress_default(
            (bytes.baseAddress! + offset).assumingMemoryBound(to: CChar.self), target, Int32(count),
            LZ4_compressBound(Int32(blockSize))))
        _ = write(descriptor, target, stored)
        table.append((place, stored, count))
        place += stored
        offset += count
      }
    }
    return table
  }

  /// The seconds to read a file of blocks in steps of 1 MiB and decompress each block.
  static func readAndDecompress(_ table: [(offset: Int, stored: Int, raw: Int)], path: String) -> Double {
    let step = 1 << 20
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: step + blockSize * 2, alignment: 16)
    let target = UnsafeMutablePointer<CChar>.allocate(capacity: blockSize)
    defer {
      buffer.deallocate()
      target.deallocate()
    }
    return seconds {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      defer { close(descriptor) }
      var start = 0
      var count = 0
      for block in table {
        if block.offset + block.stored > start + count {
          start = block.offset
          count = pread(descriptor, buffer, step, off_t(start))
        }
        let source = (buffer + (block.offset - start)).assumingMemoryBound(to: CChar.self)
        LZ4_decompress_safe(source, target, Int32(block.stored), Int32(block.raw))
      }
    }
  }

  /// Writes `size` bytes `count` times, one after the other, over zeros that are already on disk, each followed by
  /// fdatasync. Returns the time of each in nanoseconds.
  static func writeAndSync(_ count: Int, size: Int, path: String) -> [Int64] {
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    defer { close(descriptor) }
    let zeros = [UInt8](repeating: 0, count: 1 << 20)
    for offset in stride(from: 0, to: count * size, by: zeros.count) {
      zeros.withUnsafeBytes { _ = pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    }
    fsync(descriptor)
    let bytes = [UInt8](repeating: 7, count: size)
    return (0..<count).map { number in
      let start = MonotonicTime.now()
      bytes.withUnsafeBytes { _ = pwrite(descriptor, $0.baseAddress, $0.count, off_t(number * size)) }
      #if os(Linux)
        fdatasync(descriptor)
      #else
        _ = fcntl(descriptor, F_FULLFSYNC)
      #endif
      return MonotonicTime.now().nanoseconds - start.nanoseconds
    }
  }
}
