// What a bucket must do before it is trusted, tried on a key of its own.

internal import StrataBase
public import StrataReplica

extension BucketCarrier {
  /// Looks whether the bucket keeps what is replaced. Then tries conditional creates and replaces, reads and lists on a key
  /// under `PREFIX/probe/`, and removes it. About fifteen requests.
  ///
  /// - Throws: `unfit` if a condition is ignored, or what was replaced is kept and that was not asked for; `refused` if a
  ///   permission is missing, or it cannot be known whether versions are kept.
  public func prove() throws(CarrierError) {
    if !place.allowsVersions { try refuseVersions() }
    var doubt = Doubt.answerLost
    for _ in 0..<Self.proofCountMax {
      guard let found = try proveConditions() else { return }
      doubt = found
    }
    switch doubt {
    case .answerLost:
      throw CarrierError(
        .unreachable, what: "\(name) does not answer often enough to be tried",
        next: "check the network and the endpoint; then try again")
    case .keyRemains:
      throw unfit("a key that was removed is there", "choose an object store that removes what it has to")
    }
  }

  private static let proofCountMax = 5

  /// Why nothing is proved yet, so that another key is tried.
  private enum Doubt {
    /// The answer to a request was lost, and with it what it would have said.
    case answerLost
    /// A key is there after it was removed. A request that was slow may have created it again.
    case keyRemains
  }

  // MARK: Conditions

  /// Returns nil if the bucket keeps them.
  private func proveConditions() throws(CarrierError) -> Doubt? {
    let token = String(UInt64.random(in: .min ... .max), radix: 36)
    let probe = "probe/\(token)"
    let isProved: Bool
    do throws(CarrierError) { isProved = try tryConditions(probe, token) } catch {
      try? removeFiles([token], in: "probe")
      throw error
    }
    try removeFiles([token], in: "probe")
    guard try content(of: probe) == nil else {
      try removeFiles([token], in: "probe")
      return .keyRemains
    }
    return isProved ? nil : .answerLost
  }

  /// Returns false if an answer was lost.
  private func tryConditions(_ probe: String, _ token: String) throws(CarrierError) -> Bool {
    let forms = ["first", "second", "third", "fourth"].map { Array("\($0) \(token)".utf8) }
    // A key that is not there is read as that: without the permission to list, a server calls it forbidden.
    guard try content(of: probe) == nil else { return false }

    let created = try client.read(creation(of: probe, forms[0]), to: "create \(place(of: probe))")
    guard created.isSuccess else {
      // By an earlier try, which libcurl may have sent too, when a connection had ended.
      if try content(of: probe)?.bytes == forms[0] { return false }
      throw unfit("a key that was never there is called taken", "choose another object store")
    }
    let again = try client.read(creation(of: probe, forms[1]), to: "create \(place(of: probe)) again")
    guard again.isConditionFailed, try content(of: probe)?.bytes == forms[0] else {
      throw unfit(
        "a key that is taken was created again: the server ignores If-None-Match",
        "choose an object store that keeps conditions; in this one two writers would both win")
    }

    guard let first = try content(of: probe)?.version else {
      throw unfit("what is read has no ETag", "choose an object store that has them")
    }
    let replaced = try client.read(replacement(of: probe, forms[2], first), to: "replace \(place(of: probe))")
    guard replaced.isSuccess else {
      if try content(of: probe)?.bytes == forms[2] { return false }
      throw unfit(
        "a key was not replaced by the ETag that it has", "choose an object store that keeps If-Match")
    }
    let stale = try client.read(
      replacement(of: probe, forms[3], first), to: "replace \(place(of: probe)) by its ETag of before")
    guard stale.isConditionFailed, try content(of: probe)?.bytes == forms[2] else {
      throw unfit(
        "a key was replaced by an ETag that it no longer has: the server ignores If-Match",
        "choose an object store that keeps conditions")
    }
    guard try fileNames(in: "probe").contains(token) else {
      throw unfit(
        "a key that was written is not in the list", "choose an object store whose lists are up to date")
    }
    return true
  }

  private func replacement(of name: String, _ bytes: [UInt8], _ version: String) -> HTTPRequest {
    place.request(.put, place.key(name), headers: [(name: "If-Match", value: version)], body: bytes)
  }

  private func content(of name: String) throws(CarrierError) -> (bytes: [UInt8], version: String?)? {
    let answer = try client.read(place.request(.get, place.key(name)), to: "read \(place(of: name))")
    if answer.isMissing { return nil }
    try expect(answer, status: 200, name)
    return (answer.response.body, answer.response.headers["etag"])
  }

  private func unfit(_ what: String, _ next: String) -> CarrierError {
    CarrierError(.unfit, what: "\(what), in \(name)", next: next)
  }

  // MARK: Versions

  /// Refuses a bucket that keeps what was replaced or removed: what a store erases would still be there.
  ///
  /// A server that lacks the calls keeps no versions. One that does not let this access key look is refused, since it
  /// cannot be known. Object lock needs versions, so where these were never on it is looked at without being asked to be
  /// visible.
  private func refuseVersions() throws(CarrierError) {
    var next =
      "use a bucket that never kept versions; or, if nothing is ever erased in the store or old versions may "
    next += "keep what was, add allow-versions=yes to the URL"
    if let status = try setting("versioning", "Status", isNeeded: true) {
      throw unfit("the bucket keeps versions, or has kept them (\(status))", next)
    }
    let lock = try setting(
      "object-lock", "ObjectLockEnabled", isNeeded: false)
    if lock != nil { throw unfit("the bucket has object lock", next) }
  }

  /// A setting of the bucket; nil if it is not set, or the server has none of that kind.
  ///
  /// - Parameter isNeeded: whether it is an error if the server does not let this access key look.
  private func setting(
    _ name: String, _ element: String, isNeeded: Bool
  ) throws(CarrierError) -> String? {
    let answer: BucketAnswer
    do throws(BucketFailure) {
      answer = try client.send(
        place.request(.get, query: [(name: name, value: "")]), to: "look at the \(name) of \(place.bucket)")
    } catch {
      switch error.status {
      // The server lacks the call.
      case 404? where error.error.reason == .unreachable, 405?, 501?: return nil
      case 403? where error.isDenied:
        guard isNeeded else { return nil }
        throw CarrierError(
          .refused, what: error.error.what,
          next:
            "allow the access key s3:GetBucketVersioning, or add allow-versions=yes to the URL if old versions "
            + "may keep what the store erases")
      default:
        if error.error.reason == .unfit { return nil }
        throw error.error
      }
    }
    guard answer.status == 200 else { return nil }
    var value: String?
    do throws(XMLProblem) {
      // The outermost element has one name at Amazon, and others elsewhere.
      try XMLScanner.read(answer.response.body, root: nil) { path, text in
        if path.count == 2, path[1] == element { value = text }
      }
    } catch {
      // A server that lacks the call answers with something else, such as a list of keys.
      return nil
    }
    guard let value else { return nil }
    return value.utf8.count <= 32 && value.utf8.allSatisfy(\.isLetterOrDigit) ? value : "an unknown state"
  }
}
