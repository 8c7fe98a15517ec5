import fc from 'fast-check'

const piece = fc.constantFrom(
  ...[
    'user',
    'userName',
    'getUserName',
    'user_name',
    '_x',
    'HTTPServer2',
    'src/a.ts',
    'foo.bar()',
    "don't",
    'é',
    'e\u0301',
  ],
  ...[
    '東京',
    '京',
    'カ\u3099',
    'ガ',
    '서울',
    'Straße',
    'ﬁ',
    'Σ',
    'ς',
    'İ',
    'i',
    '１２',
    '12',
    '\ud83d\ude42',
    '\ud800',
    '\0',
    '"',
    '*',
  ],
  ...[' ', ' ', ' ', '\n', '-', ':', '__', 'a', 'b', 'ab', 'AB', 'aB', 'नमस्ते', 'สวัสดี', 'x'.repeat(70), ':ruser'],
)
/** Texts of pieces that are hard to split into words: names, scripts without spaces, marks, halves of characters. */
export const someText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))
/** Queries of the same pieces, with prefixes and phrases. */
export const someQuery = fc
  .array(fc.oneof(piece, fc.constantFrom('* ', ' "', '" ', ' ')), { maxLength: 6 })
  .map((all) => all.join(''))
