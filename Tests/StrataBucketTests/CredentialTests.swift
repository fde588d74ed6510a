// Where access keys come from, and that nothing prints them.

internal import StrataBase
@testable internal import StrataBucket
internal import StrataReplica
internal import StrataSimulation
internal import Testing

@Suite struct CredentialTests {
  private static let shared = """
    # a comment
    aws_access_key_id = OUTSIDE
    [default]
    aws_access_key_id = DEFAULT
    aws_secret_access_key=default/secret+=\r
    [ work ]
    AWS_ACCESS_KEY_ID =WORK
      aws_access_key_id = nested
    ; another = comment
    aws_secret_access_key = work=secret
    aws_session_token = token==
    [half]
    aws_access_key_id = HALF
    [spaces]
    aws_access_key_id = A B
    aws_secret_access_key = x
    """
  private static let config = """
    [default]
    region = eu-central-1
    [profile work]
    region=eu-west-3
    s3 =
      region = nested
    [work]
    region = not-this
    [profile onlyconfig]
    aws_access_key_id = CONFIG
    aws_secret_access_key = config-secret
    [profile half]
    aws_secret_access_key = elsewhere
    [profile sso]
    sso_session = mine
    """

  private func source(_ environment: [String: String] = [:]) -> CredentialSource {
    CredentialSource(environment: environment.merging(["HOME": "/home/me"]) { old, _ in old }) { path in
      switch path {
      case "/home/me/.aws/credentials", "/elsewhere/credentials": Array(Self.shared.utf8)
      case "/home/me/.aws/config", "/elsewhere/config": Array(Self.config.utf8)
      default: nil
      }
    }
  }

  private func keys(_ environment: [String: String] = [:]) -> [String?]? {
    do throws(CarrierError) {
      let found = try source(environment).credentials()
      return [found.keyID, found.secret, found.token]
    } catch { return nil }
  }

