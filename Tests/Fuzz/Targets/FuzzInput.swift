// The first bytes of an input say how the others are used.

/// Takes an input apart from its front.
struct FuzzInput {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// The next byte; 0 where none is left.
  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  /// So many bytes, with zeros for those that are not there.
  mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    let taken = Array(rest.prefix(count))
    return taken + Array(repeating: 0, count: count - taken.count)
  }
}
