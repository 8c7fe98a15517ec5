import { BlobHash } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { createPaint } from '../terminal/output.ts'
import { askedText, previewText } from './preview-text.ts'

it('says below a command where it runs, whether in the background, and whether in the sandbox', () => {
  const preview = { type: 'command' as const, command: 'ls', cwd: '/work', sandbox: { isInForce: true, network: true } }
  expect(previewText(preview, createPaint(false))).toBe(
    'ls\n  in /work\n  In the sandbox: it writes only the working directory, with the network.',
  )
  const { sandbox: _, ...plain } = preview
  expect(previewText({ ...plain, background: true }, createPaint(false))).toBe('ls\n  in /work, in the background')
})

it('names the whole text of a preview that is shortened', () => {
  const preview = { type: 'command' as const, command: 'echo a\u202e', cwd: '/work' }
  expect(previewText(preview, createPaint(false))).toBe('echo a\\u{202e}\n  in /work')
  const blob = { hash: BlobHash.parse('a'.repeat(64)), bytes: 99_000 }
  expect(previewText({ ...preview, blob }, createPaint(false))).toBe(
    `echo a\\u{202e}\n  in /work\n[shortened; the whole has 99000 bytes and is kept as ${blob.hash}]`,
  )
})

it('paints the lines of a diff, and nothing without colour', () => {
  const diff = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n---old\n+new\u001b[31m'
  const preview = { type: 'diff' as const, path: 'x', diff }
  const [dim, red, green] = [2, 31, 32].map((on) => `\u001b[${on}m`)
  expect(
    previewText(preview, createPaint(true))
      .replaceAll(/\u001b\[(?:22|39)m/g, '|')
      .split('\n'),
  ).toEqual([
    ...['x', `${dim}--- a/x|`, `${dim}+++ b/x|`, `${dim}@@ -1,2 +1,2 @@|`],
    ...[' same', `${red}---old|`, `${green}+new\\u{1b}[31m|`],
  ])
  expect(previewText(preview, createPaint(false))).toBe(`x\n${diff.replace('\u001b', '\\u{1b}')}`)
})

it('marks the rest of a long line of a diff that asks, so that it cannot pass for a line of the diff', () => {
  const words = 'aaaa bbbb cccc dddd eeee ffff gggg'
  const diff = `@@ -0,0 +1,2 @@\n+${words} -password = required\n+${'x'.repeat(39)}\n`
  const preview = { type: 'diff' as const, path: 'x', diff }
  const terminal = { paint: createPaint(false), wrap: (text: string) => text, columns: 40 }
  expect(askedText('Run?', preview, terminal).split('\n')).toEqual([
    ...['Run? x', '@@ -0,0 +1,2 @@', `+${words} `, '↳ -password = required'],
    `+${'x'.repeat(39)}`,
  ])
  expect(askedText('Run?', preview, { ...terminal, columns: null })).toBe(`Run? x\n${diff.trimEnd()}`)
})
