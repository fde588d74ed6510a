// A growing byte buffer, without the cost of zeroing or of exclusivity checks.

/// A heap-allocated buffer that grows by doubling. Owned by one value at a time.
@usableFromInline
package struct RawBuffer: ~Copyable {
  @usableFromInline package internal(set) var base: UnsafeMutableRawPointer
  @usableFromInline package internal(set) var capacity: Int
  @usableFromInline package var count = 0

  @inlinable
  package init(capacity: Int) {
    self.capacity = max(64, capacity)
    base = .allocate(byteCount: self.capacity, alignment: 16)
  }

  @inlinable
  deinit { base.deallocate() }

  /// The bytes written so far.
  @inlinable
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// Makes room for `extra` more bytes, and returns the address to write them to. The caller must increase `count`.
  @inlinable @inline(__always)
  package mutating func reserve(_ extra: Int) -> UnsafeMutableRawPointer {
    if capacity - count < extra { grow(extra) }
    return base + count
  }

  @usableFromInline
  internal mutating func grow(_ extra: Int) {
    let larger = max(capacity * 2, count + extra)
    let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    moved.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = moved
    capacity = larger
  }

  @inlinable @inline(__always)
  package mutating func append(_ source: UnsafeRawBufferPointer) {
    guard let start = source.baseAddress else { return }
    reserve(source.count).copyMemory(from: start, byteCount: source.count)
    count += source.count
  }

  @inlinable @inline(__always)
  package mutating func append(byte: UInt8) {
    reserve(1).storeBytes(of: byte, as: UInt8.self)
    count += 1
  }

  @inlinable @inline(__always)
  package mutating func append(varint value: UInt64) {
    count += Varint.write(value, to: reserve(Varint.lengthMax))
  }

  @inlinable @inline(__always)
  package mutating func append<Integer: FixedWidthInteger>(integer value: Integer) {
    reserve(8).setLittleEndian(value, at: 0)
    count += MemoryLayout<Integer>.size
  }

  /// Appends zeros until the buffer has `length` bytes.
  @inlinable
  package mutating func pad(to length: Int) {
    guard length > count else { return }
    let extra = length - count
    reserve(extra).initializeMemory(as: UInt8.self, repeating: 0, count: extra)
    count = length
  }

  @inlinable
  package mutating func removeAll() { count = 0 }
}
