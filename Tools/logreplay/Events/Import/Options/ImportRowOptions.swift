// The options of `import` for records: which field is what, and what happens to those that cannot be imported.

internal import ArgumentParser

/// How records become rows.
package struct ImportRowOptions: ParsableArguments, Sendable {
  @Option(help: "The table to import into.")
  var table: String?

  @Option(
    help: ArgumentHelp(
      "The field that holds a record's id, a string or an integer.",
      discussion: """
        A name, or names from the document inwards, separated by dots: _id.$oid. A name with a dot is in backquotes, \
        or the whole text is the name of a field.
        """, valueName: "field"))
  var id: String?

  @Option(
    help:
      "The field that holds a record's time, as --id names fields. Default: the current time.")
  var time: String?

  @Option(
    help: ArgumentHelp(
      "What times look like: rfc3339, or s, ms, us or ns since 1970, as number or text. Default: rfc3339.",
      discussion: """
        rfc3339 takes a space for the T, and offsets as +01, +0100 and UTC, too.
        """, valueName: "form"))
  var timeFormat: String?

  @Option(
    parsing: .unconditional,
    help: """
      The zone of times without an offset, and of dates: utc, an offset such as +01:00, or local, which is that of the \
      variable TZ. A time that clocks show twice is the first one. Default: such times are bad.
      """)
  var timeZone: String?

  @Option(
    name: .customLong("delete-when"), parsing: .unconditional,
    help: "A record that matches this expression, as `at --where` has them, deletes its row."
  )
  var deleteWhen: String?

  @Option(
    help: ArgumentHelp(
      "Metadata of every event, as NAME=FIELD, or as a constant: \"NAME='text'\" or NAME=JSON. Repeatable.",
      discussion: """
        FIELD is a field as --id names it; a record that does not have it has no such metadata. JSON is a number, \
        true, false, null, or what is in double quotes, brackets or braces.
        """, valueName: "name=value"))
  var meta: [String] = []

  @Option(
    help:
      """
      The name of the source in append ids. Default: the file's name without its folder; none for standard input and \
      pipes. Two files of one name are one source, so a different file needs a --source of its own.
      """
  )
  var source: String?

  @Flag(help: "Each record is a merge patch (RFC 7396) instead of a whole document.")
  var merge = false

  @Flag(help: "Skip bad records and count them.")
  var skipBad = false

  @Option(
    help: ArgumentHelp(
      "Skip bad records, count them, and write each to this file, with its line and what is wrong.",
      discussion: """
        A line of JSON for each: {"column":c,"line":n,"record":"…","why":"…"}. A file that is there is replaced with the first \
        of them.
        """, valueName: "file"))
  var skipErrors: String?

  @Flag(
    help: """
      Take a number with more digits than a double keeps as the nearest double, and count its record. One that \
      is too large for a double stays bad.
      """)
  var roundNumbers = false

  @Flag(
    help: """
      Append a record that comes before one that the store has after that one, with the store's last time if \
      its own is earlier.
      """)
  var applyLate = false

  @Flag(
    help: """
      With --time: append the records in the order of their times, and records of one time in that of the input. \
      All are read and checked before the first is appended. Those that do not fit into 32 MiB of memory go to a \
      temporary file in the folder TMPDIR, or else beside the store.
      """)
  var sortByTime = false

  @Option(
    help: """
      With --time: by how much a time may be earlier than the latest one before it, such as 5s, 2h or 3d. It \
      is kept: a point by time finds it. Default: 0.
      """)
  var timeSlack: String?

  @Flag(
    help: """
      Raise a time that is earlier than the latest one before it, in the input or in the store, to that one. \
      The record counts where it is put, and only its document says its own time.
      """)
  var clampTime = false

  /// Whether any of them but the table is given.
  var isGivenBesidesTable: Bool { source != nil || isGivenBesidesTableAndSource }

  /// Whether any of them but the table and the source is given.
  var isGivenBesidesTableAndSource: Bool {
    id != nil || time != nil || timeFormat != nil || timeZone != nil || deleteWhen != nil || !meta.isEmpty
      || merge || skipBad || skipErrors != nil || roundNumbers || applyLate || sortByTime
      || timeSlack != nil || clampTime
  }
}
