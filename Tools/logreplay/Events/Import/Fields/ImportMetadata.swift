// The metadata of imported events: constants, and values of fields.

internal import LogreplayShell
internal import StrataDocuments

/// What `--meta NAME=VALUE` says, for all of them. VALUE is a field's path; or a constant, as JSON or as text in single
/// quotes.
struct ImportMetadata {
  private enum Source {
    case constant(DocumentValue)
    case field(ImportFieldPath)
  }

  private let entries: [(name: String, source: Source)]
  /// The metadata as CBOR, if no field is part of it.
  private let constant: [UInt8]?

  static let none = ImportMetadata()

  private init() {
    entries = []
    constant = []
  }

  init(_ texts: [String]) throws(CommandFailure) {
    var entries: [(name: String, source: Source)] = []
    for text in texts {
      guard let equals = text.firstIndex(of: "="), equals > text.startIndex else {
        throw Self.refusal("'\(text)' is not NAME=VALUE")
      }
      let name = String(text[..<equals])
      guard !entries.contains(where: { $0.name == name }) else {
        throw Self.refusal("'\(name)' is given twice")
      }
      entries.append((name, try Self.source(String(text[text.index(after: equals)...]))))
    }
    self.entries = entries
    let constants = entries.compactMap { entry -> (String, DocumentValue)? in
      if case .constant(let value) = entry.source { (entry.name, value) } else { nil }
    }
    if entries.isEmpty {
      constant = []
    } else if constants.count == entries.count {
      constant = DocumentValue.object(DocumentObject(uniqueKeysWithValues: constants)).cbor()
    } else {
      constant = nil
    }
  }

  private static func source(_ text: String) throws(CommandFailure) -> Source {
    if text.count >= 2, text.hasPrefix("'"), text.hasSuffix("'") {
      return .constant(.string(String(text.dropFirst().dropLast())))
    }
    if let value = try? DocumentValue(json: text) { return .constant(value) }
    return .field(try ImportFieldPath(text, option: "--meta"))
  }

  private static func refusal(_ what: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.usage, what, at: "--meta",
      next: "write a name, =, and a field; or a constant: \"note='text'\", batch=7, or other JSON")
  }

  /// The fields that are part of it.
  var fields: [ImportFieldPath] {
    entries.compactMap { if case .field(let path) = $0.source { path } else { nil } }
  }

  /// The metadata of a document, as CBOR; empty if there is none. A field that the document does not have is left out.
  func bytes(of document: UnsafeRawBufferPointer) -> [UInt8] {
    if let constant { return constant }
    var object = DocumentObject()
    for (name, source) in entries {
      switch source {
      case .constant(let value): object[name] = value
      case .field(let path):
        if let value = path.find(in: document).flatMap({ try? DocumentValue(cbor: $0) }) {
          object[name] = value
        }
      }
    }
    return object.isEmpty ? [] : DocumentValue.object(object).cbor()
  }
}
