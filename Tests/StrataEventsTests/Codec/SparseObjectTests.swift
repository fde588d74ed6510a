// Fields that an object with many others does not have.

import StrataDocuments
import Testing

private struct Sparse: Decodable, Equatable {
  var a: Int?
  var k1x: Int?
  var k15: Int?
  var k999: Int?
}

@Suite struct SparseObjectTests {
  /// Enough that a key is looked for by halves. In the order of encodings `a` is before all of them, `k1x` between
  /// two, and `k999` after the last one.
  @Test(arguments: [13, 20, 64])
  func `A field that is not among many others is nil, wherever its name would be`(count: Int) throws {
    let many = Dictionary(uniqueKeysWithValues: (10..<10 + count).map { ("k\($0)", $0) })
    let bytes = try CBOREncoder().encode(many)
    let expected = Sparse(a: nil, k1x: nil, k15: 15, k999: nil)
    #expect(try CBORDecoder().decode(Sparse.self, from: bytes) == expected)
  }
}
