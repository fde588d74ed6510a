// What an answer of a server means for the request that it answers.

/// What to do after a try.
enum BucketJudgement {
  /// The answer says what became of the request.
  case answer
  /// Try again, later. The flag says whether the request may have been carried out.
  case again(CarrierError, isDoubtful: Bool)
  /// Another try would end in the same way.
  case stop(CarrierError, isDoubtful: Bool)
  /// The access keys are refused, and others may have been written meanwhile.
  case badKeys(CarrierError)
}

extension BucketJudgement {
  init(_ failure: HTTPFailure, _ what: String, _ place: BucketPlace) {
    let text = "could not \(what): \(failure.what)"
    if let next = failure.next {
      self = .stop(
        CarrierError(failure.mayHaveHappened ? .unreachable : .refused, what: text, next: next),
        isDoubtful: failure.mayHaveHappened)
    } else {
      self = .again(.noAnswer(text), isDoubtful: failure.mayHaveHappened)
    }
  }

  /// - Parameters:
  ///   - found: what the answer says of an error.
  ///   - request: what was asked for.
  ///   - what: the same, for messages.
  init(
    _ response: HTTPResponse, _ found: ErrorAnswer, to request: HTTPRequest, _ what: String,
    _ place: BucketPlace
  ) {
    let said = found.code.isEmpty ? "\(response.status)" : "\(response.status) \(found.code)"
    let text = "could not \(what): the server answered \(said)"
    func refused(_ next: String) -> BucketJudgement {
      .stop(CarrierError(.refused, what: text, next: next), isDoubtful: false)
    }
    // A server says where the bucket is when it sends a request elsewhere, and when a signature is for another region.
    if let other = found.region, other != place.region, [301, 302, 307, 308, 400].contains(response.status) {
      self = .stop(
        CarrierError(
          .refused, what: "\(text), since the bucket is in the region \(other), and not in \(place.region)",
          next: "write region=\(other) into the URL"), isDoubtful: false)
      return
    }
    switch (response.status, found.code) {
    case (_, "NotImplemented"), (405, _), (501, _):
      self = .stop(
        CarrierError(
          .unfit, what: text,
          next: "choose an object store that has conditional writes and lists: this one lacks the call"),
        isDoubtful: false)
    case (200..<300, _), (412, _), (416, _): self = .answer
    case (404, "NoSuchBucket"):
      self = refused("make the bucket \(place.bucket), or correct its name in the URL")
    case (404, _) where Self.saysMissing(response, request, found.code): self = .answer
    case (404, _):
      self = .stop(
        CarrierError(
          .unreachable, what: "\(text), which is no answer of an object store",
          next: "check the endpoint in the URL"),
        isDoubtful: false)
    case (300..<400, _):
      self = refused(
        "check the region and the endpoint in the URL: what answers there is not the bucket's server")
    case (_, "RequestTimeTooSkewed"):
      self = refused("set the clock of this machine, which differs too much from the server's")
    case (403, "InvalidObjectState"):
      self = refused("bring the object back from the archive, and end the rule that moves objects there")
    case (_, _) where Self.keyCodes.contains(found.code) || response.status == 401:
      self = .badKeys(
        CarrierError(
          .refused, what: text,
          next: found.code.contains("xpired") || found.code.contains("Token")
            ? "get new access keys: these have expired" : "check the access key and its secret"))
    case (403, ""),
      (400, "") where request.method == .head:
      // An answer without a body does not say what it refuses: the keys may have expired.
      self = .badKeys(.denied(text, request))
    case (403, "RequestTimeout"), (400, "RequestTimeout"), (408, _), (429, _), (409, _), (_, "SlowDown"):
      self = .again(.noAnswer(text), isDoubtful: false)
    case (403, _): self = .stop(.denied(text, request), isDoubtful: false)
    case (507, _): self = refused("make room in the object store")
    case (500..<600, _): self = .again(.noAnswer(text), isDoubtful: true)
    case (400..<500, _): self = refused("look the code up in the object store's documentation")
    default:
      self = .stop(
        CarrierError(
          .unreachable, what: "\(text), which is no answer of an object store",
          next: "check the endpoint in the URL"),
        isDoubtful: true)
    }
  }

  private static let keyCodes: Set = [
    "ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "InvalidToken", "InvalidAccessKeyId",
    "SignatureDoesNotMatch", "InvalidClientTokenId",
  ]

  /// Whether an answer says that there is no such key. One to `HEAD` has no body, and says nothing more.
  private static func saysMissing(
    _ response: HTTPResponse, _ request: HTTPRequest, _ code: String
  ) -> Bool {
    if request.method == .head { return true }
    return ["NoSuchKey", "NoSuchUpload", "NoSuchVersion", "ObjectLockConfigurationNotFoundError"].contains(
      code)
  }
}

extension CarrierError {
  fileprivate static func noAnswer(_ what: String) -> CarrierError {
    CarrierError(
      .unreachable, what: what, next: "check the network and the endpoint, if trying again does not help")
  }

  fileprivate static func denied(_ what: String, _ request: HTTPRequest) -> CarrierError {
    let permission =
      switch request.method {
      case .get, .head: "s3:GetObject and s3:ListBucket"
      case .put, .post: "s3:PutObject"
      case .delete: "s3:DeleteObject and s3:AbortMultipartUpload"
      }
    return CarrierError(
      .refused, what: what, next: "check the access key, and allow it \(permission) in this bucket")
  }
}
