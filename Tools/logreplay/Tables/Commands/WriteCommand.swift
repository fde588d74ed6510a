// `write`: many writes from lines, as one append or as many.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

package struct WriteCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "write",
    abstract: "Writes rows and events from lines of JSON, all of them as one append.",
    discussion: """
      A line is an object, of one of these forms:

        {"put":"TABLE/ID","data":{…}}             as logreplay put
        {"merge":"TABLE/ID","data":{…}}           as logreplay merge
        {"delete":"TABLE/ID"}                     as logreplay delete
        {"append":"STREAM","type":"…","data":…}   as logreplay append; data is null if it is left out

      It may also have "meta", an object, which goes before --meta key by key, and "expecting", a number, "none", \
      "exists" or "any": the version that the stream must have just before the line. The lines before it count, in \
      whichever append they are. Other members are refused. Blank lines are passed over; the input may be compressed \
      with gzip.

      All lines are one append: all of them are in the store in the end, or none. An append has at most 16 MiB and \
      1,048,576 events. All lines are read and checked before the store is opened, and a line that is wrong, or does \
      not fit any more, is named, and nothing is appended.

      With --each N every N lines are an append, in order, with any number of lines in all. An error then stops at its \
      append: those before it stay, and the error names the first line that is not in the store. With --id too, the \
      append that begins with line L has the id ID:L; so the same lines with the same N can be written again after any \
      failure, and what is in the store is not appended twice. The writer's lock is held until the input ends.

      Exit codes are said in logreplay help put.
      """)

  @OptionGroup var target: StoreArgument

  @Argument(help: "The file with the lines, or - for standard input.")
  var file: String

  @Option(help: "Make an append of every N lines, instead of one of all.")
  var each: Int?

  @Flag(help: "Take documents whose field id is another one than their row's.")
  var anyID = false

  @OptionGroup var options: WriteOptions

  func perform() throws {
    let report = try execute()
    var writer = OutputWriter()
    writer.bytes +=
      (options.output.format.isJSON ? report.json : Array(report.short.utf8)) + [UInt8(ascii: "\n")]
    try writer.flush()
  }

  /// Writes the lines, without printing the report.
  func execute() throws(CommandFailure) -> WriteReport {
    try options.check()
    if let each, each < 1 {
      throw WriteRefusal("\(each) is no number of lines", next: "give 1 or more").failure(of: "--each")
    }
    // The number of a line has up to 20 digits.
    let id = try options.idBytes(FormatLimits.appendIDLengthMax - (each == nil ? 0 : 21))
    let given = try options.givenTime()
    let form = WriteLine(
      metadata: try options.metadataObject(), roundsNumbers: options.roundNumbers, takesAnyID: anyID)
    let input = try ShellJSON.opened(file)
    let lines = WriteLines(input, form, StoreOptions())
    guard let each else {
      guard let batch = try lines.batch(of: .max) else { return WriteReport() }
      return try ShellStore.with(target.store, options) { store throws(CommandFailure) in
        let report = try batch.append(to: store, id: id, given: given, path: target.store, input: input.name)
        store.extendDocumentState()
        return report
      }
    }
    return try ShellStore.with(target.store, options) { store throws(CommandFailure) in
      let report = try WriteRun(lines, into: store, path: target.store, id: id, given: given).run(each)
      store.extendDocumentState()
      return report
    }
  }
}
