// The manual order of a list: where its ranks are, and how a request selects it.

internal import StrataDocuments
public import StrataTables

/// Where a row keeps its rank for a manual order.
package struct ManualRank<Item: Sendable>: Sendable {
  package enum Place: Sendable {
    case keyPath(any WritableKeyPath<Item, String?> & Sendable)
    case field(FieldPath)
  }

  package let place: Place

  /// The rank by which a row is sorted: its own, or one derived from the event that created it.
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
  /// Sorted manually, as arranged with `list.move`: by a rank that each moved row keeps in a property.
  ///
  /// Rows that were never moved are sorted by the order of their creation, and new rows come after all others. For
  /// `move`, the manual order has to be the first of the request's sorts.
  ///
  /// - Parameter keyPath: reserved for the lists; programs do not change it. A value that is not a rank counts as nil.
  public func sortedManually(
    by keyPath: any WritableKeyPath<Item, String?> & Sendable, _ direction: SortDirection = .forward
  ) -> Self {
    sortedManually(.keyPath(keyPath), direction)
  }

  /// Sorted manually, by a rank in a field of the documents.
  public func sortedManually(byField path: FieldPath, _ direction: SortDirection = .forward) -> Self {
    sortedManually(.field(path), direction)
  }

  private func sortedManually(_ place: ManualRank<Item>.Place, _ direction: SortDirection) -> Self {
    var copy = self
    copy.sorts.append(KeyPart(manual: ManualRank(place: place), direction == .reverse ? .descending : []))
    return copy
  }
}
