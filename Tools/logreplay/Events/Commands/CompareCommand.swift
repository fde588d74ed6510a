// `compare`: whether two stores hold the same events, and the first difference.

internal import ArgumentParser
internal import LogreplayShell
internal import StrataEvents
internal import StrataLog

package struct CompareCommand: BlockingCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Compares the events of two stores, and names the first difference.",
    discussion: """
      Compared are, in the order of the log, each event's stream, type, payload and metadata, byte for byte, and \
      whether it is erased; where appends begin, their ids, and their own times. So a copy by events is the same as the \
      store that it was made from, whatever else either store has been given. Not compared are sequences, the versions \
      of streams, commit times and salts, and events of Strata's own, in streams that begin with $: positions of \
      consumers, orders to erase, views. --exact compares all of that, too: then two stores are the same if one is a \
      backup of the other, or was made from an export into an empty store.

      A store that another process writes to is compared up to the end that it had when the command began. Of two \
      stores of which one has more events, the first difference is the end of the other.

      Exit codes: 0 the same, 1 different, 65 damage in one of them, 66 no such store.
      """)

  @Argument(help: "The first store's folder.")
  var first: String

  @Argument(help: "The second store's folder.")
  var second: String

  @Flag(
    help: """
      Also compare sequences, versions, commit times, flags and salts, and events of Strata's own.
      """)
  var exact = false

  @OptionGroup var output: OutputOptions

  func perform() throws {
    try output.refuse(.csv)
    for path in [first, second] where path.isEmpty {
      throw CommandFailure(ExitStatus.usage, "a store's path is empty", next: "give the paths of two folders")
    }
    let sides = (
      try CompareSide(first, hasOwnEvents: exact), try CompareSide(second, hasOwnEvents: exact)
    )
    let difference = try StoreComparison(isExact: exact).run(sides.0, sides.1)
    let report = CompareReport(sides.0, sides.1, difference)
    var writer = OutputWriter()
    if output.format.isJSON {
      writer.bytes += try report.json() + [UInt8(ascii: "\n")]
    } else {
      writer.bytes += try report.text(people: output.people.text).utf8
    }
    try writer.flush()
    for side in [sides.0, sides.1] { try side.opened.reportEnd() }
    if difference != nil { throw ExitCode(ExitStatus.negative) }
  }
}
