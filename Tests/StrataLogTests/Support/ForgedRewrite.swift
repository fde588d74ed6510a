// A closed segment rewritten by hand, as FORMAT.md describes it: the same log at other offsets.

import StrataBase
import StrataLog
import Testing

/// Puts a rewritten segment in the place of a closed one: the same blocks, each with 64 bytes of padding more, and a
/// footer. Every offset behind the first block differs.
func forgeRewrite(_ fileSystem: any FileSystem, _ layout: StoreLayout, first: SegmentName) throws {
  let file = try fileSystem.open(layout.segment(first), .read)
  defer { file.close() }
  var header = try SegmentHandle.readHeader(of: file, first: first, storeID: nil)
  var bytes = [UInt8](repeating: 0, count: SegmentHeader.length)
  var places: [BlockAddress] = []
  var template: BlockHeader?
  func add(_ block: BlockHeader, _ payload: UnsafeRawBufferPointer) {
    var block = block
    block.ownOffset = UInt64(bytes.count)
    block.syncedThrough = block.ownOffset
    block.headerLength = UInt16(BlockHeader.length)
    block.span = UInt64((BlockHeader.length + payload.count + 64 + 7) & ~7)
    if block.kind == BlockKind.events { places.append(BlockAddress(block)) }
    bytes += [UInt8](repeating: 0, count: BlockHeader.length) + payload
    bytes += [UInt8](repeating: 0, count: Int(block.span) - BlockHeader.length - payload.count)
    bytes.withUnsafeMutableBytes { block.write(to: $0.baseAddress! + Int(block.ownOffset)) }
  }
  var walk = BlockWalk(file: file, segment: header, limit: UInt64(try file.size()))
  while !walk.isAtLimit {
    guard case .valid(let block, let payload) = try walk.next() else {
      Issue.record("\(layout.segment(first)) is not valid")
      return
    }
    template = block
    if block.kind != BlockKind.footer { add(block, payload) }
  }
  header.revision += 1
  header.footerOffset = UInt64(bytes.count)
  header.rewrittenLast = walk.link.lastSequence
  header.rewrittenChain = walk.link.chain
  let index = FooterIndex.encoded(places)
  var footer = try #require(template, "an empty segment is never closed")
  footer.kind = BlockKind.footer
  footer.codec = BlockCodec.none
  (footer.eventCount, footer.appendCount) = (0, 0)
  footer.firstSequence = walk.link.nextSequence
  footer.appendsBefore = walk.link.appends
  (footer.chainBefore, footer.chainAfter) = (walk.link.chain, walk.link.chain)
  (footer.firstTime, footer.lastTime) = (walk.link.lastTime, walk.link.lastTime)
  footer.storedLength = UInt32(index.count)
  footer.rawLength = UInt32(index.count)
  index.withUnsafeBytes {
    footer.payloadChecksum = CRC32C.of($0)
    add(footer, $0)
  }
  header.rewrittenEnd = UInt64(bytes.count)
  bytes.replaceSubrange(..<SegmentHeader.length, with: header.encoded())
  let path = layout.segment(first) + ".tmp"
  let copy = try fileSystem.open(path, .create)
  defer { copy.close() }
  try copy.truncate(to: 0)
  try copy.write(bytes, at: 0)
  try copy.sync()
  try fileSystem.rename(path, to: layout.segment(first))
  try fileSystem.syncDirectory(layout.log)
}
