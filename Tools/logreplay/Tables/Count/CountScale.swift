// The marks on the axes of a picture: round numbers, and begins of days, months and years.

internal import LogreplayPoints
internal import LogreplayShell

enum CountScale {
  /// Round numbers from the least to one that is not less than the greatest.
  static func numbers(from least: Double, to greatest: Double, about count: Int) -> [Double] {
    let (low, high) = (min(0, least), max(greatest, least < 0 ? 0 : 1))
    let rough = (high - low) / Double(count)
    var power = 1.0
    while power * 10 <= rough { power *= 10 }
    while power > rough { power /= 10 }
    let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough } ?? power * 10
    var numbers: [Double] = []
    var index = (low / step).rounded(.down)
    repeat {
      numbers.append(index * step)
      index += 1
    } while numbers[numbers.count - 1] < high
    return numbers
  }

  /// Begins of civil spans of one length, as seconds since 1970, with their texts: at most `countMax`, but at least the first.
  static func times(from begin: Double, to end: Double, _ zone: Zone, countMax: Int) -> [(
    seconds: Double, text: String
  )] {
    let spans: [(months: Int, days: Int, hours: Int)] = [
      (0, 0, 1), (0, 0, 3), (0, 0, 6), (0, 0, 12), (0, 1, 0), (0, 2, 0), (0, 7, 0), (0, 14, 0), (1, 0, 0),
      (2, 0, 0),
      (3, 0, 0), (6, 0, 0), (12, 0, 0), (24, 0, 0), (60, 0, 0), (120, 0, 0), (600, 0, 0), (1200, 0, 0),
    ]
    for span in spans {
      let seconds = Double(span.months) * 2_629_746 + Double(span.days) * 86_400 + Double(span.hours) * 3600
      guard (end - begin) / seconds <= Double(countMax) else { continue }
      let marks = marks(from: begin, to: end, zone, span)
      if !marks.isEmpty { return marks }
    }
    return []
  }

  private static func marks(
    from begin: Double, to end: Double, _ zone: Zone, _ span: (months: Int, days: Int, hours: Int)
  ) -> [(seconds: Double, text: String)] {
    let first = Int64(begin)
    var civil = CivilTime(seconds: first + Int64(zone.offset(at: first)))
    (civil.minute, civil.second) = (0, 0)
    if span.hours > 0 { civil.hour -= civil.hour % span.hours } else { civil.hour = 0 }
    if span.months > 0 {
      civil.day = 1
      let month = civil.year * 12 + civil.month - 1
      civil = date(ofMonth: month - month % span.months)
    }
    var wall = civil.seconds
    if span.days % 7 == 0, span.days > 0 { wall -= (wall / 86_400 + 3) % 7 * 86_400 }
    var marks: [(seconds: Double, text: String)] = []
    while true {
      let moment = Double(zone.moment(ofWallClock: wall).seconds)
      guard moment <= end else { return marks }
      if moment >= begin { marks.append((moment, text(CivilTime(seconds: wall), span))) }
      if span.months > 0 {
        let date = CivilTime(seconds: wall)
        wall = self.date(ofMonth: date.year * 12 + date.month - 1 + span.months).seconds
      } else {
        wall += Int64(span.days * 86_400 + span.hours * 3600)
      }
    }
  }

  private static func date(ofMonth month: Int) -> CivilTime {
    var date = CivilTime(seconds: 0)
    (date.year, date.month) = (month / 12, month % 12 + 1)
    return date
  }

  private static func text(_ time: CivilTime, _ span: (months: Int, days: Int, hours: Int)) -> String {
    let (year, month) = (PeopleText.padded(time.year, 4), PeopleText.padded(time.month, 2))
    if span.months >= 12 { return year }
    if span.months > 0 { return "\(year)-\(month)" }
    let day = PeopleText.padded(time.day, 2)
    guard span.hours > 0, time.hour != 0 else { return "\(year)-\(month)-\(day)" }
    return "\(PeopleText.padded(time.hour, 2)):00"
  }
}
