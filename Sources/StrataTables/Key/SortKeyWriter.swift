// Collects the bytes of sort keys, whose order is the order of the values.

/// Appends sort keys to one growing buffer.
///
/// Keys are compared byte by byte. Each component delimits itself (none is a prefix of another), so several
/// components in a row compare like a tuple, and each can be read back:
///
/// ```
/// section ‖ sort value ‖ sort value ‖ id
/// ```
///
/// A component begins with a tag (`SortKeyTag`) that identifies its class and whether it is inverted. Appending
/// costs O(bytes), and allocates only when the buffer has to grow; `removeAll()` keeps the buffer.
public struct SortKeyWriter: ~Copyable {
  var base: UnsafeMutableRawPointer
  /// The number of bytes written.
  package internal(set) var count = 0
  private var capacity: Int
  /// The options of the component that is being written.
  var options: SortKeyOptions = []
  /// 0xFF if the bytes being written will be inverted an odd number of times, otherwise 0.
  var mask: UInt8 = 0

  /// An empty writer with room for `capacity` bytes before it has to grow.
  package init(capacity: Int = 128) {
    self.capacity = max(capacity, 64)
    base = .allocate(byteCount: self.capacity, alignment: 8)
  }

  deinit { base.deallocate() }

  /// A copy of the bytes that were written.
  package var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: base, count: count)) }

  /// Calls `body` with the bytes that were written. The pointer is valid only during the call.
  package func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Removes the bytes that were written and keeps the memory.
  package mutating func removeAll() { count = 0 }

  /// Appends a value, in the direction and with the options of the component that is being written.
  @inlinable
  public mutating func append<Value: SortKey>(_ value: Value) { value.encode(to: &self) }

  /// Appends a value with options of its own. `.descending` reverses the order of everything inside, except the
  /// position of nil.
  package mutating func append<Value: SortKey>(_ value: Value, _ options: SortKeyOptions) {
    let scope = begin(options)
    value.encode(to: &self)
    end(scope)
  }

  /// Appends bytes as they are, without a tag or an end mark: for the id at the end of a row's key.
  package mutating func append(raw bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    store(bytes)
  }
}

extension SortKeyWriter {
  /// The state before a component with options of its own.
  struct Scope {
    var options: SortKeyOptions
    var start: Int
    var isInverted: Bool
  }

  @inline(__always)
  mutating func begin(_ options: SortKeyOptions) -> Scope {
    let isInverted = options.contains(.descending)
    let scope = Scope(options: self.options, start: count, isInverted: isInverted)
    self.options = options
    if isInverted { mask ^= 0xFF }
    return scope
  }

  @inline(__always)
  mutating func end(_ scope: Scope) {
    options = scope.options
    guard scope.isInverted else { return }
    mask ^= 0xFF
    invert(from: scope.start)
  }

  private mutating func invert(from start: Int) {
    var index = start
    while index &+ 8 <= count {
      let word = base.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      base.storeBytes(of: ~word, toByteOffset: index, as: UInt64.self)
      index &+= 8
    }
    while index < count {
      base.storeBytes(
        of: ~base.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index, as: UInt8.self)
      index &+= 1
    }
  }

  /// Ensures room for `additional` more bytes.
  @inline(__always)
  mutating func reserve(_ additional: Int) {
    if capacity &- count < additional { grow(additional) }
  }

  @inline(never)
  private mutating func grow(_ additional: Int) {
    let larger = max(capacity * 2, count + additional)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
    memory.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = memory
    capacity = larger
  }

  /// Stores a byte; there must be room for it.
  @inline(__always)
  mutating func store(_ byte: UInt8) {
    assert(count < capacity, "a byte is stored where no room was made for it")
    base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count &+= 1
  }

  /// Stores a number, most significant byte first; there must be room for it.
  @inline(__always)
  mutating func store<Number: FixedWidthInteger & BitwiseCopyable>(bigEndian number: Number) {
    assert(capacity - count >= MemoryLayout<Number>.size, "a number is stored where no room was made for it")
    base.storeBytes(of: number.bigEndian, toByteOffset: count, as: Number.self)
    count &+= MemoryLayout<Number>.size
  }

  /// Stores bytes as they are; there must be room for them.
  @inline(__always)
  mutating func store(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    assert(capacity - count >= bytes.count, "bytes are stored where no room was made for them")
    (base + count).copyMemory(from: source, byteCount: bytes.count)
    count &+= bytes.count
  }
}
