// `seal`: closes the active segment and rewrites the closed ones, smaller.

internal import ArgumentParser
internal import StrataEvents
internal import StrataLog

struct SealCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "seal",
    abstract: "Closes the active segment, and rewrites the closed ones in fewer bytes, with an index.",
    discussion: """
      Events, sequences and the chain stay as they are. An open store does this by itself, one segment after the \
      other. It needs room for one more segment while it works, and takes the writer's lock.
      """)

  @OptionGroup var target: StoreArgument
  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    let store = try OpenedStore.openForWriting(target.store)
    defer { try? store.closeBlocking() }
    let receipt = try store.sealBlocking()
    var writer = OutputWriter()
    if output.format.isJSON {
      var line = JSONLine.document()
      line.field("sealed", receipt.segmentCount)
      line.field("bytesBefore", receipt.bytesBefore)
      line.field("bytesAfter", receipt.bytesAfter)
      writer.bytes += line.finish() + [UInt8(ascii: "\n")]
    } else {
      writer.bytes +=
        "\(receipt.segmentCount) segments sealed: \(receipt.bytesBefore) bytes before, \(receipt.bytesAfter) after\n"
        .utf8
    }
    try writer.flush()
    for kept in receipt.kept { Terminal.note("logreplay: left as it is: \(kept)") }
    try store.closeBlocking()
  }
}

extension OpenedStore {
  /// Opens a store that is there for writing; one that is not there is not made.
  static func openForWriting(_ path: String) throws(CommandFailure) -> EventStore {
    do throws(StoreError) {
      // Whoever only reads says best what is wrong with a path, and makes nothing.
      try EventStore.openBlocking(at: path, .readOnly).closeBlocking()
      var options = StoreOptions()
      options.sealsInBackground = false
      return try EventStore.openBlocking(at: path, options: options)
    } catch { throw CommandFailure(reading: path, error) }
  }
}
