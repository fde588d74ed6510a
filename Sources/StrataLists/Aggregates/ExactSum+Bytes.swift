// A sum as bytes of a tree, and the sum of two sums.

extension ExactSum {
  /// Whether nothing is in it, as in a new one.
  package var isNothing: Bool {
    guard integers == 0, fractionCount == 0, notFiniteCount == 0, notNumberCount == 0 else { return false }
    var sum = self
    sum.carry()
    return sum.limbs.allSatisfy { $0 == 0 }
  }

  /// Adds all that was added to another sum.
  package mutating func add(_ other: ExactSum) {
    integers += other.integers
    fractionCount += other.fractionCount
    notFiniteCount += other.notFiniteCount
    notNumberCount += other.notNumberCount
    var other = other
    other.carry()
    carry()
    while limbs.count < other.limbs.count { limbs.append(0) }
    for index in other.limbs.indices { limbs[index] += other.limbs[index] }
    carry()
  }

  /// Appends the sum: the counts, the integers, where the limbs that are not 0 begin and how many they are, and these
  /// limbs, which are carried, so that each fits into four bytes. All numbers are little-endian.
  func append(to bytes: inout [UInt8]) {
    var sum = self
    sum.carry()
    for count in [fractionCount, notFiniteCount, notNumberCount] { bytes.append(number: Int64(count)) }
    bytes.append(number: integers)
    let first = sum.limbs.firstIndex { $0 != 0 } ?? 0
    let end = (sum.limbs.lastIndex { $0 != 0 } ?? -1) + 1
    bytes.append(number: Int32(first))
    bytes.append(number: Int32(max(0, end - first)))
    for limb in sum.limbs[first..<max(first, end)] { bytes.append(number: Int32(limb)) }
  }

  /// Reads a sum at an offset, and moves the offset after it.
  init(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) {
    self.init()
    func next<Number: FixedWidthInteger & BitwiseCopyable>(_ type: Number.Type) -> Number {
      bytes.number(at: &offset)
    }
    fractionCount = Int(next(Int64.self))
    notFiniteCount = Int(next(Int64.self))
    notNumberCount = Int(next(Int64.self))
    integers = next(Int128.self)
    let (first, count) = (Int(next(Int32.self)), Int(next(Int32.self)))
    guard count > 0 else { return }
    limbs = Array(repeating: 0, count: first)
    for _ in 0..<count { limbs.append(Int64(next(Int32.self))) }
  }
}

extension [UInt8] {
  /// Appends a number, its least byte first.
  mutating func append<Number: FixedWidthInteger>(number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }
}

extension UnsafeRawBufferPointer {
  /// The number at an offset, its least byte first; moves the offset after it.
  func number<Number: FixedWidthInteger & BitwiseCopyable>(at offset: inout Int) -> Number {
    defer { offset += MemoryLayout<Number>.size }
    return Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: Number.self))
  }
}
