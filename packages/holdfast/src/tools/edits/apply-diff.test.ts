import { applyPatch, createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyDiff } from './apply-diff.ts'
import { lineList } from './lines.ts'
import { applySplices } from './splice.ts'

/** `⏎` is a line feed, `␍` a carriage return, `·` a blank at the end of a line, `␠` one at the start. */
const plain = (text: string) =>
  text.replaceAll('⏎', '\n').replaceAll('␍', '\r').replaceAll('·', ' ').replaceAll('␠', ' ')

const applied: readonly (readonly [string, string, string, string])[] = [
  ['D1, with wrong line numbers', 'a⏎b⏎c⏎d⏎', '@@ -40,9 +41,2 @@⏎ b⏎-c⏎+C⏎ d', 'a⏎b⏎C⏎d⏎'],
  ['D2, with a bare @@', 'a⏎b⏎c⏎', '@@⏎ a⏎-b⏎+B', 'a⏎B⏎c⏎'],
  ['D3, without any header', 'a⏎b⏎c⏎', '␠a⏎-b⏎+B⏎ c', 'a⏎B⏎c⏎'],
  [
    'D4, with prose and a fence around it',
    'a⏎b⏎',
    'Here it is:⏎⏎```diff⏎--- a/f.txt⏎+++ b/f.txt⏎@@ ... @@⏎-b⏎+B⏎```⏎⏎Done.',
    'a⏎B⏎',
  ],
  ['D5, with a blank line of context that lost its blank', 'a⏎⏎b⏎c⏎', '@@ -1,4 +1,4 @@⏎ a⏎⏎-b⏎+B⏎ c', 'a⏎⏎B⏎c⏎'],
  [
    'D6, with a line of context without its blank',
    'if x:⏎    y()⏎    z()⏎',
    '@@⏎if x:⏎-    y()⏎+    Y()',
    'if x:⏎    Y()⏎    z()⏎',
  ],
  [
    'D8, below the line that the hunk header names',
    'def a():⏎  x⏎def b():⏎  x⏎',
    '@@ def b():⏎-  x⏎+  X',
    'def a():⏎  x⏎def b():⏎  X⏎',
  ],
  [
    'in the section that the header names, not in the next one',
    'def a():⏎  x⏎def b():⏎  x⏎',
    '@@ def a():⏎-  x⏎+  X',
    'def a():⏎  X⏎def b():⏎  x⏎',
  ],
  [
    'from the end of the section into the next',
    'def a():⏎  x⏎def b():⏎  y⏎',
    '@@ -2,3 +2,3 @@ def a():⏎   x⏎ def b():⏎-  y⏎+  Y',
    'def a():⏎  x⏎def b():⏎  Y⏎',
  ],
  [
    'D9, indented as a whole',
    'class A:⏎    def f(self):⏎        return 1⏎',
    '@@⏎ def f(self):⏎-    return 1⏎+    x = 2⏎+    return x',
    'class A:⏎    def f(self):⏎        x = 2⏎        return x⏎',
  ],
  ['D10, with trailing blanks in the file', 'a··⏎b⏎', '@@⏎ a⏎-b⏎+B', 'a··⏎B⏎'],
  ['D11, with typographic quotes in the file', 'say(“hi”)⏎go⏎', '@@⏎ say("hi")⏎-go⏎+stop', 'say(“hi”)⏎stop⏎'],
  ['D12, to a file with CRLF', 'a␍⏎b␍⏎c␍⏎', '@@⏎ a⏎-b⏎+B⏎+B2', 'a␍⏎B␍⏎B2␍⏎c␍⏎'],
  ['D13, to a file with mixed ends', 'a␍⏎b⏎c␍⏎', '@@⏎-b⏎+B', 'a␍⏎B⏎c␍⏎'],
  ['D14, to a file without a final line feed', 'a⏎b', '@@⏎ a⏎-b⏎+B', 'a⏎B'],
  ['D15, with dots for lines of context', 'f(⏎1⏎2⏎3⏎)⏎', '@@⏎-f(⏎+g(⏎ ...⏎ )', 'g(⏎1⏎2⏎3⏎)⏎'],
  ['D18, to an empty file', '', '--- /dev/null⏎+++ b/f.txt⏎@@ -0,0 +1,2 @@⏎+a⏎+b', 'a⏎b⏎'],
  ['D21, with a stale line of outer context', 'h2⏎a⏎b⏎c⏎', '@@⏎ h1⏎ a⏎-b⏎+B⏎ c', 'h2⏎a⏎B⏎c⏎'],
  ['D22, of two hunks', 'a⏎b⏎c⏎d⏎e⏎', '@@ -1,2 +1,3 @@⏎ a⏎+a2⏎ b⏎@@ -4,2 +4,1 @@⏎ d⏎-e', 'a⏎a2⏎b⏎c⏎d⏎'],
  ['D24, of lines that look like file headers', '-- q⏎select 1⏎', '@@⏎--- q⏎+-- r⏎ select 1', '-- r⏎select 1⏎'],
  [
    'a git diff with its header lines',
    'a⏎',
    'diff --git a/f.txt b/f.txt⏎index 1..2 100644⏎--- a/f.txt⏎+++ b/f.txt⏎@@ -1 +1 @@⏎-a⏎+b',
    'b⏎',
  ],
  ['context with a backslash that lost its blank', '\\a⏎x⏎\\b⏎x⏎', '@@⏎\\b⏎-x⏎+y', '\\a⏎x⏎\\b⏎y⏎'],
  ['an empty file, without a line feed if it says so', '', '@@⏎+a⏎+b⏎\\ No newline at end of file⏎', 'a⏎b'],
  ['a file whose end it would change, which stays', 'a⏎b⏎', '@@⏎ a⏎-b⏎+B⏎\\ No newline at end of file', 'a⏎B⏎'],
  ['lines behind a last line without a line feed', 'a⏎b', '@@⏎ b⏎+c', 'a⏎b⏎c'],
  ['a line of dots that the file has', 'def f():⏎    ...⏎', '@@⏎ def f():⏎-    ...⏎+    pass', 'def f():⏎    pass⏎'],
  ['a hunk that only one of its lines of context gives a place', 'a⏎x⏎r⏎q⏎x⏎s⏎', '@@⏎ a⏎-x⏎+y⏎ b', 'a⏎y⏎r⏎q⏎x⏎s⏎'],
  [
    'a hunk below the line that its header names, with stale context',
    'f()⏎q⏎x⏎b⏎g()⏎a⏎x⏎r⏎',
    '@@ g()⏎ a⏎-x⏎+y⏎ b',
    'f()⏎q⏎x⏎b⏎g()⏎a⏎y⏎r⏎',
  ],
  [
    'a telling line to remove, of whose context nothing is left',
    'p⏎return total⏎q⏎',
    '@@⏎ a⏎-return total⏎+return 0⏎ b',
    'p⏎return 0⏎q⏎',
  ],
  ['headers that name one file in two folders', 'a⏎', '--- old/f.txt⏎+++ new/f.txt⏎@@⏎-a⏎+b', 'b⏎'],
  [
    'two hunks under headers of the same file',
    'a⏎b⏎',
    '--- a/f.txt⏎+++ b/f.txt⏎@@⏎-a⏎+A⏎--- a/f.txt⏎+++ b/f.txt⏎@@⏎-b⏎+B',
    'A⏎B⏎',
  ],
  ['changes on both sides of dots', 'a⏎1⏎2⏎b⏎', '@@⏎-a⏎+A⏎ ...⏎-b⏎+B', 'A⏎1⏎2⏎B⏎'],
]

