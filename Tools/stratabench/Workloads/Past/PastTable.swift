// Asks libraries the same about the past, in turns, and prints how long each took.

/// The libraries that hold the events of one shape, in one folder.
struct PastTable {
  /// Where points are drawn from.
  private enum Place: String, CaseIterable {
    case anywhere
    case end = "in the last percent"

    func point(_ shape: PastShape, least: Int, _ random: inout FixedGenerator) -> Int {
      let first = self == .anywhere ? 1 : shape.eventCount - shape.eventCount / 100
      return Int.random(in: min(shape.eventCount, max(first, least + 1))...shape.eventCount, using: &random)
    }
  }

  let shape: PastShape
  let folder: String
  let libraries: [any PastLibrary.Type]
  /// How many times a question is asked while the files are in the system's page cache, and while they are not.
  let rounds: (cached: Int, dropped: Int)

  /// A question is not asked again after this number of seconds.
  private static let timeMax = 10.0
  private static let windowLength = 50

  /// - Parameter name: what the names of the questions contain; nil for all, and a scrubber.
  func run(_ name: String? = nil) async throws {
    for question in PastQuestion.all where question.distance < shape.eventCount {
      if let name, !question.name.contains(name) { continue }
      print("  \(question.name)")
      for place in Place.allCases {
        for isCached in [true, false] { try await ask(question, place, isCached: isCached) }
      }
    }
    if name == nil { try await scrub() }
  }

  // MARK: Questions

  private func ask(_ question: PastQuestion, _ place: Place, isCached: Bool) async throws {
    var random = FixedGenerator(seed: question.name.utf8.reduce(0) { $0 &* 31 &+ Int($1) })
    var times = [[Double]](repeating: [], count: libraries.count)
    // Rounds before this one may have dropped the files, and each question looks at other pages.
    if isCached { readAll() }
    var open = isCached ? try await openAll() : []
    let start = ContinuousClock.now
    for _ in 0..<(isCached ? rounds.cached : rounds.dropped) {
      let point = place.point(shape, least: question.distance, &random)
      let id = PastRow.firstID + Int.random(in: 0..<shape.rowCount(after: point), using: &random)
      let subject = PastQuestion.Subject(shape: shape, point: point, id: id)
      if !isCached { open = try await openAll() }
      var answers: [[Int]] = []
      for (number, library) in open.enumerated() {
        if !isCached { dropFromPageCache(type(of: library).path(in: folder)) }
        let start = ContinuousClock.now
        let answer = try await question.ask(library, subject)
        times[number].append(start.secondsSince)
        answers.append(answer)
      }
      for answer in answers { precondition(answer == answers[0], "\(question.name) at \(point): one answer") }
      if !isCached { for library in open { try await library.close() } }
      if start.secondsSince > Self.timeMax, times[0].count > 2 { break }
    }
    if isCached { for library in open { try await library.close() } }
    let aims = place == .end ? question.aimsAtEnd ?? question.aims : question.aims
    show(
      "  \(place.rawValue), \(isCached ? "cached" : "dropped")", times,
      aim: isCached ? aims.cached : aims.dropped)
  }

  private func readAll() {
    for library in libraries { readIntoPageCache(library.path(in: folder)) }
  }

  /// Opens all libraries and asks them something cheap, so that none of them opens its files while it is measured.
  private func openAll() async throws -> [any PastLibrary] {
    var open: [any PastLibrary] = []
    for library in libraries {
      open.append(try await library.init(folder))
      _ = try await open[open.count - 1].counts(at: 1)
    }
    return open
  }

  // MARK: A scrubber

  /// Steps of a thousand events, forwards and backwards, from somewhere.
  private func scrub() async throws {
    let step = 1_000
    let count = min(100, shape.eventCount / (2 * step))
    print("  a scrubber, \(step) events a step, \(Self.windowLength) rows: the aim is one at p99")
    let middle = shape.eventCount / 2
    let forwards = (0...count).map { middle + ($0 - count / 2) * step }
    // Not to where it was.
    let backwards = forwards.map { $0 - step / 2 }.reversed()
    readAll()
    for (name, points) in [("forwards", forwards), ("backwards", Array(backwards))] {
      var times: [[Double]] = []
      var answers: [[Int]] = []
      for library in try await openAll() {
        let moved = try await library.scrub(through: points, window: Self.windowLength)
        times.append(Array(moved.times.dropFirst()))
        answers.append(moved.ids)
        try await library.close()
      }
      for answer in answers { precondition(answer == answers[0], "all libraries show the same rows") }
      show("  \(name)", times, aim: 16e-3, of: { percentile(99, $0) })
    }
  }

  // MARK: Text

  /// - Parameters:
  ///   - aim: what the first library may take, in seconds.
  ///   - figure: what of its times is compared with that.
  private func show(
    _ name: String, _ times: [[Double]], aim: Double, of figure: ([Double]) -> Double = median
  ) {
    var text = ""
    for (library, times) in zip(libraries, times) {
      text += "\(library.name) \(Self.time(median(times))) p99 \(Self.time(percentile(99, times)))   "
    }
    for (library, others) in zip(libraries, times).dropFirst() {
      text += "\(library.name) takes \(ratio(median(others), median(times[0]))) ×   "
    }
    if aim.isFinite { text += "aim \(Self.time(aim)), \(ratio(figure(times[0]), aim)) of it   " }
    report(name, "\(text)(\(times[0].count))")
  }

  private static func time(_ seconds: Double) -> String {
    seconds < 1e-3 ? microseconds(seconds) : milliseconds(seconds)
  }
}
