// What a bucket says of a request that it does not carry out.

/// The code of an error, and the region that it names.
///
/// The text beside them is not read. It is the server's, and may repeat what the request had, such as a session's token.
struct ErrorAnswer: Equatable {
  /// Such as `NoSuchKey`: letters, digits and dots. Empty if the answer has none.
  private(set) var code = ""
  private(set) var region: String?

  static let codeLengthMax = 64

  /// What a success says is not looked at: it may be an object, with whatever content.
  ///
  /// - Parameter keys: what the request was signed with. A code or a region that is a part of them is left out.
  init(_ response: HTTPResponse, hiding keys: BucketCredentials? = nil) {
    self.init(response.status >= 300 ? response.body : [])
    if response.status >= 300, let region = response.headers["x-amz-bucket-region"],
      BucketPlace.isRegion(region)
    {
      self.region = region
    }
    if keys?.contain(code) == true { code = "" }
    if let region, keys?.contain(region) == true { self.region = nil }
  }

  init(_ body: [UInt8]) {
    var (code, region): (String?, String?)
    do throws(XMLProblem) {
      try XMLScanner.read(body, root: "Error") { path, text throws(XMLProblem) in
        switch path.dropFirst().joined(separator: "/") {
        case "Code": code = text
        case "Region": region = text
        default: break
        }
      }
    } catch { return }
    if let code, (1...Self.codeLengthMax).contains(code.utf8.count),
      code.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: ".") })
    {
      self.code = code
    }
    if let region, BucketPlace.isRegion(region) { self.region = region }
  }
}
