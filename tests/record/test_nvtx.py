"""What NVTX's calls carry is what the log holds, and they return what NVTX promises."""

import struct
import unittest

import logs
from support import RecordTest

PUSHES = ["push a", "push w", "push ex"]


class Forms(RecordTest):
    def setUp(self):
        super().setUp()
        self.result = self.run_program("forms")
        self.assertEqual(self.result.returncode, 0)
        self.log = self.only_log()

    def marks(self, text):
        return [mark for mark in self.log.of(logs.MARK) if self.log.text(mark) == text]

    def domain(self, name):
        return next(n.body[0] for n in self.log.of(logs.NAME) if n.a == 1 and n.text == name)

    def test_returns(self):
        self.assertEqual(self.result.stdout.splitlines(),
                         ["0 1 2", "2 1 0 1", "1", "1", "0 0 1", "1 0 0"])

    def test_texts(self):
        default = [r.text for r in self.log.of(logs.PUSH) if r.a == 0]
        self.assertEqual(default, PUSHES)
        self.assertEqual([r.text for r in self.log.of(logs.MARK)][:3],
                         ["mark a", "mark w é€😀", "mark ex"])
        # A pop without a push is no record.
        self.assertEqual(len([r for r in self.log.of(logs.POP) if r.a == 0]), 3)

    def test_attributes(self):
        (mark,) = self.marks("mark ex")
        self.assertEqual((mark.category, mark.color, mark.payload_kind), (7, 0xFF00FF00, 2))
        self.assertEqual(struct.unpack("<q", struct.pack("<Q", mark.payload)), (-5,))

    def test_payloads(self):
        def bits(form, value):
            return struct.unpack("<Q", struct.pack(form, value))[0]

        self.assertEqual([(m.payload_kind, m.payload) for m in self.marks("payload")],
                         [(1, 1 << 63), (2, bits("<q", -5)), (3, bits("<d", 0.5)),
                          (1, 4_000_000_000), (2, bits("<q", -6)), (3, bits("<d", 0.25))])

    def test_ranges_that_start_and_end(self):
        started = {r.body[1]: self.log.text(r) for r in self.log.of(logs.RANGE_START) if r.a == 0}
        ended = [started[r.body[1]] for r in self.log.of(logs.RANGE_END) if r.a == 0]
        self.assertEqual(ended, ["start w", "start a", "push ex"])

    def test_domains(self):
        a, w = self.domain("domain a"), self.domain("domain w")
        self.assertGreaterEqual(min(a, w), 16)
        self.assertEqual([r.a for r in self.log.of(logs.PUSH) if r.a], [a, w, a])
        self.assertEqual([m.a for m in self.marks("registered a")], [a])
        self.assertEqual({self.log.text(r) for r in self.log.of(logs.PUSH) if r.a}, {"registered w"})
        self.assertEqual([r.a for r in self.log.of(logs.RANGE_START) if r.a], [a])

    def test_names(self):
        names = {(n.a, n.body[0], n.body[1]): n.text for n in self.log.of(logs.NAME) if n.a != 1}
        self.assertEqual(names, {(2, 0, 7): "category a", (2, 0, 8): "category w",
                                 (2, self.domain("domain a"), 3): "category of a domain",
                                 (3, 0, 4242): "thread a", (3, 0, 4243): "thread w",
                                 (4, 0, 0x1234): "resource"})

    def test_long_texts(self):
        (cut,) = [m for m in self.log.of(logs.MARK) if m.is_cut]
        self.assertIn(len(cut.text.encode()), range(4090, 4099))
        self.assertEqual(cut.text[1:], "é" * len(cut.text[1:]))
        short = [m.text for m in self.log.of(logs.MARK) if m.text and set(m.text) == {"é"}]
        self.assertEqual([len(text) for text in short], list(range(1, 18)))


class WideTexts(RecordTest):
    def test_long_ones_are_cut_where_others_are(self):
        self.run_program("stack", "nvtx-wide")
        (push,) = self.only_log().of(logs.PUSH)
        self.assertTrue(push.is_cut)
        self.assertEqual(push.text, "é" * 2048)


class Switches(RecordTest):
    def test_nvtx_can_be_left_out(self):
        self.run_program("forms", options="no-nvtx")
        self.assertEqual(self.parse(), [])


if __name__ == "__main__":
    unittest.main()
