// What points, ranges and times look like, for help and for errors.

/// The grammar of points as people read it.
package enum PointGrammar {
  /// Some ways to write a time.
  package static let timeExamples =
    "'2026-11-20 18:17:16', 2026-11-20T18:17Z, 2026-11-20, 2026-11, yesterday, '2h30m ago', -2h, @1732130000"

  /// All of it, for the end of a command's help.
  package static let help = """
    POINTS:
      18234, seq:18234        a sequence; the state after it
      head, head~3            the newest append, or that many appends before it
      first, 0                the first event; before every event
      id:APPEND               the id of an append, or the beginning of only one
      cursor:SEQ@CHAIN        a position as info and cursor files have it
      a time                  the last append that is not later

    TIMES:
      2026-11-20T18:17:16Z    with an offset; the seconds may be left out, and a space may stand for the T
      2026-11-20 18:17:16.5   in the local zone (TZ), or with --utc in UTC
      2026-11-20, 2026-11     the first moment of that day, of that month
      now, today, yesterday   now, and the first moment of a day
      '2h30m ago', 2h30m.ago  before now, and so is -2h30m: ns, us, ms, s, m, h, d, w
      @1732130000.5           seconds since 1970-01-01T00:00:00Z

    RANGES:
      A..B, A.., ..B, A B     what lies after A up to B; without A from the beginning, without B to the head

    A time in a filter is written @'TIME', as in --where "$time < @'2026-11-20'".
    """
}
