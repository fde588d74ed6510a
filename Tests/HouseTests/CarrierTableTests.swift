// FORMAT.md's tables of what is in a carrier, against the constants of the code.

import StrataLog
import StrataReplica
import Testing

@Suite struct CarrierTableTests {
  private func expect(_ table: FormatTable, _ offsets: [(name: String, offset: Int)]) throws {
    for (name, offset) in offsets { #expect(try table.offset(name) == offset, "\(name)") }
  }

  @Test func `the header of an object is where FORMAT.md says`() throws {
    let table = try FormatTable("object header")
    typealias Offset = WireHeader.Offset
    table.expectNoGaps(length: WireHeader.length)
    try expect(
      table,
      [
        ("magic", Offset.magic), ("header length", Offset.headerLength), ("kind", Offset.kind),
        ("codec", Offset.codec), ("flags", Offset.flags), ("CRC32C of the header", Offset.headerChecksum),
        ("stored length", Offset.storedLength), ("raw length", Offset.rawLength),
        ("CRC32C of the stored", Offset.payloadChecksum), ("event count", Offset.eventCount),
        ("append count", Offset.appendCount), ("store UUID", Offset.storeID), ("writer", Offset.writer),
        ("number of the object", Offset.number), ("first sequence", Offset.firstSequence),
        ("appends in the store", Offset.appendsBefore), ("commit time of the first", Offset.firstTime),
        ("commit time of the last", Offset.lastTime), ("chain before", Offset.chainBefore),
        ("chain after", Offset.chainAfter),
      ])
    #expect(String(decoding: WireHeader.magic, as: UTF8.self) == "STRW")
  }

  @Test func `a manifest is where FORMAT.md says`() throws {
    let table = try FormatTable("manifest")
    typealias Offset = CarrierManifest.Offset
    table.expectNoGaps(length: CarrierManifest.fixedLength, isFilled: false)
    try expect(
      table,
      [
        ("version", Offset.version), ("CRC32C", Offset.checksum), ("count of segments", Offset.count),
        ("store UUID", Offset.storeID), ("writer", Offset.writer), ("number", Offset.number),
        ("first object", Offset.firstObject), ("erased through", Offset.erasedThrough),
        ("the segments", CarrierManifest.fixedLength),
      ])
    #expect(String(decoding: CarrierManifest.magic, as: UTF8.self) == "STRL")
    let entries = try FormatTable("segment in a manifest")
    typealias EntryOffset = CarrierManifest.EntryOffset
    entries.expectNoGaps(length: CarrierManifest.entryLength)
    try expect(
      entries,
      [
        ("since", EntryOffset.since), ("first sequence", EntryOffset.first),
        ("last sequence", EntryOffset.last), ("chain", EntryOffset.chain), ("length", EntryOffset.size),
        ("[mark of what is erased]", EntryOffset.erasures), ("revision", EntryOffset.revision),
        ("token", EntryOffset.token),
      ])
  }

  @Test func `the note of a member is where FORMAT.md says`() throws {
    let table = try FormatTable("note of a member")
    typealias Offset = MemberNote.Offset
    table.expectNoGaps(length: MemberNote.length)
    try expect(
      table,
      [
        ("version", Offset.version), ("part", Offset.part), ("CRC32C", Offset.checksum),
        ("store UUID", Offset.storeID), ("member", Offset.member), ("last sequence", Offset.sequence),
        ("chain", Offset.chain), ("erased through", Offset.erasedThrough), ("time", Offset.time),
      ])
    #expect(String(decoding: MemberNote.magic, as: UTF8.self) == "STRM")
  }
}
