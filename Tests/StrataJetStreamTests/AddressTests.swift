// URLs of copies, and who asks.

internal import StrataBase
@testable internal import StrataJetStream
internal import StrataReplica
internal import StrataSimulation
internal import Testing

@Suite struct AddressTests {
  private func address(_ url: String) throws -> JetStreamAddress { try JetStreamAddress.parse(url).0 }

  @Test func `a URL names servers, a copy and its replicas, and reads back from its text`() throws {
    let one = try address("nats://a.example/desk")
    #expect(one.servers == [.init(host: "a.example", port: 4222)])
    #expect(one.replicas == 3 && !one.isTLS && one.text == "nats://a.example:4222/desk")
    let many = try address("tls://a:1,[::1]:65535,[fe80::2]/Desk_2-b?replicas=1")
    #expect(many.servers.map(\.host) == ["a", "::1", "fe80::2"])
    #expect(many.servers.map(\.port) == [1, 65535, 4222])
    #expect(many.isTLS && many.replicas == 1 && many.copy == "Desk_2-b")
    for address in [one, many] { #expect(try self.address(address.text) == address) }
  }

  @Test(arguments: [
    "", "nats:", "nats://", "nats:///desk", "nats://a", "nats://a/", "nats://a/b c", "nats://a/b.c",
    "nats://a/b*", "nats://a/b>", "nats://a/ü", "nats://a:0/b", "nats://a:65536/b", "nats://a:-1/b",
    "nats://a:+1/b", "nats://a:/b", "nats://a:1:2/b", "nats://[::1/b", "nats://[::1]x/b", "nats://a,,b/c",
    "nats://a b/c", "nats://a/b?replicas=2", "nats://a/b?replicas=", "nats://a/b?x=3", "nats://a/b?",
    "http://a/b", "NATS://a/b", "nats://a%zz@b/c", "nats://a%0@b/c", "nats://a%00@b/c", "nats://%ff@b/c",
    "nats://a\u{0}/b", "nats://\(String(repeating: "a,", count: 16))a/b",
    "nats://a/\(String(repeating: "b", count: 65))",
  ])
  func `a URL that cannot be used is refused, and no text of it is repeated`(url: String) {
    do throws(CarrierError) {
      _ = try JetStreamAddress.parse(url)
      Issue.record("taken")
    } catch { #expect(error.reason == .unfit && (url.count < 12 || !error.description.contains(url))) }
  }

  @Test func `random texts are read or refused, and what is read reads back`() throws {
    var random = SeededGenerator(seed: 3)
    let pieces = [
      "nats://", "tls://", "a", ":", "@", ",", "/", "?", "replicas=", "3", "[", "]", "%41", "%", "é", "-",
    ]
    var read = 0
    for _ in 0..<20_000 {
      let text =
        "nats://"
        + (0..<Int.random(in: 0...9, using: &random)).map { _ in pieces.randomElement(using: &random)! }
        .joined()
      guard let address = try? address(text) else { continue }
      read += 1
      #expect(try self.address(address.text) == address, "\(text)")
    }
    #expect(read > 20)
  }

  @Test func `what is secret is in no name, no error and no description`() throws {
    let secret = "s3cr3t"
    for url in [
      "nats://user:\(secret)@a,b/desk", "nats://\(secret)@a/desk",
      "nats://\(secret):\(secret)@a/desk?replicas=1",
    ] {
      let (address, credentials) = try JetStreamAddress.parse(url)
      let broker = MemoryBroker()
      let carrier = JetStreamCarrier(address, over: MemoryLink(broker))
      broker.state.withLock { $0.version = "2.9.10" }
      var texts = [carrier.name, "\(address)", String(reflecting: address)]
      texts += ["\(credentials!)", String(reflecting: credentials!), "\(credentials as Any)"]
      var dumped = ""
      dump(credentials!, to: &dumped)
      texts.append(dumped)
      do throws(CarrierError) { try carrier.prove() } catch { texts.append("\(error)") }
      #expect(texts.count == 8)
      for text in texts { #expect(!text.contains(secret), "\(text)") }
    }
    for url in ["nats://user:\(secret)@a/b c", "nats://user:\(secret)@/b", "nats://\(secret)%0@a/b"] {
      do throws(CarrierError) { _ = try JetStreamAddress.parse(url) } catch {
        #expect(!error.description.contains(secret))
      }
    }
  }

  @Test func `users come from the URL or the environment`() throws {
    #expect(try JetStreamAddress.parse("nats://u%40x:p%2Fq%2C@a/b").1 == .user("u@x", password: "p/q,"))
    #expect(try JetStreamAddress.parse("nats://tok@a,b/c").1 == .token("tok"))
    #expect(try JetStreamAddress.parse("nats://a/c").1 == nil)
    typealias Credentials = JetStreamCredentials
    #expect(Credentials.environment(["NATS_CREDS": "/c", "NATS_USER": "u"]) == .file("/c"))
    #expect(Credentials.environment(["NATS_USER": "u", "NATS_PASSWORD": "p"]) == .user("u", password: "p"))
    #expect(Credentials.environment(["NATS_TOKEN": "t", "NATS_CREDS": ""]) == .token("t"))
    #expect(Credentials.environment([:]) == nil)
  }

  @Test func `versions are compared by number, and what is no version is none`() {
    #expect(ServerVersion("2.9.10")! < .oldest && ServerVersion("2.12.0")! >= .oldest)
    #expect(ServerVersion("2.15.1")! > .oldest && ServerVersion("3.0.0")! > .oldest)
    #expect(ServerVersion("2.12.0-RC.3") == .oldest)
    for text in ["", "2", "2.12", "2.12.0.1", "a.b.c", "2.-1.0", "99999999999999999999.0.0", "2..0"] {
      #expect(ServerVersion(text) == nil, "\(text)")
    }
  }

  @Test func `a greeting is read, and anything else is none`() {
    let line = #"INFO {"server_name":"n0","version":"2.15.1","max_payload":1048576}"# + " \r\n"
    let greeting = ServerGreeting(Array(line.utf8))
    #expect(greeting?.version == "2.15.1" && greeting?.name == "n0" && greeting?.messageSizeMax == 1 << 20)
    for text in [
      "", "INFO", "INFO \n", "INFO {}\n", "INFO {\"version\":2,\"max_payload\":1}\n", "-ERR\r\n",
      "HTTP/1.1\n",
    ] {
      #expect(ServerGreeting(Array(text.utf8)) == nil)
    }
    for end in 0..<line.utf8.count - 1 { #expect(ServerGreeting(Array(line.utf8.prefix(end))) == nil) }
  }
}
