// The XML of answers, from servers that send what they should, and others.

@testable internal import StrataBucket
internal import StrataSimulation
internal import Testing

@Suite struct AnswerTests {
  private static let page = """
    <?xml version="1.0" encoding="UTF-8"?>
    <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>copies</Name><Prefix>a+b/log/</Prefix>\
    <KeyCount>2</KeyCount><MaxKeys>2</MaxKeys><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>\
    <NextContinuationToken>1/&lt;&#43;&#x2f;=&amp;</NextContinuationToken>
      <Contents><Key>a+b/log/%2B%C3%A9</Key><ETag>&quot;d41d8&quot;</ETag><Size>7</Size><Owner><ID>1</ID></Owner></Contents>
      <!-- a comment --><Contents><Key>a+b/log/2</Key><StorageClass/></Contents>
      <CommonPrefixes><Prefix>a+b/log/x/</Prefix></CommonPrefixes>
    </ListBucketResult>
    """

  private func page(_ text: String) -> Result<ListPage, XMLProblem> {
    do throws(XMLProblem) { return .success(try ListPage(decoding: Array(text.utf8))) } catch {
      return .failure(error)
    }
  }

  @Test func `a page has its keys as they are named, and what to ask for the next one with`() throws {
    let found = try page(Self.page).get()
    #expect(found.keys == [Array("a b/log/+é".utf8), Array("a b/log/2".utf8)])
    #expect(found.nextToken == "1/<+/=&")
    let raw = try page(Self.page.replacing("<EncodingType>url</EncodingType>", with: "")).get()
    #expect(raw.keys[0] == Array("a+b/log/%2B%C3%A9".utf8))
    let last = try page(Self.page.replacing("<IsTruncated>true", with: "<IsTruncated>false")).get()
    #expect(last.nextToken == nil)
    #expect(
      try page("\u{FEFF}<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult> \n").get().keys
        .isEmpty)
  }

  @Test func `a page that is cut anywhere is not a page`() {
    let bytes = Array(Self.page.utf8)
    for length in 0..<bytes.count {
      #expect(throws: XMLProblem.self, "\(length)") { try ListPage(decoding: Array(bytes[..<length])) }
    }
  }

  @Test(arguments: [
    ("<!DOCTYPE x [<!ENTITY a \"b\">]><ListBucketResult/>", XMLProblem.refused),
    ("<ListBucketResult><![CDATA[x]]></ListBucketResult>", .refused),
    ("<ListBucketResult><IsTruncated>&unknown;</IsTruncated></ListBucketResult>", .refused),
    ("<ListBucketResult>&#xD800;</ListBucketResult>", .malformed),
    ("<ListBucketResult>&#0;</ListBucketResult>", .malformed),
    ("<ListBucketResult>&#+5;</ListBucketResult>", .malformed),
    ("<ListBucketResult>&#99999999999999;</ListBucketResult>", .malformed),
    ("<ListBucketResult><a></b></ListBucketResult>", .malformed),
    ("<ListBucketResult><a b=c/></ListBucketResult>", .malformed),
    ("<ListBucketResult><a b='<'/></ListBucketResult>", .malformed),
    ("<ListBucketResult/><ListBucketResult/>", .malformed),
    ("text<ListBucketResult/>", .malformed), ("<ListBucketResult/>text", .malformed), ("</a>", .malformed),
    ("< ListBucketResult/>", .malformed), ("", .truncated), ("<?xml version='1.0'?>", .truncated),
    ("<html><IsTruncated>false</IsTruncated></html>", .unexpected),
    ("<ListBucketResult></ListBucketResult>", .unexpected),
    ("<ListBucketResult><IsTruncated>maybe</IsTruncated></ListBucketResult>", .unexpected),
    ("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", .unexpected),
    (
      "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken></NextContinuationToken></ListBucketResult>",
      .unexpected
    ),
    (
      "<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>false</IsTruncated><Contents><Key>%4</Key></Contents></ListBucketResult>",
      .malformed
    ),
  ])
  func `what is no page is refused`(text: String, problem: XMLProblem) {
    #expect(page(text) == .failure(problem))
  }

  @Test func `elements inside of elements without end, and names without end, are refused`() {
    let depth = String(repeating: "<a>", count: 100_000)
    #expect(page(depth) == .failure(.unexpected))
    #expect(page("<ListBucketResult>" + depth) == .failure(.refused))
    let open = String(repeating: "<a>", count: XMLScanner.depthMax - 1)
    #expect(page("<ListBucketResult>" + open) == .failure(.truncated))
    #expect(page("<" + String(repeating: "a", count: 1_000_000)) == .failure(.refused))
    let token = String(repeating: "t", count: ListPage.tokenLengthMax + 1)
    #expect(page(Self.page.replacing("1/&lt;", with: token)) == .failure(.unexpected))
    #expect(page("<ListBucketResult>\u{0}&#x41;</ListBucketResult>") == .failure(.unexpected))
  }

  @Test func `bytes that are changed are a page or a problem, and never larger than they were`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let good = Array(Self.page.utf8)
    let parts = ["<", ">", "&", ";", "</", "/>", "\"", "&#x", "%", "<!--", "-->", "<?", "Key", "\u{0}"].map {
      Array($0.utf8)
    }
    var problems = 0
    for _ in 0..<20_000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: parts.randomElement(using: &random)!, at: place)
        default:
          bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &random)))
        }
        if bytes.isEmpty { bytes = good }
      }
      do throws(XMLProblem) {
        let page = try ListPage(decoding: bytes)
        #expect(page.keys.reduce(0) { $0 + $1.count } + (page.nextToken?.utf8.count ?? 0) <= bytes.count)
      } catch { problems += 1 }
    }
    #expect(problems > 1000)
  }

  @Test(arguments: [
    ("<Error><Code>NoSuchKey</Code><Region>eu-west-1</Region></Error>", "NoSuchKey", "eu-west-1"),
    ("<Error><Code>No Such</Code><Region>a b</Region></Error>", "", nil),
    ("<Error><Details><Code>Inner</Code></Details></Error>", "", nil), ("<html/>", "", nil), ("", "", nil),
    ("<Error><Code>A</Code>", "", nil),
    ("<Error><Code>\(String(repeating: "a", count: 65))</Code></Error>", "", nil),
  ])
  func `an error has its code and its region if they are ones`(text: String, code: String, region: String?) {
    let found = ErrorAnswer(Array(text.utf8))
    #expect(found.code == code && found.region == region)
  }

  @Test func `the range of an answer is read, and nothing else for one`() {
    let found = ContentRange("bytes 5-9/100")
    #expect(found?.first == 5 && found?.length == 5 && found?.total == 100)
    #expect(ContentRange("bytes 0-\(Int64.max - 1)/\(Int64.max)")?.length == .max)
    for bad in [
      "", "bytes", "bytes 5-9", "bytes 5-9/*", "bytes 9-5/100", "bytes -1-5/100", "bytes 5-100/100",
      "5-9/100",
      "bytes 5-9/100/2", "bytes a-b/c", "bytes 0-9223372036854775807/9223372036854775807",
      "bytes 5-9/99999999999999999999",
    ] { #expect(ContentRange(bad) == nil, "\(bad)") }
  }
}
