// One page of a list of keys.

/// A page of ListObjectsV2.
struct ListPage: Equatable {
  /// As the bucket has them, in the order of the page.
  private(set) var keys: [[UInt8]] = []
  /// What the next page is asked for with; nil if this is the last one.
  private(set) var nextToken: String?

  static let answerLengthMax = 8 << 20
  static let tokenLengthMax = 8192

  init(decoding bytes: [UInt8]) throws(XMLProblem) {
    var texts: [String] = []
    var isTruncated: Bool?
    var token: String?
    var isEncoded = false
    try XMLScanner.read(bytes, root: "ListBucketResult") { path, text throws(XMLProblem) in
      switch path.dropFirst().joined(separator: "/") {
      case "Contents/Key": texts.append(text)
      case "IsTruncated":
        guard text == "true" || text == "false" else { throw .unexpected }
        isTruncated = text == "true"
      case "NextContinuationToken":
        guard (1...Self.tokenLengthMax).contains(text.utf8.count) else { throw .unexpected }
        token = text
      case "EncodingType": isEncoded = text == "url"
      default: break
      }
    }
    guard let isTruncated, !isTruncated || token != nil else { throw .unexpected }
    nextToken = isTruncated ? token : nil
    for text in texts {
      guard isEncoded else {
        keys.append(Array(text.utf8))
        continue
      }
      guard let key = PercentCoding.decode(text.utf8, plusIsSpace: true) else { throw .malformed }
      keys.append(key)
    }
  }
}
