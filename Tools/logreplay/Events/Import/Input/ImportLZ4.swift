// Decompresses frames of lz4, one after another.

internal import CLZ4
internal import StrataBase
internal import StrataLog

/// The content of lz4 frames, read in parts.
final class ImportLZ4 {
  private var context: OpaquePointer?
  private var input = [UInt8](repeating: 0, count: 64 << 10)
  private var start = 0
  private var end = 0
  /// Whether the bytes so far end inside a frame.
  private var isInFrame = true
  private var hasFrame = false
  private(set) var problem: String?
  /// Whether something that is no lz4 data follows the frames.
  private(set) var hasMore = false

  init() {
    // Nil if there is no memory for it, which `read` then says.
    LZ4F_createDecompressionContext(&context, UInt32(LZ4F_VERSION))
  }

  deinit { LZ4F_freeDecompressionContext(context) }

  /// Fills a buffer with the next bytes of the content. 0 is the end, or what `problem` says.
  func read(
    into buffer: UnsafeMutableRawBufferPointer,
    from source: (UnsafeMutableRawBufferPointer) throws(StoreError) -> Int
  ) throws(StoreError) -> Int {
    guard context != nil else {
      problem = "there is no memory to decompress it"
      return 0
    }
    while problem == nil, !hasMore {
      if start == end {
        start = 0
        end = try input.lendMutableBytes { bytes throws(StoreError) in try source(bytes) }
        if end == 0 {
          if isInFrame { problem = "it ends inside a frame" }
          return 0
        }
      }
      let count = step(into: buffer)
      if count > 0 { return count }
    }
    return 0
  }

  private func step(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    var written = buffer.count
    var taken = end - start
    let code = input.withUnsafeBytes { bytes in
      LZ4F_decompress(context, buffer.baseAddress, &written, bytes.baseAddress! + start, &taken, nil)
    }
    guard LZ4F_isError(code) == 0 else {
      if hasFrame, !isInFrame {
        hasMore = true
      } else {
        problem = String(cString: LZ4F_getErrorName(code))
      }
      return 0
    }
    start += taken
    isInFrame = code != 0
    hasFrame = hasFrame || code == 0
    return written
  }
}
