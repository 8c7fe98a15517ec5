import { describe, expect, it } from 'vitest'
import { limits } from '../value/limits.ts'
import { boundPreview, type Preview } from './preview.ts'

const textOf = (bytes: Uint8Array | null) => (bytes ? new TextDecoder().decode(bytes) : null)
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length

describe('a preview in a record', () => {
  it.each<Preview>([
    { type: 'diff', path: 'a', diff: '+one\n'.repeat(100) },
    { type: 'command', command: 'x'.repeat(limits.previewBytesMax), cwd: '/work' },
    { type: 'arguments', args: { a: ['é'.repeat(1000), 1, null] } },
  ])('is unchanged if it is short ($type)', (preview) => {
    expect(boundPreview(preview)).toEqual({ preview, whole: null })
  })

  it.each<[Exclude<Preview, { type: 'question' }>, string]>([
    [{ type: 'diff', path: 'a', diff: `--- a\n${'-\n'.repeat(1_000_000)}+end\n` }, '+end\\n"}'],
    [{ type: 'diff', path: 'a', diff: `--- a\n${'😀'.repeat(100_000)}\n+end\n` }, '+end\\n"}'],
    [{ type: 'command', command: `echo ${'x'.repeat(99_000)} && rm`, cwd: '/work' }, ' && rm"'],
    [{ type: 'arguments', args: { many: Array.from({ length: 50_000 }, () => 'é'), last: 'end' } }, '\\"end\\"\\n}'],
  ])('shows head and tail, and says how much is left out, if it is long', (preview, end) => {
    const { preview: shown, whole } = boundPreview(preview)
    const text = JSON.stringify(shown)
    expect(text).toMatch(/\[… \d+ bytes left out …\]/)
    expect(text).toContain(end)
    expect(text).not.toContain('\ufffd')
    expect(bytesOf(shown)).toBeLessThan(3 * limits.previewBytesMax)
    expect(textOf(whole)).toBe(
      { command: 'command' in preview && preview.command, diff: 'diff' in preview && preview.diff }[
        preview.type === 'arguments' ? 'diff' : preview.type
      ] || JSON.stringify('args' in preview && preview.args, null, 2),
    )
  })

  it('cuts a diff at line ends, with a comment', () => {
    const { preview } = boundPreview({ type: 'diff', path: 'a', diff: '+123456789\n'.repeat(10_000) })
    expect(preview).toMatchObject({
      diff: expect.stringMatching(/^(\+123456789\n)+\n\\ \[… \d+ bytes .*\]\n(\+123456789\n)+$/),
    })
  })

  it('bounds the whole too', () => {
    const { whole } = boundPreview({ type: 'diff', path: 'a', diff: '-\n'.repeat(limits.previewWholeBytesMax) })
    expect(whole?.length).toBeLessThanOrEqual(limits.previewWholeBytesMax + 100)
    expect(whole?.includes(0x5b)).toBe(true)
  })
})
