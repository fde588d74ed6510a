// The order that people make by hand: where its ranks are, and how a request asks for it.

internal import StrataDocuments
public import StrataTables

/// Where the rank of a manual order is in a row.
package struct ManualRank<Item: Sendable>: Sendable {
  package enum Place: Sendable {
    case keyPath(any WritableKeyPath<Item, String?> & Sendable)
    case field(FieldPath)
  }

  package let place: Place

  /// The rank by which a row stands: its own, or one by the event that made it where it has none.
  func text(of row: RowView, _ item: Item) -> String {
    let own: String? =
      switch place {
      case .keyPath(let keyPath): item[keyPath: keyPath]
      case .field(let path):
        path.find(in: row.document).flatMap { bytes in
          if case .string(let text)? = try? DocumentValue(cbor: bytes) { text } else { nil }
        }
      }
    guard let own, FractionalRank.isRank(own) else { return FractionalRank.derived(from: row.created) }
    return own
  }

  /// The property or the field as text.
  var name: String {
    switch place {
    case .keyPath(let keyPath): "\(keyPath as AnyKeyPath)"
    case .field(let path): path.description
    }
  }
}

extension ManualRank: Hashable {
  package static func == (a: Self, b: Self) -> Bool {
    switch (a.place, b.place) {
    case (.keyPath(let a), .keyPath(let b)): (a as AnyKeyPath) == (b as AnyKeyPath)
    case (.field(let a), .field(let b)): a == b
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch place {
    case .keyPath(let keyPath): hasher.combine(keyPath as AnyKeyPath)
    case .field(let path): hasher.combine(path)
    }
  }
}

extension ListRequest {
  /// In the order that people make by hand, with `list.move`: by a rank that each moved row keeps in a property.
  ///
  /// Rows that were never moved stand by the order of their creation, and new rows behind all others. For `move`
  /// it has to be the first of the request's sorts.
  ///
  /// - Parameter keyPath: belongs to the lists; programs leave it as it is. What is no rank counts as nil.
  public func sortedManually(
    by keyPath: any WritableKeyPath<Item, String?> & Sendable, _ direction: SortDirection = .forward
  ) -> Self {
    sortedManually(.keyPath(keyPath), direction)
  }

  /// The same with a rank in a field of the documents.
  public func sortedManually(byField path: FieldPath, _ direction: SortDirection = .forward) -> Self {
    sortedManually(.field(path), direction)
  }

  private func sortedManually(_ place: ManualRank<Item>.Place, _ direction: SortDirection) -> Self {
    var copy = self
    copy.sorts.append(KeyPart(manual: ManualRank(place: place), direction == .reverse ? .descending : []))
    return copy
  }
}
