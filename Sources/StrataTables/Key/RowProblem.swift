// What a list reports of a row.

/// Why a row is left out of a list, or that it is shown by less than its whole key.
package struct RowProblem: Error, Sendable, Hashable {
  package var what: String
  package init(what: String) { self.what = what }
}

extension RowProblem {
  /// The report of a row that is shown begins with this, and no other report does.
  private static let shownPrefix = "it is shown, but "

  /// The report of a row whose key was shortened.
  static func shortened(section: Bool, sort lengthMax: Int?) -> RowProblem {
    var parts: [String] = []
    if section {
      parts.append(
        "its section is longer than \(SectionBytes.lengthMax) bytes, and is named by its beginning and a hash"
      )
    }
    if let lengthMax {
      parts.append(
        "its sort keys are longer than \(lengthMax) bytes, and only their beginning counts, and then its id")
    }
    return RowProblem(what: shownPrefix + parts.joined(separator: "; "))
  }

  /// Whether a text in the tree of problems is of a row that is shown.
  package static func isOfShownRow(_ what: UnsafeRawBufferPointer) -> Bool {
    what.starts(with: shownPrefix.utf8)
  }
}
