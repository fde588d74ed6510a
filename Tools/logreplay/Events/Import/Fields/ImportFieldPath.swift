// The path to a field in an option: a name, or names from the document inwards, separated by dots.

internal import LogreplayShell
internal import StrataDocuments

/// The path to a field of a document: `id`, `_id.$oid`, `` `odd.name`.x ``.
///
/// A name is any text without a dot; in backquotes, it may contain dots, and two backquotes are one. A text with dots
/// names the field of that whole name if the document has it, and else the field in a field.
struct ImportFieldPath: Equatable {
  /// The option's text.
  let text: String
  let names: [String]

  init(_ text: String, option: String) throws(CommandFailure) {
    self.text = text
    guard let names = Self.names(in: text) else {
      throw CommandFailure(
        ExitStatus.usage, "'\(text)' is not a field", at: option,
        next: "write a name, or names separated by dots; put a name with a dot in backquotes")
    }
    self.names = names
  }

  /// The path to a field of the document with this name, whatever characters it has.
  init(name: String) {
    text = name
    names = [name]
  }

  /// The value of the field in a document, as CBOR; nil if it is not there.
  func find(in document: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    if names.count > 1, let whole = CBORFields.value(of: text, in: document) { return whole }
    var value = document
    for name in names {
      guard let inner = CBORFields.value(of: name, in: value) else { return nil }
      value = inner
    }
    return value
  }

  private static func names(in text: String) -> [String]? {
    guard text.utf8.contains(UInt8(ascii: "`")) else {
      let names = text.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
      return names.contains("") ? nil : names
    }
    var names: [String] = []
    var rest = text.unicodeScalars[...]
    repeat {
      if !names.isEmpty { rest.removeFirst() }
      guard let name = nextName(&rest), !name.isEmpty else { return nil }
      names.append(name)
    } while rest.first == "."
    return rest.isEmpty ? names : nil
  }

  /// Takes the name at the beginning of a path.
  private static func nextName(_ rest: inout Substring.UnicodeScalarView) -> String? {
    var name = String.UnicodeScalarView()
    guard rest.first == "`" else {
      while let scalar = rest.first, scalar != "." {
        guard scalar != "`" else { return nil }
        name.append(rest.removeFirst())
      }
      return String(name)
    }
    rest.removeFirst()
    while let scalar = rest.popFirst() {
      if scalar == "`" {
        guard rest.first == "`" else { return String(name) }
        rest.removeFirst()
      }
      name.append(scalar)
    }
    return nil
  }
}
