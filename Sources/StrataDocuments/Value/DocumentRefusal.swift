// Which documents could be encoded and not be read back.

/// Why a document's encoding could not be read back. A `DocumentValue` can hold it, and no decoder accepts it.
package enum DocumentRefusal: Error, Hashable, Sendable {
  /// Nested to this depth, which is more than `CodecLimits.depthMax`.
  case tooDeep(Int)
  /// An integer of more than `CodecLimits.integerByteCountMax` bytes.
  case integerTooLong
  /// Tag 2 or 3, which are those of big integers, on something other than bytes.
  case tagOfInteger(UInt64)
}

extension DocumentRefusal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tooDeep: "something nested deeper than \(CodecLimits.depthMax)"
    case .integerTooLong: "an integer of more than \(CodecLimits.integerByteCountMax) bytes"
    case .tagOfInteger(let tag): "tag \(tag), which is that of a big integer, on something other than bytes"
    }
  }
}

extension DocumentValue {
  /// The nesting depth of arrays, objects and tags: 0 for a scalar. O(n).
  package var depth: Int { measured().depth }

  /// Why `init(cbor:)` would not read what `cbor()` returns; nil if it would. O(n).
  package var refusal: DocumentRefusal? { measured().refusal }

  /// The nesting depth, and why the value could not be read back. O(n).
  func measured() -> (depth: Int, refusal: DocumentRefusal?) {
    let limit = CodecLimits.depthMax + 1
    var refusal: DocumentRefusal?
    var depth = depth(countedTo: limit, &refusal)
    if depth == limit {
      depth = depthWithoutRecursion
      refusal = .tooDeep(depth)
    }
    return (depth, refusal)
  }

  /// The depth, but at most the limit: a deeply nested value could overflow the stack. Notes what else could not be
  /// read back.
  private func depth(countedTo limit: Int, _ refusal: inout DocumentRefusal?) -> Int {
    guard limit > 0 else { return 0 }
    var deepest = 0
    switch self {
    case .array(let values):
      for value in values.elements { deepest = max(deepest, value.depth(countedTo: limit - 1, &refusal)) }
    case .object(let object):
      for entry in object.entries {
        deepest = max(deepest, entry.value.depth(countedTo: limit - 1, &refusal))
      }
    case .tagged(let tag, let value):
      if tag == CBORTag.positiveBignum || tag == CBORTag.negativeBignum {
        if case .bytes(let bytes) = value.value {
          if bytes.count > CodecLimits.integerByteCountMax { refusal = .integerTooLong }
        } else {
          refusal = .tagOfInteger(tag)
        }
      }
      deepest = value.value.depth(countedTo: limit - 1, &refusal)
    case .bigInt(let value):
      if value.isTooLong { refusal = .integerTooLong }
      return 0
    default: return 0
    }
    return 1 + deepest
  }

  private var depthWithoutRecursion: Int {
    var deepest = 0
    var level = [self]
    while !level.isEmpty {
      var next: [DocumentValue] = []
      var hasContainer = false
      for value in level {
        switch value {
        case .array(let values): next += values.elements
        case .object(let object): for entry in object.entries { next.append(entry.value) }
        case .tagged(_, let value): next.append(value.value)
        default: continue
        }
        hasContainer = true
      }
      if hasContainer { deepest += 1 }
      level = next
    }
    return deepest
  }
}

extension DocumentInteger {
  /// Whether its encoding has more bytes than are read. Of a negative integer −1 − n, n is encoded.
  fileprivate var isTooLong: Bool {
    guard magnitude.count > CodecLimits.integerByteCountMax else { return false }
    return !isNegative || negativeOffset.count > CodecLimits.integerByteCountMax
  }
}
