// Foundation's value types, and the log's timestamps, as sort keys.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
public import StrataEvents

/// Ordered by its sixteen bytes, which is also the order of its text.
extension UUID: SortKey {
  public func encode(to writer: inout SortKeyWriter) {
    writer.reserve(17)
    writer.store(SortKeyTag.uuid)
    Swift.withUnsafeBytes(of: uuid) { writer.store($0) }
  }

  public init(from reader: inout SortKeyReader) throws(SortKeyError) {
    try reader.expect(SortKeyTag.uuid)
    let bytes = try reader.readBytes(count: 16)
    var value: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    Swift.withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes) }
    self.init(uuid: value)
  }
}

/// Ordered by its seconds since 2001, exactly.
extension Date: SortKey {
  public func encode(to writer: inout SortKeyWriter) {
    writer.append(number: timeIntervalSinceReferenceDate)
  }

  public init(from reader: inout SortKeyReader) throws(SortKeyError) {
    self.init(timeIntervalSinceReferenceDate: try reader.readDouble())
  }
}

/// Ordered byte by byte, a shorter value before its extensions.
extension Data: SortKey {
  public func encode(to writer: inout SortKeyWriter) {
    withUnsafeBytes { writer.append(escaped: $0, tag: SortKeyTag.bytes) }
  }

  public init(from reader: inout SortKeyReader) throws(SortKeyError) {
    self.init(try [UInt8](from: &reader))
  }
}

extension Timestamp: SortKey {
  public func encode(to writer: inout SortKeyWriter) { nanoseconds.encode(to: &writer) }

  public init(from reader: inout SortKeyReader) throws(SortKeyError) {
    self.init(nanoseconds: try Int64(from: &reader))
  }
}
