// The lines that `write` takes: one object a line, one write each.

internal import LogreplayShell
package import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// Reads lines of `write`.
///
///     {"put":"TABLE/ID","data":{…}}
///     {"merge":"TABLE/ID","data":{…}}
///     {"delete":"TABLE/ID"}
///     {"append":"STREAM","type":"…","data":…}
///
/// Each may have "meta", an object, and "expecting", a number or one of the words of `--expecting`. Any other member is
/// refused: a member that was misspelt would be left out without a word.
package struct WriteLine {
  /// The metadata that each event gets; that of its line goes first, key by key.
  var metadata: DocumentObject
  var roundsNumbers: Bool
  var takesAnyID: Bool

  package init(metadata: DocumentObject, roundsNumbers: Bool, takesAnyID: Bool) {
    self.metadata = metadata
    self.roundsNumbers = roundsNumbers
    self.takesAnyID = takesAnyID
  }

  private static let kinds: [ShellWrite.Kind] = [.put, .merge, .delete, .append]
  private static let form =
    "a line is {\"put\":\"TABLE/ID\",\"data\":{…}}, or one with merge, delete or append; see logreplay help write"

  func write(_ line: UnsafeRawBufferPointer) throws(WriteRefusal) -> ShellWrite {
    guard case .object(let object) = try ShellJSON.parse(line, rounds: roundsNumbers) else {
      throw WriteRefusal("the line is not an object", next: Self.form)
    }
    let named = Self.kinds.filter { object[$0.rawValue] != nil }
    guard named.count == 1, let kind = named.first else {
      throw WriteRefusal(
        named.isEmpty
          ? "the line has none of put, merge, delete and append"
          : "the line has \(named.map(\.rawValue).joined(separator: " and "))", next: Self.form)
    }
    try checkMembers(object, kind)
    guard case .string(let name)? = object[kind.rawValue] else {
      throw WriteRefusal("\(kind.rawValue) is not a string", next: Self.form)
    }
    var write = try write(kind, name, object)
    write.metadata = try metadata(of: object)
    write.expected = try Self.expected(of: object)
    return write
  }

  private func write(
    _ kind: ShellWrite.Kind, _ name: String, _ object: DocumentObject
  ) throws(WriteRefusal) -> ShellWrite {
    switch kind {
    case .append:
      guard case .string(let type)? = object["type"] else {
        throw WriteRefusal(
          object["type"] == nil ? "the event has no type" : "the type is not a string", next: Self.form)
      }
      return try ShellWrite(append: type, to: ShellWrite.stream(name), object["data"] ?? .null)
    case .delete:
      return try ShellWrite(.delete, ShellWrite.row(name), .null, takesAnyID: true)
    case .put, .merge:
      guard let data = object["data"] else { throw WriteRefusal("the line has no data", next: Self.form) }
      return try ShellWrite(kind, ShellWrite.row(name), data, takesAnyID: takesAnyID)
    }
  }

  private func checkMembers(_ object: DocumentObject, _ kind: ShellWrite.Kind) throws(WriteRefusal) {
    for key in object.keys where key != kind.rawValue && key != "meta" && key != "expecting" {
      if key == "data", kind != .delete { continue }
      if key == "type", kind == .append { continue }
      throw WriteRefusal(
        "a line with \(kind.rawValue) has no member \(ShellWrite.quoted(key))",
        next: NearNames.hint(for: key, among: Self.members(of: kind)) ?? Self.form)
    }
  }

  private static func members(of kind: ShellWrite.Kind) -> [String] {
    [kind.rawValue, "meta", "expecting"] + (kind == .delete ? [] : ["data"])
      + (kind == .append ? ["type"] : [])
  }

  private func metadata(of object: DocumentObject) throws(WriteRefusal) -> DocumentObject {
    guard let value = object["meta"] else { return metadata }
    guard case .object(let own) = value else {
      throw WriteRefusal(
        "meta is not an object", next: "give metadata as an object: \"meta\":{\"by\":\"ann\"}")
    }
    guard !metadata.isEmpty else { return own }
    var all = metadata
    for (key, value) in own { all[key] = value }
    return all
  }

  private static func expected(of object: DocumentObject) throws(WriteRefusal) -> ExpectedVersion {
    let version: ExpectedVersion?
    switch object["expecting"] {
    case nil: version = .any
    case .int(let count)? where count >= 0: version = count == 0 ? .noStream : .exactly(UInt64(count))
    case .uint(let count)?: version = .exactly(count)
    case .string(let text)?: version = ExpectedVersion(shell: text)
    default: version = nil
    }
    guard let version else {
      throw WriteRefusal(
        "expecting is not a version", next: "give a number of events, or \"none\", \"exists\" or \"any\"")
    }
    return version
  }
}
