// The files of the page, which are part of the program.

import LogreplayInspect

enum PageAssets {
  static let all: [String: InspectAsset] = {
    var assets: [String: InspectAsset] = [
      "/": InspectAsset(type: "text/html; charset=utf-8", bytes: PackageResources.index_html),
      "/style.css": InspectAsset(type: "text/css; charset=utf-8", bytes: PackageResources.style_css),
      "/icon.svg": InspectAsset(type: "image/svg+xml", bytes: PackageResources.icon_svg),
    ]
    for (name, bytes) in scripts {
      assets["/\(name).js"] = InspectAsset(type: "text/javascript; charset=utf-8", bytes: bytes)
    }
    return assets
  }()

  private static let scripts: [(String, [UInt8])] = [
    ("main", PackageResources.main_js), ("dom", PackageResources.dom_js), ("api", PackageResources.api_js),
    ("state", PackageResources.state_js), ("timeline", PackageResources.timeline_js),
    ("query", PackageResources.query_js), ("list", PackageResources.list_js),
    ("panel", PackageResources.panel_js), ("compare", PackageResources.compare_js),
    ("events", PackageResources.events_js), ("counts", PackageResources.counts_js),
    ("store", PackageResources.store_js),
  ]
}
