// The inspector: answers the requests of its page about one store.

internal import LogreplayEvents
internal import LogreplayPoints
internal import LogreplayShell
internal import LogreplayTables
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// A store that is open for reading, and what a browser may ask of it. Knows no socket: a request is a value, and so is the
/// answer.
///
/// A request passes `InspectAccess` first. Then every answer is JSON as the commands of `logreplay` print it, with what a
/// page needs beside. An error is `{"schema":1,"error":{"code":…,"what":…,"where":…,"next":…}}` with the status 400, 404
/// or 500. Nothing is ever written, neither to the store nor about it.
///
/// Several requests are answered at the same time, those about one list one after the other.
public final class Inspector: Sendable {
  public let access: InspectAccess
  let opened: OpenedStore
  let assets: [String: InspectAsset]
  /// The lists that were asked for last, the newest first.
  private let lists = Lock<[(words: [String], list: ListBrowser)]>([])
  /// A page looks at one list at a time.
  private static let pageCacheSize = 24 << 20
  private let threads = IOThreads(name: "inspect", threadCountMax: InspectLimits.threadCountMax)
  let checker = IOThreads(name: "inspect-check", threadCountMax: 1)
  private let workCount = Lock(0)
  let feedCount = Lock(0)
  let check = Lock(StoreCheck())

  /// Opens a store for reading, beside a writer or without one. Blocks.
  ///
  /// - Parameters:
  ///   - path: the store's folder.
  ///   - port: the port that the server listens on.
  ///   - assets: the files of the page by their paths, with `/` for the page itself.
  /// - Throws: an error whose description says what is wrong, where, and what to do.
  public convenience init(path: String, port: Int, assets: [String: InspectAsset]) throws(InspectError) {
    let opened: OpenedStore
    do throws(CommandFailure) { opened = try OpenedStore.open(path, pageCacheSize: Self.pageCacheSize) } catch
    { throw InspectError(error) }
    self.init(opened, access: InspectAccess(port: port), assets: assets)
  }

  init(_ opened: OpenedStore, access: InspectAccess, assets: [String: InspectAsset]) {
    (self.opened, self.access, self.assets) = (opened, access, assets)
  }

  /// The answer to a request.
  public func response(to request: InspectRequest) async -> InspectResponse {
    let isAccepted = workCount.withLock { count in
      guard count < InspectLimits.workCountMax else { return false }
      count += 1
      return true
    }
    guard isAccepted else { return Self.protected(.text(503, "Too many requests at a time; try again.")) }
    defer { workCount.withLock { $0 -= 1 } }
    return await threads.run { [self] in responseBlocking(to: request) }
  }

  /// The same. Blocks.
  func responseBlocking(to request: InspectRequest) -> InspectResponse { Self.protected(answer(request)) }

  private static func protected(_ response: InspectResponse) -> InspectResponse {
    var response = response
    response.headers += InspectResponse.protection
    return response
  }

  private func answer(_ request: InspectRequest) -> InspectResponse {
    let headLength = request.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    guard headLength <= InspectLimits.headLengthMax else { return .text(431, "The head is too long.") }
    guard request.target.utf8.count <= InspectLimits.targetLengthMax else {
      return .text(414, "The address is too long.")
    }
    if let refusal = access.refusal(of: request) { return refusal }
    guard request.method == "GET" else { return .text(405, "Only GET is answered.") }
    if let asset = assets[String(request.path)] { return InspectResponse(200, asset.type, asset.bytes) }
    guard request.path.hasPrefix("/api/") else { return .text(404, "There is no such page.") }
    let name = String(request.path.dropFirst("/api/".count))
    do {
      return try answer(name, try InspectParameters(request.query))
    } catch {
      let failure =
        CommandFailure(any: error)
        ?? CommandFailure(ExitStatus.inputOutput, "the request failed", next: "try again")
      var line = JSONLine.document()
      line.raw("error", failure.members)
      return .json(line.finish(), status: Self.status(of: failure))
    }
  }

  private static func status(of failure: CommandFailure) -> Int {
    switch failure.code {
    case ExitStatus.usage: 400
    case ExitStatus.notFound, ExitStatus.diverged: 404
    default: 500
    }
  }

  private func answer(_ name: String, _ parameters: InspectParameters) throws -> InspectResponse {
    switch name {
    case "feed": return .feed
    case "store": return .json(try store())
    case "list": return .json(try list(parameters))
    case "diff": return .json(try diff(parameters))
    case "progress": return .json(progress(parameters))
    case "point": return .json(try point(parameters))
    case "histogram": return .json(try histogram(parameters))
    case "types": return .json(try types(parameters))
    case "events": return .json(try events(parameters))
    case "event": return .json(try event(parameters))
    case "row": return .json(try row(parameters))
    case "counts": return .json(try counts(parameters))
    case "fields": return .json(try fields(parameters))
    case "info": return .json(try browser.info())
    case "check": return .json(try check(parameters))
    default: return .text(404, "There is no such answer.")
    }
  }

  // MARK: What the answers share

  var times: TimeText { TimeText(now: systemNanoseconds(), zone: .local) { _ in } }
  var browser: StoreBrowser { StoreBrowser(opened, times: times) }
  var log: Log { opened.log }

  func failing<Result>(_ body: () throws(StoreError) -> Result) throws(CommandFailure) -> Result {
    do throws(StoreError) { return try body() } catch { throw opened.failure(error) }
  }

  /// The list of the parameters, which is known for some time.
  func browser(of parameters: InspectParameters) throws -> ListBrowser {
    let words = parameters.listWords
    if let known = known(words) { return known }
    let made = try ListBrowser(opened, words, times: times)
    return lists.withLock { lists in
      if let known = lists.first(where: { $0.words == words }) { return known.list }
      lists.insert((words, made), at: 0)
      if lists.count > InspectLimits.listCountMax { lists.removeLast() }
      return made
    }
  }

  /// The list of some words, if it is known; it is the newest from now on.
  func known(_ words: [String]) -> ListBrowser? {
    lists.withLock { lists in
      guard let index = lists.firstIndex(where: { $0.words == words }) else { return nil }
      let entry = lists.remove(at: index)
      lists.insert(entry, at: 0)
      return entry.list
    }
  }

  /// The point that a text names.
  func point(_ text: String) throws -> ResolvedPoint {
    try failing { () throws(StoreError) in try log.refresh() }
    let named = PointRange.Named(text: text, point: try Point(text, times: times))
    return try PointResolver(store: opened, notes: false).resolve(named)
  }

  /// The point of a parameter, the head if there is none.
  func point(_ parameters: InspectParameters, _ name: String) throws -> ResolvedPoint {
    try point(parameters[name] ?? "head")
  }

  func json(_ point: ResolvedPoint) -> [UInt8] {
    var line = JSONLine()
    line.field("sequence", point.sequence)
    line.field("time", point.time?.description)
    if let inside = point.inside { line.raw("inside", "[\(inside.lowerBound),\(inside.upperBound)]".utf8) }
    return line.finish()
  }
}

/// Why a store cannot be shown.
public struct InspectError: Error, CustomStringConvertible {
  public var description: String
  /// The exit code that `logreplay` has for it.
  public var code: Int32

  init(_ failure: CommandFailure) {
    description = failure.text
    code = failure.code
  }
}