const refused: readonly (readonly [string, string, string, object])[] = [
  [
    'D7, which fits in two places whatever its line numbers say',
    'x⏎end⏎x⏎end⏎',
    '@@ -3,2 +3,2 @@⏎-x⏎+X⏎ end',
    { code: 'ambiguous', details: { lines: [1, 3] } },
  ],
  ['D16, with dots for lines to add', 'f()⏎', '@@⏎-f()⏎+g()⏎+# ... rest of code ...', { code: 'elided' }],
  ['D17, which adds lines without context', 'a⏎b⏎', '@@ -2,0 +3 @@⏎+c', { code: 'no_context' }],
  ['D19, which is already applied', 'a⏎B⏎c⏎', '@@⏎ a⏎-b⏎+B⏎ c', { code: 'already_applied' }],
  ['whose only kept line is there', 'call one⏎call two⏎', '@@⏎ call one⏎-call too', { code: 'no_match' }],
  ['whose short new line is there', 'a⏎}⏎', '@@⏎-zzz⏎+}', { code: 'no_match' }],
  [
    'D20, which removes a line that the file has not',
    'x = 1⏎y = 2⏎z = 3⏎',
    '@@⏎ x = 1⏎-y = 99⏎+y = 3⏎ z = 3',
    { code: 'no_match', details: { nearest: 1, line: 2 } },
  ],
  ['D23, for another file', 'a⏎', '--- a/other.txt⏎+++ b/other.txt⏎@@⏎-a⏎+b', { code: 'other_file' }],
  ['D26, with blanks for tabs', '\tif x:⏎\t\ty()⏎', '@@⏎     if x:⏎-        y()⏎+        z()', { code: 'no_match' }],
  ['of which one hunk does not fit', 'a⏎b⏎c⏎', '@@⏎-a⏎+A⏎@@⏎-x⏎+X', { code: 'no_match' }],
  [
    'that deletes the file',
    'a⏎b⏎',
    '--- a/f.txt⏎+++ /dev/null⏎@@ -1,2 +0,0 @@⏎-a⏎-b',
    { code: 'bad_request', message: 'the diff deletes f.txt: use delete_file. Nothing was changed.' },
  ],
  ['without a hunk', 'a⏎', 'I changed the file.', { code: 'bad_request' }],
  ['that changes nothing', 'a⏎', '@@⏎-a⏎+a', { code: 'bad_request' }],
  [
    'with its hunks in the wrong order',
    'a⏎b⏎c⏎d⏎',
    '@@⏎ c⏎-d⏎+D⏎@@⏎-a⏎+A⏎ b',
    {
      code: 'no_match',
      message: 'hunk 2 of 2 fits at line 1, before hunk 1: give the hunks in file order',
      details: { line: 1 },
    },
  ],
  [
    'with hunks that overlap',
    'a⏎b⏎c⏎d⏎',
    '@@⏎ b⏎-c⏎+C⏎@@⏎-c⏎+X⏎ d',
    {
      code: 'no_match',
      message: 'hunk 2 of 2 fits at line 3, where it overlaps hunk 1: write the lines of both as one hunk',
    },
  ],
  [
    'that fits without its last line of context here, and without its first one there',
    'q⏎x⏎b⏎a⏎x⏎r⏎',
    '@@⏎ a⏎-x⏎+y⏎ b',
    { code: 'ambiguous', details: { lines: [2, 5], count: 2 } },
  ],
  [
    'that fits without its first line of context here, and without its last one there',
    'a⏎x⏎r⏎q⏎x⏎b⏎',
    '@@⏎ a⏎-x⏎+y⏎ b',
    { code: 'ambiguous', details: { lines: [2, 5], count: 2 } },
  ],
  ['of whose context no line is in the file', 'p⏎}⏎q⏎', '@@⏎ a⏎-}⏎+]⏎ b', { code: 'no_match' }],
  [
    'that is also for a file whose name ends like it',
    'a⏎b⏎',
    '--- a/f.txt⏎+++ b/f.txt⏎@@⏎-a⏎+A⏎--- a/sub/f.txt⏎+++ b/sub/f.txt⏎@@⏎-b⏎+B',
    { code: 'other_file', message: 'the diff is for sub/f.txt, not for f.txt. Call apply_diff once for each file.' },
  ],
  [
    'whose section has no such line, though one above it has',
    'def a():⏎  x⏎def b():⏎  y⏎',
    '@@ def b():⏎-  x⏎+  X',
    { code: 'no_match', message: expect.stringContaining('fits at line 2, which is not in the section "def b():"') },
  ],
  [
    'whose section has no such line, though one below it has',
    'def a():⏎  x⏎def b():⏎  y⏎',
    '@@ def a():⏎-  y⏎+  Y',
    { code: 'no_match' },
  ],
  ['that drops a line to remove to fit', 'a⏎b⏎', '@@⏎-x⏎ a⏎-b⏎+B', { code: 'no_match' }],
]

