// Objects that do not fit into one message.

internal import StrataBase

/// What the log has under the number of an object that is larger than a message: how many parts it has, how long it is, and
/// its hash, which names the parts.
///
/// Numbers of objects and sequences of the stream stay the same numbers, so that one fence decides: parts are in a stream of
/// their own, by name, and are all there before the list is put. An object is there when its list is.
///
///     offset  size  field
///          0     4  magic "STRP"
///          4     4  number of parts
///          8     8  length of the object in bytes
///         16    32  SHA-256 of the object
///
/// Numbers are little-endian.
struct ObjectParts: Equatable, Sendable {
  static let length = 48
  static let magic = Array("STRP".utf8)
  /// The most parts that an object has: the longest object, in the smallest messages.
  static let countMax: UInt32 = 2048
  /// The longest object, in bytes: the longest payload and the longest header.
  static let sizeMax: UInt64 = 64 << 20 + 4096

  let count: Int
  let size: Int
  let hash: [UInt8]

  /// Describes an object that is cut into parts.
  ///
  /// - Parameter partSize: how many bytes each part has, but for the last.
  init(of bytes: [UInt8], partSize: Int) {
    count = (bytes.count + partSize - 1) / partSize
    size = bytes.count
    hash = bytes.withUnsafeBytes { SHA256.of($0) }
  }

  /// Reads a list; nil for anything else, and for numbers that no list has.
  init?(decoding bytes: [UInt8]) {
    guard bytes.count == Self.length, bytes.starts(with: Self.magic) else { return nil }
    let (count, size) = bytes.withUnsafeBytes { bytes in
      (
        bytes.baseAddress!.littleEndian(UInt32.self, at: 4),
        bytes.baseAddress!.littleEndian(UInt64.self, at: 8)
      )
    }
    guard count > 0, count <= Self.countMax, size >= UInt64(count), size <= Self.sizeMax else { return nil }
    self.count = Int(count)
    self.size = Int(size)
    hash = Array(bytes[16...])
  }

  var bytes: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.length)
    bytes.withUnsafeMutableBytes { bytes in
      bytes.copyBytes(from: Self.magic)
      bytes.baseAddress!.setLittleEndian(UInt32(count), at: 4)
      bytes.baseAddress!.setLittleEndian(UInt64(size), at: 8)
      UnsafeMutableRawBufferPointer(rebasing: bytes[16...]).copyBytes(from: hash)
    }
    return bytes
  }

  /// The hash as text, for names.
  var digits: String {
    let alphabet = Array("0123456789abcdef".utf8)
    return String(
      decoding: hash.flatMap { [alphabet[Int($0 >> 4)], alphabet[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Whether bytes are the object.
  func describes(_ bytes: [UInt8]) -> Bool {
    bytes.count == size && bytes.withUnsafeBytes { SHA256.of($0) } == hash
  }
}
