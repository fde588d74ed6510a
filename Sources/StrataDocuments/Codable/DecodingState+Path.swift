// The errors of the decoder, and the coding path of an item, which is found from its offset.

extension DecodingState {
  func corrupted(_ error: CodecError, path: [any CodingKey]) -> DecodingError {
    .dataCorrupted(.init(codingPath: path, debugDescription: error.description, underlyingError: error))
  }

  func corrupted(_ explanation: String, at offset: Int) -> DecodingError {
    .dataCorrupted(.init(codingPath: path(to: offset), debugDescription: explanation))
  }

  func mismatch(_ head: CBORHead, _ type: Any.Type, at offset: Int) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: path(to: offset), debugDescription: "expected \(type), found \(head.kind)")
    return head == .null || head == .undefined ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  /// The keys and indices that lead to the item at an offset.
  ///
  /// A type that tries one kind after another requests the path at every item of a long array, so the path to the last
  /// item is kept. A later item in the same container then costs O(bytes in between), and an earlier one O(log
  /// members). An item in another member is searched for from the beginning of that member.
  func path(to target: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    // The container of a case is outside the bytes.
    guard target >= 0 else { return path }
    if let caseName { path.append(DocumentKey(stringValue: String(decoding: caseName, as: UTF8.self))) }
    var offset = 0
    while offset < target {
      let depth = path.count - outerDepth
      if depth == trail.count {
        guard let container = PathContainer(reader(at: offset)) else { break }
        trail.append(container)
      }
      guard trail[depth].start < target, let index = trail[depth].index(holding: target, reader(at: 0)),
        let (key, value) = trail[depth].member(index, reader(at: 0))
      else { break }
      if trail[depth].entered != index {
        trail.removeSubrange((depth + 1)...)
        trail[depth].entered = index
      }
      path.append(key)
      offset = value
    }
    return path
  }
}

/// An array or a map on the path to an item, and the ends of those members that have been visited.
struct PathContainer {
  /// The offset of the head, after any tags.
  let start: Int
  let isMap: Bool
  /// The offset of the first member.
  let first: Int
  private var ends: [Int] = []
  /// The index of the member that contains the next container of the path.
  var entered: Int?

  /// Nil if the item is not a container.
  init?(_ reader: CBORReader) {
    var reader = reader
    while true {
      let start = reader.offset
      guard let head = try? reader.readHead() else { return nil }
      switch head {
      case .tag: continue
      case .array: isMap = false
      case .map: isMap = true
      default: return nil
      }
      self.start = start
      first = reader.offset
      return
    }
  }

  /// The index of the first member that ends after the target; nil if the members before it cannot be read.
  mutating func index(holding target: Int, _ reader: CBORReader) -> Int? {
    if let last = ends.last, last > target {
      // In most cases it is the member that was requested last.
      var (low, high) = (0, ends.count - 1)
      if high == 0 || ends[high - 1] <= target { low = high }
      while low < high {
        let middle = (low + high) / 2
        if ends[middle] > target { high = middle } else { low = middle + 1 }
      }
      return low
    }
    var reader = reader
    reader.offset = ends.last ?? first
    repeat {
      guard (try? skipMember(&reader)) != nil else { return nil }
      ends.append(reader.offset)
    } while reader.offset <= target
    return ends.count - 1
  }

  private func skipMember(_ reader: inout CBORReader) throws(CodecError) {
    if isMap { _ = try reader.readText() }
    try reader.skip()
  }

  /// The key of a member that has been visited, and the offset of its value.
  func member(_ index: Int, _ reader: CBORReader) -> (key: DocumentKey, value: Int)? {
    var reader = reader
    reader.offset = index == 0 ? first : ends[index - 1]
    guard isMap else { return (DocumentKey(intValue: index), reader.offset) }
    guard let key = try? reader.readText() else { return nil }
    return (DocumentKey(stringValue: key), reader.offset)
  }
}
