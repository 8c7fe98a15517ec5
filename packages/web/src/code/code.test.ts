import { describe, expect, it } from 'vitest'
import { cutLines } from './code-block.tsx'
import { createHighlighter, type HighlightWorker } from './highlighter.ts'
import { isHighlightable } from './use-highlight.ts'

describe('the highlighter', () => {
  const start = () => {
    const asked: { readonly id: number; readonly text: string }[] = []
    const worker = { postMessage: (one: (typeof asked)[0]) => asked.push(one), onmessage: null, onerror: null }
    // A fake of the three members that are used.
    const highlighter = createHighlighter(() => worker as unknown as HighlightWorker)
    const answer = (id: number, pieces: unknown) =>
      (worker as unknown as { onmessage(event: unknown): void }).onmessage({ data: { id, pieces } })
    return { asked, worker, highlighter, answer }
  }

  it('asks once for the same code, and knows it then', async () => {
    const { asked, highlighter, answer } = start()
    const both = [highlighter.highlight('ts', 'a'), highlighter.highlight('ts', 'a')]
    expect(asked).toHaveLength(1)
    expect(highlighter.known('ts', 'a')).toBeUndefined()
    answer(asked[0]?.id ?? 0, [['keyword', 'a']])
    expect(await Promise.all(both)).toEqual([[['keyword', 'a']], [['keyword', 'a']]])
    expect(highlighter.known('ts', 'a')).toEqual([['keyword', 'a']])
    expect(highlighter.known('js', 'a')).toBeUndefined()
    expect(highlighter.known('ts', 'b')).toBeUndefined()
  })

  it('leaves code plain if its worker fails', async () => {
    const { worker, highlighter } = start()
    const asked = highlighter.highlight('ts', 'a')
    ;(worker as unknown as { onerror(): void }).onerror()
    expect(await asked).toBeNull()
  })

  it('forgets the oldest when it keeps much', async () => {
    const { asked, highlighter, answer } = start()
    for (let index = 0; index < 25; index++) {
      const done = highlighter.highlight('ts', `${index}${'x'.repeat(100_000)}`)
      answer(asked.at(-1)?.id ?? 0, null)
      await done
    }
    expect(highlighter.known('ts', `0${'x'.repeat(100_000)}`)).toBeUndefined()
    expect(highlighter.known('ts', `24${'x'.repeat(100_000)}`)).toBeNull()
  })
})

describe('long code', () => {
  it('is plain, with head and tail', () => {
    const text = Array.from({ length: 1200 }, (_, index) => `line ${index}`).join('\n')
    expect(isHighlightable(text)).toBe(false)
    expect(isHighlightable('x'.repeat(100_001))).toBe(false)
    expect(isHighlightable('a\n'.repeat(900))).toBe(true)
    const cut = cutLines(text)
    expect(cut?.hidden).toBe(700)
    expect(cut?.head.endsWith('line 199')).toBe(true)
    expect(cut?.tail.startsWith('line 900')).toBe(true)
    expect(cutLines('a\nb')).toBeNull()
  })
})
