// Releasing objects that are nested in each other, however deep, with a stack of limited size.

internal import CStrata

/// The end of an object releases the objects in it, whose ends release those in them: as many calls inside each other as
/// the nesting is deep. Here a thread that is inside of too many puts what comes next aside, and releases it when the
/// outermost object has ended. An ordinary object costs two looks at a counter of the thread's.
package enum NestedRelease {
  /// The most ends of objects inside each other. Each takes less than a kibibyte of the stack.
  package static let depthMax: UInt32 = 64

  /// Objects that wait for the outermost one to end.
  private final class Waiting { var objects: [AnyObject] = [] }

  /// Begins the end of an object, which `leave` ends. False if the thread is inside of too many: then the contents are
  /// to be moved into another object, which is passed to `wait`, and nothing is to be left.
  package static func enter() -> Bool {
    let release = strata_release().unsafelyUnwrapped
    guard release.pointee.depth < depthMax else { return false }
    release.pointee.depth &+= 1
    return true
  }

  /// Keeps an object until the outermost one has ended.
  package static func wait(_ object: AnyObject) {
    let release = strata_release().unsafelyUnwrapped
    if let waiting = release.pointee.waiting {
      Unmanaged<Waiting>.fromOpaque(waiting).takeUnretainedValue().objects.append(object)
    } else {
      let waiting = Waiting()
      waiting.objects.append(object)
      release.pointee.waiting = Unmanaged.passRetained(waiting).toOpaque()
    }
  }

  package static func leave() {
    let release = strata_release().unsafelyUnwrapped
    if release.pointee.depth == 1, let waiting = release.pointee.waiting {
      // The ends of these objects are inside of the outermost one, so none of them comes here.
      let waiting = Unmanaged<Waiting>.fromOpaque(waiting).takeUnretainedValue()
      while waiting.objects.popLast() != nil {}
      release.pointee.waiting = nil
      Unmanaged.passUnretained(waiting).release()
    }
    release.pointee.depth &-= 1
  }
}