const path = 'f.txt'

describe('apply_diff', () => {
  it.each(applied)('applies %s', (_, file, diff, expected) => {
    const text = plain(file)
    const patched = applyDiff({ path, text }, plain(diff))
    expect(patched).toMatchObject({ ok: true, value: { text: plain(expected) } })
    if (patched.ok) expect(applySplices(text, patched.value.splices)).toBe(plain(expected))
  })

  it.each(refused)('refuses a diff %s', (_, file, diff, expected) => {
    expect(applyDiff({ path, text: plain(file) }, plain(diff))).toMatchObject({ ok: false, fault: expected })
  })

  it('says what was ignored to find a hunk', () => {
    expect(applyDiff({ path, text: 'a  \nb\n' }, '@@\n a\n-b\n+B')).toMatchObject({
      value: { notes: ['the hunk was found by ignoring blanks at the ends of lines'] },
    })
    expect(applyDiff({ path, text: 'h2\na\nb\n' }, '@@\n h1\n a\n-b\n+B')).toMatchObject({
      value: { notes: ['the hunk was found without 1 stale context line'] },
    })
  })

  it('refuses more hunks than can be searched in so many lines', () => {
    const text = 'a\n'.repeat(200_000)
    expect(applyDiff({ path, text }, '@@\n-a\n+b\n'.repeat(1000))).toMatchObject({
      fault: { code: 'too_large', details: { hunks: 1000, lines: 200_000 } },
    })
  })

  it('refuses an indent that makes the text too long', () => {
    const text = ['one', 'two'].map((line) => `${' '.repeat(1000)}${line}\n`).join('')
    const diff = `@@\n one\n${'+x\n'.repeat(20_000)} two\n`
    expect(applyDiff({ path, text }, diff)).toMatchObject({ fault: { code: 'too_large' } })
  })

  it('creates a file only from /dev/null', () => {
    expect(applyDiff({ path, text: null }, '--- /dev/null\n+++ b/f.txt\n@@\n+a')).toMatchObject({
      value: { text: 'a\n' },
    })
    expect(applyDiff({ path, text: null }, '@@\n+a')).toMatchObject({ fault: { code: 'not_found' } })
  })
})

