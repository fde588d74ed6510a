// URLs of buckets, and requests as signatures want them.

@testable internal import StrataBucket
internal import StrataReplica
internal import Testing

@Suite struct BucketPlaceTests {
  private func url(_ text: String, _ environment: [String: String] = [:], file: String? = nil) -> String? {
    do throws(CarrierError) {
      return try BucketPlace(text, environment: environment, fileRegion: file).url
    } catch {
      return nil
    }
  }

  @Test(arguments: [
    ("s3://copies", "s3://copies?region=us-east-1"),
    ("s3://copies/", "s3://copies?region=us-east-1"),
    ("s3://copies/desk/", "s3://copies/desk?region=us-east-1"),
    ("s3://copies/a b/c+d/é", "s3://copies/a%20b/c%2Bd/%C3%A9?region=us-east-1"),
    ("s3://copies/a%20b/c%2bd/%c3%a9", "s3://copies/a%20b/c%2Bd/%C3%A9?region=us-east-1"),
    ("s3://copies/d?region=eu-central-1", "s3://copies/d?region=eu-central-1"),
    ("s3://copies/d?style=host", "s3://copies/d?region=us-east-1"),
    ("s3://copies/d?style=path", "s3://copies/d?region=us-east-1&style=path"),
    ("s3://my.copies/d", "s3://my.copies/d?region=us-east-1"),
    (
      "s3://copies/d?allow-versions=yes&style=path",
      "s3://copies/d?allow-versions=yes&region=us-east-1&style=path"
    ),
    ("s3://copies/d?allow-versions=no", "s3://copies/d?region=us-east-1"),
    (
      "s3://copies/d?endpoint=http%3A%2F%2F127.0.0.1%3A9000",
      "s3://copies/d?endpoint=http://127.0.0.1:9000&region=us-east-1"
    ),
    (
      "s3://copies/d?endpoint=https://[::1]:9000/",
      "s3://copies/d?endpoint=https://[::1]:9000&region=us-east-1"
    ),
    (
      "s3://copies/d?endpoint=https://minio.example&style=host",
      "s3://copies/d?endpoint=https://minio.example&region=us-east-1&style=host"
    ),
  ])
  func `a URL is read, and written in one form that is read as the same`(text: String, written: String) throws
  {
    #expect(url(text) == written)
    #expect(try BucketPlace(written) == BucketPlace(text))
  }

  @Test(arguments: [
    "", "s3:", "s3:/copies", "s3://", "s3://ab", "s3://-copies", "s3://copies-", "s3://a..b",
    "s3://co pies/d",
    "s3://KEY:SECRET@copies/d", "http://copies/d", "s3://copies//d", "s3://copies/a//b", "s3://copies/./d",
    "s3://copies/%2e%2e/d", "s3://copies/%zz", "s3://copies/%4", "s3://copies/%ff", "s3://copies/%00",
    "s3://copies/%0a", "s3://copies/d#e", "s3://copies/d?", "s3://copies/d?secret=x", "s3://copies/d?region",
    "s3://copies/d?region=eu central", "s3://copies/d?region=a/b", "s3://copies/d?region=a&region=b",
    "s3://copies/d?style=virtual", "s3://copies/d?allow-versions=1", "s3://copies/d?endpoint=127.0.0.1:9000",
    "s3://copies/d?endpoint=ftp://x", "s3://copies/d?endpoint=http://u:p@x",
    "s3://copies/d?endpoint=http://x/path",
    "s3://copies/d?endpoint=http://x:0", "s3://copies/d?endpoint=http://x:70000",
    "s3://copies/d?endpoint=http://x:",
    "s3://copies/d?endpoint=http://", "s3://copies/d?endpoint=http://[]",
    "s3://copies/d?endpoint=http://[::1",
    "s3://copies/d?endpoint=http://x%0d%0ay", "s3://my.copies/d?style=host",
    "s3://copies/d?endpoint=http://127.0.0.1:9000&style=host",
  ])
  func `what is no URL of a bucket is refused, without saying what may be a secret`(text: String) throws {
    guard text != "s3://copies/d?" else {
      #expect(url(text) == "s3://copies/d?region=us-east-1")
      return
    }
    let found = error { () throws(CarrierError) in try BucketPlace(text) }
    #expect(found?.reason == .refused, "\(text)")
    #expect(found.map { "\($0)".contains("SECRET") || "\($0)".contains("u:p") } == false)
    #expect(found?.next.isEmpty == false)
  }

