// A socket that reads what a server says first.

#if JetStream
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Darwin
  #endif
  internal import StrataBase

  /// Reads the greeting of a server, which comes before TLS unless the server is set up for TLS first.
  enum ServerSocket {
    private static let timeoutSeconds = 2

    /// nil if the server does not answer, or says something else.
    static func greeting(of server: JetStreamAddress.Server) -> ServerGreeting? {
      var hints = addrinfo()
      #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      #else
        hints.ai_socktype = SOCK_STREAM
      #endif
      var addresses: UnsafeMutablePointer<addrinfo>?
      guard getaddrinfo(server.host, String(server.port), &hints, &addresses) == 0 else { return nil }
      defer { freeaddrinfo(addresses) }
      var next = addresses
      while let address = next?.pointee {
        if let found = greeting(of: address) { return found }
        next = address.ai_next
      }
      return nil
    }

    private static func greeting(of address: addrinfo) -> ServerGreeting? {
      let socket = socket(address.ai_family, address.ai_socktype, address.ai_protocol)
      guard socket >= 0 else { return nil }
      defer { close(socket) }
      // On Linux the time to send limits that to connect as well.
      var timeout = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
      let size = socklen_t(MemoryLayout<timeval>.size)
      setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, size)
      setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &timeout, size)
      guard connect(socket, address.ai_addr, address.ai_addrlen) == 0 else { return nil }
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      let end = MonotonicTime.now().advanced(by: .seconds(timeoutSeconds))
      while bytes.count < ServerGreeting.lengthMax, MonotonicTime.now() < end {
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        bytes += buffer[..<count]
        if buffer[..<count].contains(UInt8(ascii: "\n")) { return ServerGreeting(bytes) }
      }
      return nil
    }
  }
#endif
