// The fields of a row that are shown: `--fields a,b.c,$time`.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataTables

/// All fields of a document, or the requested ones.
struct ShownFields: Hashable, Sendable {
  /// A field, and the name that it is shown with.
  struct Named: Hashable, Sendable {
    var name: String
    var path: FieldPath
  }

  /// The requested fields in order; nil for all.
  let chosen: [Named]?

  /// Parses the option's value; nil means all fields.
  init(_ text: String?) throws(CommandFailure) {
    guard let text else {
      chosen = nil
      return
    }
    var chosen: [Named] = []
    let scalars = text.unicodeScalars
    var index = scalars.startIndex
    while true {
      while index < scalars.endIndex, scalars[index] == " " { index = scalars.index(after: index) }
      let path = try FieldPath.scanned(scalars, &index, option: "--fields", of: text)
      guard path != .section else {
        throw CommandFailure(
          ExitStatus.usage, "$section is shown once for all rows of a section", at: "--fields \(text)",
          next: "leave it out")
      }
      let name = path.names.count == 1 ? path.names[0] : path.description
      if let other = chosen.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
        guard other.path == path else {
          throw CommandFailure(
            ExitStatus.usage, "two fields would be shown with the name '\(name)'", at: "--fields \(text)",
            next: "show them one at a time")
        }
      } else {
        chosen.append(Named(name: name, path: path))
      }
      guard index < scalars.endIndex else { break }
      guard scalars[index] == "," else {
        throw CommandFailure(
          ExitStatus.usage, "unexpected '\(text[index...])' after a field", at: "--fields \(text)",
          next: "write fields with a comma between them: status,time")
      }
      index = scalars.index(after: index)
    }
    self.chosen = chosen
  }

  /// The shown fields of a row. A field that the row does not have is left out.
  func fields(of row: RowView) -> DocumentObject {
    // The fold encoded the rows of a table, so they decode.
    guard case .object(let whole)? = try? DocumentValue(cbor: row.document) else { return [:] }
    guard let chosen else { return whole }
    var object = DocumentObject()
    for field in chosen {
      if let value = Self.value(of: field.path, row, whole) { object[field.name] = value }
    }
    return object
  }

  private static func value(
    of path: FieldPath, _ row: RowView, _ document: DocumentObject
  ) -> DocumentValue? {
    switch path {
    case .id: return .string(row.idText)
    case .revision: return DocumentValue(row.revision)
    case .time: return .string(Timestamp(nanoseconds: row.time).description)
    default: break
    }
    var value: DocumentValue? = .object(document)
    for name in path.names { value = value?[name] }
    return value
  }
}

/// A field whose value differs between two versions of a row. A side is nil if the field is absent there.
struct FieldChange {
  var name: String
  var old: DocumentValue?
  var new: DocumentValue?

  /// The fields that differ, ascending by the names' UTF-8. O(fields).
  static func changes(from old: DocumentObject, to new: DocumentObject) -> [FieldChange] {
    var changes: [FieldChange] = []
    var (i, j) = (0, 0)
    while i < old.count || j < new.count {
      if j == new.count || (i < old.count && old[i].key.utf8.lexicographicallyPrecedes(new[j].key.utf8)) {
        changes.append(FieldChange(name: old[i].key, old: old[i].value, new: nil))
        i += 1
      } else if i == old.count || new[j].key.utf8.lexicographicallyPrecedes(old[i].key.utf8) {
        changes.append(FieldChange(name: new[j].key, old: nil, new: new[j].value))
        j += 1
      } else {
        if old[i].value != new[j].value {
          changes.append(FieldChange(name: old[i].key, old: old[i].value, new: new[j].value))
        }
        i += 1
        j += 1
      }
    }
    return changes
  }
}
