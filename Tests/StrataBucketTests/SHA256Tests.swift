// The hash against vectors that others have computed.

internal import StrataBase
internal import Testing

@Suite struct SHA256Tests {
  private func hash(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { SHA256.hex($0) } }

  @Test func `the hash is that of the standard's examples`() {
    #expect(hash([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      hash(Array("abc".utf8)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      hash(Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8))
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    #expect(
      hash(Array(repeating: UInt8(ascii: "a"), count: 1_000_000))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test(arguments: [
    (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
    (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
    (63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
    (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
    (65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"),
    (119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
    (120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
  ])
  func `the hash is right where the length ends a block, or does not fit into it`(
    length: Int, expected: String
  ) {
    #expect(hash(Array(repeating: UInt8(ascii: "a"), count: length)) == expected)
  }

  @Test func `the hash is right at an address that is not aligned`() {
    let bytes = (0..<100_003).map { UInt8(truncatingIfNeeded: $0) }
    let expected = "cec3a8fe244db4929c2213d28d360391c86c847e5083efa2000597fb8671dc74"
    #expect(hash(bytes) == expected)
    let shifted = [0] + bytes
    shifted.withUnsafeBytes { #expect(SHA256.hex(UnsafeRawBufferPointer(rebasing: $0[1...])) == expected) }
  }
}