  @Test func `a prefix may be as long as keys allow, and no longer`() {
    #expect(url("s3://copies/" + String(repeating: "a", count: BucketPlace.prefixLengthMax)) != nil)
    #expect(url("s3://copies/" + String(repeating: "a", count: BucketPlace.prefixLengthMax + 1)) == nil)
  }

  @Test func `what a URL leaves out comes from the environment, then from a file`() {
    let all = [
      "AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "eu-west-2", "AWS_ENDPOINT_URL_S3": "http://s3.local",
      "AWS_ENDPOINT_URL": "http://all.local",
    ]
    func without(_ names: String...) -> [String: String] { all.filter { !names.contains($0.key) } }
    let local = "s3://copies/d?endpoint=http://s3.local&region="
    #expect(
      url("s3://copies/d?region=a&endpoint=https://b", all) == "s3://copies/d?endpoint=https://b&region=a")
    #expect(url("s3://copies/d", all, file: "f") == local + "eu-west-1")
    #expect(url("s3://copies/d", without("AWS_REGION"), file: "f") == local + "eu-west-2")
    #expect(url("s3://copies/d", without("AWS_REGION", "AWS_DEFAULT_REGION"), file: "f") == local + "f")
    #expect(
      url("s3://copies/d", without("AWS_ENDPOINT_URL_S3"))
        == "s3://copies/d?endpoint=http://all.local&region=eu-west-1")
    #expect(
      url("s3://copies/d", ["AWS_REGION": "", "AWS_ENDPOINT_URL": ""]) == "s3://copies/d?region=us-east-1")
    #expect(url("s3://copies/d", ["AWS_REGION": "not one"]) == nil)
  }

  @Test(arguments: [
    ("s3://copies/d", "https://copies.s3.us-east-1.amazonaws.com/d/log/1"),
    ("s3://copies/d?region=cn-north-1", "https://copies.s3.cn-north-1.amazonaws.com.cn/d/log/1"),
    ("s3://my.copies/d", "https://s3.us-east-1.amazonaws.com/my.copies/d/log/1"),
    ("s3://Copies/d", "https://s3.us-east-1.amazonaws.com/Copies/d/log/1"),
    ("s3://copies/d?style=path", "https://s3.us-east-1.amazonaws.com/copies/d/log/1"),
    ("s3://copies?endpoint=http://127.0.0.1:9000", "http://127.0.0.1:9000/copies/log/1"),
    ("s3://copies/a b+ü?endpoint=http://x&style=host", "http://copies.x/a%20b%2B%C3%BC/log/1"),
  ])
  func `a request has the bucket in its host or in its path`(text: String, expected: String) throws {
    let place = try BucketPlace(text)
    #expect(place.request(.get, place.key("log/1")).url == expected)
  }

  @Test func `a query is in the order of its names, with an equals sign for each`() throws {
    let query = [
      (name: "prefix", value: "a b+/ü&="), (name: "uploads", value: ""), (name: "list-type", value: "2"),
    ]
    #expect(BucketPlace.canonical(query) == "list-type=2&prefix=a%20b%2B%2F%C3%BC%26%3D&uploads=")
    let place = try BucketPlace("s3://copies/d?endpoint=http://x")
    #expect(place.request(.post, query: [(name: "uploads", value: "")]).url == "http://x/copies?uploads=")
    #expect(
      try BucketPlace("s3://copies/d").request(.get).url == "https://copies.s3.us-east-1.amazonaws.com/")
  }

  @Test func `a body has its hash, and a type that no server takes for a form's`() throws {
    let request = try BucketPlace("s3://copies/d").request(.put, "d", body: Array("abc".utf8))
    #expect(
      request.headers == [
        .init(name: "Content-Type", value: "application/octet-stream"),
        .init(
          name: "x-amz-content-sha256",
          value: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      ])
  }

  @Test func `every byte of a path and back is the same`() {
    let bytes = (UInt8.min...UInt8.max).map { $0 }
    let text = PercentCoding.encode(bytes)
    #expect(PercentCoding.decode(text.utf8) == bytes)
    #expect(text.utf8.allSatisfy { $0.isLetterOrDigit || "-._~%".utf8.contains($0) })
    #expect(PercentCoding.decode("a+b%2B".utf8, plusIsSpace: true) == Array("a b+".utf8))
    for bad in ["%", "%1", "%g0", "a%0"] { #expect(PercentCoding.decode(bad.utf8) == nil) }
  }
}
