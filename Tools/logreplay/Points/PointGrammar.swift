// The grammar of points, ranges and times, for help texts and errors.

/// The grammar of points as text for people.
package enum PointGrammar {
  /// Examples of times.
  package static let timeExamples =
    "'2026-11-20 18:17:16', 2026-11-20T18:17Z, 2026-11-20, 2026-11, yesterday, '2h30m ago', -2h, @1732130000"

  /// The whole grammar, for the end of a command's help.
  package static let help = """
    POINTS:
      18234, seq:18234        the event with this sequence
      head, head~3            the newest append, or the one that many appends before it
      first, 0                the first event, or the point before it
      id:APPEND               the append with this id, or the only one whose id begins like this
      cursor:SEQ@CHAIN        a position as info prints it and cursor files store it
      a time                  the last append whose own time (the given one, else that of its commit) is not later;
                              appends before it that are dated later are counted on standard error

    TIMES:
      2026-11-20T18:17:16Z    with an offset; the seconds are optional, and T may be a space
      2026-11-20 18:17:16.5   without an offset: in the local zone (TZ), or in UTC with --utc. A time that clocks
                              show twice is the first one, and one that they skip has the offset before the change;
                              both moments are named on standard error
      2026-11-20, 2026-11     the start of that day or month
      now, today, yesterday   the current time, or the start of that day
      '2h30m ago', 2h30m.ago  that long before now, also written -2h30m; units: ns, us, ms, s, m, h, d, w
      @1732130000.5           seconds since 1970-01-01T00:00:00Z

    RANGES:
      A..B, A.., ..B, A B     the events after A, up to and including B. Default: A the beginning, B the head

    In a filter, write a time as @'TIME': --where "$time < @'2026-11-20'".
    """
}