  @Test func `keys come from the environment, then from the profile in one file, then in the other`() {
    #expect(keys(Secret.environment) == [Secret.keyID, Secret.secret, Secret.token])
    #expect(
      keys(["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": ""]) == [
        "a", "b", nil,
      ])
    #expect(keys() == ["DEFAULT", "default/secret+=", nil])
    #expect(keys(["AWS_PROFILE": "work"]) == ["WORK", "work=secret", "token=="])
    #expect(keys(["AWS_PROFILE": "onlyconfig"]) == ["CONFIG", "config-secret", nil])
    #expect(keys(["AWS_SHARED_CREDENTIALS_FILE": "/none"]) == nil)
    #expect(keys(["HOME": "/x", "AWS_SHARED_CREDENTIALS_FILE": "/elsewhere/credentials"])?[0] == "DEFAULT")
    #expect(
      keys(["HOME": "/x", "AWS_CONFIG_FILE": "/elsewhere/config", "AWS_PROFILE": "onlyconfig"])?[0]
        == "CONFIG")
  }

  @Test(arguments: [
    (["AWS_ACCESS_KEY_ID": "a"], "AWS_SECRET_ACCESS_KEY is not"), (["AWS_PROFILE": "none"], "no access keys"),
    (["AWS_PROFILE": "half"], "no access keys"), (["AWS_PROFILE": "spaces"], "spaces"),
    (["AWS_PROFILE": "sso"], "sso_session"),
    (["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b\r\nx: y"], "control characters"),
    (
      ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_SESSION_TOKEN": "ü"], "control characters"
    ),
  ])
  func `keys that are missing, halves or no headers are refused with the reason`(
    environment: [String: String], why: String
  ) {
    let found = error { () throws(CarrierError) in try source(environment).credentials() }
    #expect(found?.reason == .refused && found?.what.contains(why) == true, "\(found.debugDescription)")
  }

  @Test func `the region is the profile's`() {
    #expect(source().region == "eu-central-1")
    #expect(source(["AWS_PROFILE": "work"]).region == "eu-west-3")
    #expect(source(["AWS_PROFILE": "half"]).region == nil)
  }

  @Test func `any bytes are a file of profiles, with what they have`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<2000 {
      var bytes = Array((Bool.random(using: &random) ? Self.shared : Self.config).utf8)
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      let source = CredentialSource(environment: ["HOME": ""], read: { [bytes] _ in bytes })
      if let keys = try? source.credentials() {
        #expect((keys.keyID + keys.secret + (keys.token ?? "")).utf8.allSatisfy { $0.isVisible })
      }
    }
  }

  @Test func `nothing that is printed of a carrier has a secret`() throws {
    let fake = FakeBucket()
    let carrier = try BucketCarrier(fake: fake)
    _ = try carrier.object(1)
    #expect(fake.state.withLock { $0.keys.first?.secret } == Secret.secret)
    // The fake bucket keeps what it was sent; what sends to a real one does not.
    let keys = try #require(fake.state.withLock { $0.keys.first })
    fake.change { $0.requests = [] }
    var dumped = ""
    dump(carrier, to: &dumped)
    dump(keys, to: &dumped)
    dumped += "\(keys) \(String(reflecting: keys)) \(Optional(keys).debugDescription) \(carrier.name)"
    #expect(dumped.contains("an access key") && !Secret.isIn(dumped))
  }

  @Test func `no error has a secret, whatever a server sends back`() throws {
    let fake = FakeBucket()
    let carrier = try BucketCarrier(fake: fake)
    for text in [Secret.token, Secret.secret] {
      for (status, body) in [
        (403, "<Error><Code>\(text)</Code></Error>"),
        (403, "<Error><Code>AccessDenied</Code><Message>\(text)</Message></Error>"),
        (400, "<Error><Code>AuthorizationHeaderMalformed</Code><Region>\(text)</Region></Error>"),
        (500, text),
        (301, "<Error><Region>\(text)</Region></Error>"), (200, text), (404, text), (204, ""), (412, text),
      ] {
        fake.change {
          $0.override = { _, _ in
            FakeBucket.answer(body, ["x-amz-bucket-region": text, "etag": text], status: status)
          }
        }
        var texts: [String] = []
        func note(_ error: CarrierError?) {
          if let error { texts += ["\(error)", error.errorDescription ?? ""] }
        }
        note(error { () throws(CarrierError) in try carrier.prove() })
        note(error { () throws(CarrierError) in try carrier.hasObject(1) })
        note(error { () throws(CarrierError) in try carrier.extent() })
        note(error { () throws(CarrierError) in try carrier.removeFiles(["a"], in: "b") })
        note(error { () throws(CarrierError) in try carrier.replaceFile("c", []) })
        texts.append("\(carrier.put([CarrierObject(1, "a")]))")
        #expect(!texts.contains(where: Secret.isIn), "\(status) \(texts)")
      }
    }
  }

  @Test func `keys that are refused are read again, once, and the request is sent with the new ones`() throws
  {
    let fake = FakeBucket()
    let file = Lock("[default]\naws_access_key_id = OLD\naws_secret_access_key = old\n")
    let source = CredentialSource(environment: ["HOME": ""]) { _ in Array(file.withLock { $0 }.utf8) }
    let clock = FakeClock()
    #expect(try BucketCarrier(fake: fake, source: source).put([CarrierObject(1, "a")]) == .stored)
    for code in ["ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch", ""] {
      fake.change { state in
        state.override = { _, keys in
          keys.keyID == "NEW" ? nil : FakeBucket.error(code.isEmpty ? 403 : 400, code)
        }
      }
      file.withLock { $0 = "[default]\naws_access_key_id = OLD\naws_secret_access_key = old\n" }
      let carrier = try BucketCarrier(fake: fake, clock: clock, source: source)
      let before = fake.requests.count
      let refused = error { () throws(CarrierError) in try carrier.hasObject(1) }
      #expect(refused?.reason == .refused && fake.requests.count == before + 1, "\(refused.debugDescription)")
      file.withLock { $0 = "[default]\naws_access_key_id = NEW\naws_secret_access_key = new\n" }
      #expect(try carrier.hasObject(1), "\(code)")
    }
    #expect(clock.pauses.withLock { $0.isEmpty })
  }
}
