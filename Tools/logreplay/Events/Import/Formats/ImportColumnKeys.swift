// The names of columns as the keys of documents, in the order in which CBOR has them.

internal import StrataDocuments

/// The keys of every document of a table, encoded once.
struct ImportColumnKeys {
  let names: [String]
  /// The columns, by their position in a row, in the order of their keys.
  let order: [Int]
  private let bytes: [UInt8]
  /// Where the keys are in `bytes`, by the position of the column in a row.
  private let ranges: [Range<Int>]

  /// - Parameter names: the names of all columns, each once.
  init(_ names: [String]) {
    self.names = names
    let keys = names.map { name in
      var writer = CBORWriter(capacity: name.utf8.count + 9)
      writer.writeText(name)
      return writer.bytes
    }
    order = names.indices.sorted { keys[$0].lexicographicallyPrecedes(keys[$1]) }
    var begin = 0
    ranges = keys.map { key in
      defer { begin += key.count }
      return begin..<begin + key.count
    }
    bytes = Array(keys.joined())
  }

  /// Writes the head of a document. For each column in `order`, `write` of it and its value must follow.
  func writeHead(to payload: inout CBORWriter) { payload.writeMapHead(count: names.count) }

  /// Writes the key of a column.
  func write(_ column: Int, to payload: inout CBORWriter) {
    bytes.withUnsafeBytes { payload.writeEncoded(UnsafeRawBufferPointer(rebasing: $0[ranges[column]])) }
  }

  /// The position of a column; nil if there is none of this name.
  func position(of name: String) -> Int? { names.firstIndex { $0.utf8.elementsEqual(name.utf8) } }

  /// The position of the column that a path begins in.
  func position(of field: ImportFieldPath) -> Int? {
    position(of: field.text) ?? position(of: field.names[0])
  }

  /// Some of the names, for messages.
  var listed: String {
    let shown = names.prefix(20).map { String(reflecting: $0) }.joined(separator: ", ")
    return names.count > 20 ? "\(shown) and \(names.count - 20) more" : shown
  }
}
