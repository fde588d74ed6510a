"""Tests of what takes the examples out of the pages: `python3 -m unittest discover -s Tests/Oracle`."""

import importlib.machinery
import importlib.util
import os
import unittest

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Tools", "support", "page-examples")
LOADER = importlib.machinery.SourceFileLoader("page_examples", PATH)
examples = importlib.util.module_from_spec(importlib.util.spec_from_loader("page_examples", LOADER))
LOADER.exec_module(examples)


class Blocks(unittest.TestCase):
    def test_only_blocks_that_are_tagged_swift_are_taken_with_their_lines(self):
        page = "a\n```swift\nlet a = 1\n\nlet b = 2\n```\n```text\nno\n```\n```\nno\n```\n```swift\nlet c = 3\n```\n"
        self.assertEqual(examples.blocks(page), [(3, ["let a = 1", "", "let b = 2"]), (14, ["let c = 3"])])

    def test_doc_comments_of_public_declarations_keep_their_lines(self):
        code = ("// A file.\n/// ```swift\n/// one()\n/// ```\n@frozen\npublic struct One {\n"
                "  /// ```swift\n  /// two()\n  /// ```\n  func two() {}\n}\n/// ```swift\n/// three()\n/// ```\n"
                "package struct Three {}\n")
        text = examples.comments(code)
        self.assertEqual(examples.blocks(text), [(3, ["one()"])])
        self.assertEqual(len(text.split("\n")), len(code.split("\n")))


class Sources(unittest.TestCase):
    PAGE = "Sources/StrataViews/StrataViews.docc/Batches.md"

    def test_statements_are_a_function_in_the_context_of_their_page(self):
        text = examples.source(self.PAGE, 2, 7, ["import Foundation", "let a = 1"], {"BatchesPage"})
        self.assertEqual(text.split("\n")[:7], [
            "import Foundation", "import Strata", "import StrataViews",
            "extension BatchesPage { func example2() async throws {",
            f'#sourceLocation(file: "{self.PAGE}", line: 7)', "", "let a = 1"])
        self.assertIn("static func example() async throws", examples.source(self.PAGE, 1, 1, ["f()"], set()))

    def test_an_extension_is_a_file_of_its_own(self):
        text = examples.source("README.md", 2, 1, ["extension Version: SortKey {", "}"], {"ReadmePage"})
        self.assertNotIn("func", text)
        self.assertTrue(text.startswith("import Strata\n#sourceLocation"))


if __name__ == "__main__":
    unittest.main()
