// Reading the components of keys without knowing their types.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
internal import StrataTables
internal import Testing

@Suite struct SortKeyAnythingTests {
  /// What each value is read as.
  private func values(_ write: (inout SortKeyWriter) -> Void) -> [DocumentValue] {
    var writer = SortKeyWriter()
    write(&writer)
    return writer.withUnsafeBytes { bytes in
      var reader = SortKeyReader(bytes)
      var values: [DocumentValue] = []
      while !reader.isAtEnd, let value = try? reader.readAnything() { values.append(value) }
      return values
    }
  }

  @Test
  func `Any component is read as what it says, in either direction`() throws {
    let id = try #require(UUID(uuidString: "0F000000-1111-2222-3333-4444000000FF"))
    for options: SortKeyOptions in [[], .descending, .nilsLast, [.descending, .nilsLast]] {
      let read = values { writer in
        writer.append("tea\u{0}", options)
        writer.append(-7, options)
        writer.append(2.5, options)
        writer.append(true, options)
        writer.append(id, options)
        writer.append(nil as String?, options)
        writer.append("there" as String?, options)
        writer.append("ÉTÉ", options.union(.caseInsensitive))
      }
      let expected: [DocumentValue] = [
        .string("tea\u{0}"), .int(-7), .double(2.5), .bool(true), .string(id.uuidString), .null,
        .string("there"), .string("été"),
      ]
      #expect(read == expected, "\(options)")
    }
  }

  @Test
  func `Bytes that are no key are an error, wherever they end`() {
    for count in 0..<6 {
      let bytes = [UInt8](repeating: 0x38, count: count) + [0x77]
      bytes.withUnsafeBytes { bytes in
        var reader = SortKeyReader(bytes)
        #expect(throws: SortKeyError.self) { while !reader.isAtEnd { _ = try reader.readAnything() } }
      }
    }
  }
}
