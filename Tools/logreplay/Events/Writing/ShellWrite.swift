// One write from a shell: an event, and the version that its stream must have just before it.

package import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// What a command that writes asks for, or a line of `write`.
struct ShellWrite {
  enum Kind: String {
    case put, merge, delete, append
  }

  var kind: Kind
  var stream: StreamName
  /// The type of the event.
  var type: String
  var payload: DocumentValue
  var metadata: DocumentObject = [:]
  /// The version that the stream must have just before this event, also if an earlier event of the same append is of
  /// this stream.
  var expected: ExpectedVersion = .any
}

/// Why something is not written: a sentence, and what to do.
package struct WriteRefusal: Error {
  var what: String
  var next: String

  package init(_ what: String, next: String) {
    self.what = what
    self.next = next
  }

  /// The failure of a command whose argument is refused.
  package func failure(of argument: String) -> CommandFailure {
    CommandFailure(ExitStatus.usage, what, at: PeopleText.shortened(argument), next: next)
  }

  /// The failure of a command whose input is refused.
  func failure(in input: String) -> CommandFailure {
    CommandFailure(ExitStatus.corrupt, what, at: input, next: next)
  }
}

// MARK: Names

extension ShellWrite {
  /// The stream of a row, from `TABLE/ID`.
  static func row(_ text: String) throws(WriteRefusal) -> StreamName {
    let name = try stream(text)
    guard text.utf8.contains(UInt8(ascii: "/")) else {
      throw WriteRefusal(
        "\(quoted(text)) names no row", next: "name it as TABLE/ID; the table ends at the first slash")
    }
    guard !name.category.isEmpty, !name.id.isEmpty else {
      throw WriteRefusal(
        "\(quoted(text)) has an empty \(name.category.isEmpty ? "table" : "id")",
        next: "name the row as TABLE/ID")
    }
    return name
  }

  /// A stream that may be written to.
  static func stream(_ text: String) throws(WriteRefusal) -> StreamName {
    let name = StreamName(text)
    do throws(StoreError) { try name.check() } catch {
      throw WriteRefusal(error.what, next: "give a name of 1 to \(FormatLimits.streamLengthMax) bytes")
    }
    // These hold what Strata notes for itself: erasures, positions of consumers, lists that are kept.
    guard text.utf8.first != UInt8(ascii: "$") else {
      throw WriteRefusal(
        "\(quoted(text)) is reserved: streams that begin with $ are Strata's own", next: "name another stream"
      )
    }
    return name
  }

  /// Throws if an event may not have a type.
  static func check(type: String) throws(WriteRefusal) {
    guard (1...FormatLimits.typeLengthMax).contains(type.utf8.count) else {
      throw WriteRefusal(
        "a type's name has 1 to \(FormatLimits.typeLengthMax) bytes, and this one has \(type.utf8.count)",
        next: "give the event another type")
    }
    guard type.utf8.first != UInt8(ascii: "$") else {
      throw WriteRefusal(
        "the type \(quoted(type)) is reserved: types that begin with $ are Strata's own",
        next: "write rows with put, merge and delete, and give events a type without $")
    }
  }

  /// A text from a user inside of a sentence, not longer than is read at one look.
  static func quoted(_ text: String) -> String { "'\(PeopleText.shortened(text))'" }
}

// MARK: Documents

extension ShellWrite {
  /// The write of a row. Throws if the document cannot be one of the row.
  ///
  /// - Parameter takesAnyID: whether the field `id` of the document may be another one than the row's.
  init(
    _ kind: Kind, _ stream: StreamName, _ document: DocumentValue, takesAnyID: Bool
  ) throws(WriteRefusal) {
    self.kind = kind
    self.stream = stream
    payload = document
    type =
      switch kind {
      case .put: DocumentEvent.put
      case .merge: DocumentEvent.merge
      case .delete, .append: DocumentEvent.delete
      }
    guard kind != .delete else { return }
    guard case .object(let object) = document else {
      throw WriteRefusal(
        kind == .put ? "the document is not an object" : "the merge patch is not an object",
        next: "give a JSON object, such as {\"status\":\"Open\"}")
    }
    // A program that reads the row as a type of its own refuses a document with the id of another one.
    guard !takesAnyID, let other = Self.otherID(in: object, than: stream.id, isPatch: kind == .merge) else {
      return
    }
    throw WriteRefusal(
      kind == .put
        ? "the row is \(Self.quoted(stream.text)), and the field id of its document is \(other)"
        : "the patch would give the row \(Self.quoted(stream.text)) the field id \(other)",
      next: "correct one of them, or give --any-id if the field id is not the row's")
  }

  /// An event of an application's own type.
  init(append type: String, to stream: StreamName, _ payload: DocumentValue) throws(WriteRefusal) {
    try Self.check(type: type)
    kind = .append
    self.stream = stream
    self.type = type
    self.payload = payload
  }

  /// The field `id` as JSON, if it is there and is not the row's. A patch removes it by null.
  private static func otherID(in object: DocumentObject, than id: String, isPatch: Bool) -> String? {
    guard let value = object["id"] else { return nil }
    let text: String
    switch value {
    case .string(let string): text = string
    case .int(let number): text = String(number)
    case .uint(let number): text = String(number)
    case .bigInt(let number): text = number.description
    case .null where isPatch: return "null"
    default: return nil
    }
    return text.utf8.elementsEqual(id.utf8) ? nil : PeopleText.shortened(value.json())
  }
}
