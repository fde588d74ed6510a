// What the files of a store hold, read without opening it.

internal import StrataBase
package import StrataLog

extension FileSystem {
  /// The blocks of a segment, up to the first that is not valid.
  package func blocks(of segment: SegmentName, in layout: StoreLayout) throws(StoreError) -> [BlockHeader] {
    let file = try open(layout.segment(segment), .read)
    defer { file.close() }
    let header = try SegmentHandle.readHeader(of: file, first: segment, storeID: nil)
    var walk = BlockWalk(file: file, segment: header, limit: UInt64(try file.size()))
    var blocks: [BlockHeader] = []
    while !walk.isAtLimit, case .valid(let block, _) = try walk.next() { blocks.append(block) }
    return blocks
  }

  /// What a RECOVERY block at an offset says; nil if there is none.
  package func recoveryNote(
    in segment: SegmentName, of layout: StoreLayout, at offset: UInt64
  ) throws(StoreError) -> RecoveryNote? {
    let file = try open(layout.segment(segment), .read)
    defer { file.close() }
    let header = try SegmentHandle.readHeader(of: file, first: segment, storeID: nil)
    var source = BlockSource(file: file, segment: header)
    guard case .valid(let block, let payload) = try source.block(at: offset, limit: UInt64(try file.size())),
      block.kind == BlockKind.recovery
    else { return nil }
    return RecoveryNote(decoding: payload)
  }

  /// What a check of a whole store finds.
  package func findings(inStore path: String) throws(StoreError) -> [StoreFinding] {
    var verifier = LogVerifier(self, path: path)
    return try verifier.run().findings
  }
}