const line = fc.constantFrom('a', 'b', '  c', 'd ', '', '\te', '}', '-- x', '++ y')
const file = fc.array(line, { maxLength: 12 })
const ended = fc.tuple(file, fc.constantFrom('\n', '\r\n'), fc.boolean())
const join = (lines: readonly string[], end: string, isClosed: boolean) =>
  lines.length === 0 ? '' : lines.join(end) + (isClosed ? end : '')

describe('any diff', () => {
  it('that a program wrote gives its file, or is refused because it fits twice', () => {
    const counts = { applied: 0, refused: 0 }
    fc.assert(
      fc.property(file, file, (one, other) => {
        const [before, after] = [join(one, '\n', true), join(other, '\n', true)]
        fc.pre(before !== after && before.trim() !== '')
        const diff = createTwoFilesPatch('a/f.txt', 'b/f.txt', before, after, undefined, undefined, { context: 3 })
        const patched = applyDiff({ path, text: before }, diff)
        expect(applyPatch(before, diff)).toBe(after)
        counts[patched.ok ? 'applied' : 'refused']++
        if (patched.ok) expect(patched.value.text).toBe(after)
        else expect(['ambiguous', 'no_context', 'already_applied', 'no_match']).toContain(patched.fault.code)
      }),
      { numRuns: 300 },
    )
    expect(counts.applied).toBeGreaterThan(2 * counts.refused)
  })

  it('never changes a line that it does not name, and keeps every end', () => {
    let applied = 0
    fc.assert(
      fc.property(ended, fc.array(fc.tuple(fc.constantFrom(' ', '-', '+'), line), { maxLength: 6 }), (text, hunk) => {
        const before = join(...text)
        const patched = applyDiff({ path, text: before }, `@@\n${hunk.map(([mark, body]) => mark + body).join('\n')}`)
        if (!patched.ok) return
        applied++
        const removed = hunk.flatMap(([mark, body]) => (mark === '-' ? [body.trim()] : []))
        for (const splice of patched.value.splices) {
          const bodies = lineList(splice.removed.text).map((one) => one.trim())
          // The last line may only get an end.
          const known = [...removed, ...lineList(splice.added.text).map((one) => one.trim())]
          for (const body of bodies) expect(known).toContain(body)
        }
        if (text[1] === '\r\n' && text[0].length > 1)
          expect(patched.value.text.replaceAll('\r\n', '')).not.toContain('\n')
        expect(applySplices(before, patched.value.splices)).toBe(patched.value.text)
      }),
      { numRuns: 500 },
    )
    expect(applied).toBeGreaterThan(20)
  })
})
