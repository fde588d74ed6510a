// The first row of comma separated values: the names of the fields.

internal import LogreplayShell
internal import StrataBase

/// The columns of an input.
struct ImportCSVHeader {
  let keys: ImportColumnKeys
  /// The type of each column; nil where each text says it.
  let types: [ImportColumnType?]
  /// A part of every row's hash: with other names, a row is another one.
  let hash: UInt64
  private let separator: UInt8
  private let place: String

  /// - Parameters:
  ///   - row: the row, without a byte order mark and without a line end.
  ///   - types: the types of columns by name.
  init(
    _ row: UnsafeRawBufferPointer, separator: UInt8, types: [String: ImportColumnType], at place: String
  ) throws(CommandFailure) {
    var fields = ImportCSVRow()
    do throws(ImportBadRecord) {
      try ImportCSVRow.checkText(row)
      try fields.split(row, separator: separator)
    } catch {
      throw CommandFailure(
        ExitStatus.corrupt,
        "line \(1 + error.lineOffset), column \(error.column), in the header: \(error.why)", at: place,
        next: "correct the first line, which names the fields")
    }
    let names = fields.fields.indices.map { fields.text($0, of: row) }
    keys = ImportColumnKeys(names)
    hash = XXH64.of(row)
    self.separator = separator
    self.place = place
    self.types = names.map { types[$0] }
    try checkNames()
    for name in types.keys.sorted() where keys.position(of: name) == nil {
      throw CommandFailure(
        ExitStatus.usage, "the header has no field \(String(reflecting: name))", at: "--types",
        next: "there are \(keys.listed)")
    }
  }

  private func checkNames() throws(CommandFailure) {
    var seen = Set<[UInt8]>()
    for (index, name) in keys.names.enumerated() {
      guard !name.isEmpty else {
        throw CommandFailure(
          ExitStatus.corrupt, "line 1: the header has no name for field \(index + 1)", at: place,
          next: "name every field in the first line")
      }
      guard seen.insert(Array(name.utf8)).inserted else {
        throw CommandFailure(
          ExitStatus.corrupt, "line 1: the header has the field \(String(reflecting: name)) twice", at: place,
          next: "give each field a name of its own")
      }
    }
  }

  /// Throws if the header does not have a field that an option names.
  func check(_ field: ImportFieldPath, option: String) throws(CommandFailure) {
    guard keys.position(of: field) == nil else { return }
    throw CommandFailure(
      ExitStatus.corrupt, "line 1: the header has no field \(String(reflecting: field.text)) (\(option))",
      at: place, next: otherSeparator ?? "there are \(keys.listed)")
  }

  /// What to do if the fields seem to have another separator: with the wrong one, a row is a single field, or few.
  private var otherSeparator: String? {
    let others = [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09, UInt8(ascii: "|")].filter { $0 != separator }
    func count(_ other: UInt8) -> Int { keys.names.reduce(0) { $0 + $1.utf8.count { $0 == other } } }
    guard let other = others.max(by: { count($0) < count($1) }), count(other) >= keys.names.count else {
      return nil
    }
    let option = other == 0x09 ? "--format tsv" : "--separator '\(Character(UnicodeScalar(other)))'"
    return "its fields seem to have another separator: import with \(option)"
  }
}
