// Where a side of a comparison gets its value from.

internal import StrataEvents
internal import StrataTables

/// An operand, ready for rows.
enum FilterSource: Sendable {
  case field(FieldPath)
  case id, revision, time, section
  /// A literal's CBOR.
  case literal([UInt8])
  case date(Instant)

  init(_ operand: FilterOperand) {
    switch operand {
    case .field(let path):
      self =
        switch path.subject {
        case .field: .field(path)
        case .id: .id
        case .revision: .revision
        case .time: .time
        case .section: .section
        }
    case .value(let value): self = .literal(value.cbor())
    case .date(let instant): self = .date(instant)
    case .list: self = .literal(DocumentValue.null.cbor())  // the clause holds a list's values
    }
  }

  /// Calls the body with the value that a row has here. It is valid inside only.
  @inline(__always)
  func withValue(_ row: RowView, _ section: () -> DocumentValue, _ body: (FilterValue) -> Bool) -> Bool {
    switch self {
    case .field(let path):
      guard let item = path.find(in: row.document) else { return body(.null) }
      return FilterValue.withValue(of: item, body)
    case .literal(let bytes): return bytes.withUnsafeBytes { FilterValue.withValue(of: $0, body) }
    case .date(let instant): return body(.date(instant))
    case .id: return body(.text(row.id))
    case .revision: return body(.integer(magnitude: row.revision, isNegative: false))
    case .time: return body(.time(Timestamp(nanoseconds: row.time)))
    case .section: return section().cbor().withUnsafeBytes { FilterValue.withValue(of: $0, body) }
    }
  }
}
