// Counts the fields of many documents, and their most common values, in bounded memory.

internal import StrataDocuments

/// The fields of the rows that were added, by path.
///
/// Common values are found in two passes, with the counters of Misra and Gries ("Finding repeated elements", 1982): after
/// the first one, every value that is in more than one in `candidateCountMax` of the field's rows is among the
/// candidates. The second pass counts the candidates exactly.
package struct FieldCounter {
  /// How many fields are distinguished, and how many values of each are candidates.
  static let fieldCountMax = 1_000
  package static let candidateCountMax = 1_000
  /// The longest value that is counted, in bytes of CBOR. Longer ones are texts, and few of them are equal.
  static let valueLengthMax = 256

  /// A field, and the fields inside it. The root represents the rows themselves.
  private struct Node {
    var path: [String]
    /// In the order in which they were first met. Rows of a table mostly have their fields in one order.
    var children: [(name: [UInt8], node: Int)] = []
    var rowCount = 0
    var nullCount = 0
    var values: [[UInt8]: Int] = [:]
    /// Whether some value is not among the candidates: there were too many, or it is too long.
    var lacksValues = false
    var types: [FieldSummary.ValueType: Int] = [:]

    init(path: [String]) { self.path = path }

    /// One step of Misra and Gries.
    mutating func take(_ value: [UInt8]) {
      if values[value] != nil || values.count < FieldCounter.candidateCountMax {
        values[value, default: 0] += 1
      } else {
        values = values.compactMapValues { $0 > 1 ? $0 - 1 : nil }
        lacksValues = true
      }
    }
  }

  private var nodes = [Node(path: [])]
  private var isExact = false

  package init() {}

  /// Adds the fields of one document of deterministic CBOR, in the first pass or the second. O(bytes).
  package mutating func add(_ document: UnsafeRawBufferPointer) { add(document, under: 0) }

  /// Ends the first pass: from here on, the same documents are added again.
  package mutating func beginSecondPass() {
    isExact = true
    for index in nodes.indices { nodes[index].values = nodes[index].values.mapValues { _ in 0 } }
  }

  /// What was found, by path, after both passes.
  package func summaries(commonest count: Int) -> [FieldSummary] {
    let summaries = nodes.filter { $0.rowCount > 0 }.map { node in
      let values = node.values.sorted { a, b in
        a.value != b.value ? a.value > b.value : a.key.lexicographicallyPrecedes(b.key)
      }
      return FieldSummary(
        path: FieldPath(names: node.path).description, rowCount: node.rowCount, nullCount: node.nullCount,
        types: node.types, differentValueCount: node.lacksValues ? nil : node.values.count,
        commonestValues: values.prefix(max(0, count)).compactMap { bytes, count in
          (try? DocumentValue(cbor: bytes)).map { FieldSummary.Value(value: $0, rowCount: count) }
        })
    }
    return summaries.sorted { $0.path < $1.path }
  }

  private mutating func add(_ object: UnsafeRawBufferPointer, under parent: Int) {
    guard let head = CBORItem(object), head.major == 5, !head.isIndefinite else { return }
    var (offset, hint) = (head.headLength, 0)
    for _ in 0..<min(head.argument, UInt64(object.count)) {
      guard let key = CBORItem(object, at: offset), key.major == 3, !key.isIndefinite,
        let name = key.content(in: object, at: offset)
      else { return }
      let start = offset + key.headLength + name.count
      guard let end = CBORItem.end(of: object, at: start) else { return }
      offset = end
      guard let node = child(name, of: parent, &hint) else { continue }
      let value = UnsafeRawBufferPointer(rebasing: object[start..<end])
      // The depth of a document is bounded by what can be decoded. An empty object is a value.
      let head = CBORItem(value)
      if !isExact, let head { nodes[node].types[head.valueType, default: 0] += 1 }
      if head?.major == 5, value.count > 1 {
        add(value, under: node)
      } else {
        count(value, in: node)
      }
    }
  }

  /// The node of a field, nil if there are too many.
  ///
  /// - Parameter hint: the index among the children at which it is likely to be.
  private mutating func child(_ name: UnsafeRawBufferPointer, of parent: Int, _ hint: inout Int) -> Int? {
    let children = nodes[parent].children
    for step in children.indices {
      let address = hint + step < children.count ? hint + step : hint + step - children.count
      guard children[address].name.count == name.count, name.elementsEqual(children[address].name) else {
        continue
      }
      hint = address + 1 < children.count ? address + 1 : 0
      return children[address].node
    }
    guard !isExact, nodes.count <= Self.fieldCountMax else { return nil }
    nodes.append(Node(path: nodes[parent].path + [String(decoding: name, as: UTF8.self)]))
    nodes[parent].children.append((Array(name), nodes.count - 1))
    return nodes.count - 1
  }

  private mutating func count(_ value: UnsafeRawBufferPointer, in node: Int) {
    let isNull = value.count == 1 && value[0] == 0xF6
    let bytes = !isNull && value.count <= Self.valueLengthMax ? Array(value) : nil
    if isExact {
      if let bytes, let address = nodes[node].values.index(forKey: bytes) {
        nodes[node].values.values[address] += 1
      }
      return
    }
    nodes[node].rowCount += 1
    if isNull {
      nodes[node].nullCount += 1
    } else if let bytes {
      nodes[node].take(bytes)
    } else {
      nodes[node].lacksValues = true
    }
  }
}

extension CBORItem {
  /// The type of the value that begins with this head.
  fileprivate var valueType: FieldSummary.ValueType {
    switch major {
    case 0, 1: .integer
    case 2: .bytes
    case 3: .string
    case 4: .array
    case 5: .object
    // The tags of integers beyond 64 bits.
    case 6: argument == 2 || argument == 3 ? .integer : .tagged
    default:
      switch info {
      case 20, 21: .boolean
      case 22, 23: .null
      default: .number
      }
    }
  }
}
