// The program that libFuzzer drives: the target is named by STRATA_FUZZ, one of `FuzzTarget`.

internal import FuzzTargets

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

private let target: FuzzTarget = {
  guard let name = getenv("STRATA_FUZZ"), let target = FuzzTarget(rawValue: String(cString: name)) else {
    fatalError("STRATA_FUZZ names none of \(FuzzTarget.allCases.map(\.rawValue))")
  }
  return target
}()

/// One input. A law that it breaks ends the program, as a trap does, and libFuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  do throws(BrokenLaw) {
    try target.run(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    fatalError("\(error)")
  }
  return 0
}
