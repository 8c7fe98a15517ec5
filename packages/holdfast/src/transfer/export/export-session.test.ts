import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Message } from '@holdfast/protocol'
import { aMessage, aMeta } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { exportSession } from './export-session.ts'
import { pieceCharsMax } from './pieces.ts'

setFlagsFromString('--expose-gc')

const table = (rows: number) => `|a|b|\n|-|-|\n${'|1|2|\n'.repeat(rows)}`

function sourceOf(messages: readonly Message[]): Parameters<typeof exportSession>[0] {
  const meta = aMeta()
  const log = { read: async () => [], entry: async () => null }
  const transcript = async () => ({ meta, pages: () => ReadableStream.from([messages]) })
  return { id: meta.id, log, blobs: null, transcript }
}

/** Exports while it counts the slices. */
async function countSlices(messages: readonly Message[], options: Parameters<typeof exportSession>[1]) {
  let slices = 0
  let isOver = false
  const count = () => {
    slices++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const pieces: string[] = []
  for await (const piece of exportSession(sourceOf(messages), options)) pieces.push(piece)
  isOver = true
  return { slices, pieces }
}

describe.each([false, true])('the export of a session, redacted: %s', (redact) => {
  it.each(['md', 'html', 'json'] as const)('formats a large message on a thread: %s', async (format) => {
    const { slices, pieces } = await countSlices([aMessage('user', { text: table(10_000) })], { format, redact })
    expect(slices).toBeGreaterThan(10)
    expect(pieces.join('')).toContain('1')
  })
})

it.each(['md', 'html', 'json'] as const)('lets others work between small messages: %s', async (format) => {
  const messages = Array.from({ length: 200 }, () => aMessage('user', { text: table(500) }))
  const { slices, pieces } = await countSlices(messages, { format })
  expect(pieces.length).toBeGreaterThanOrEqual(200)
  expect(slices).toBeGreaterThanOrEqual(Math.floor(pieces.join('').length / 100_000))
})

describe.each(['md', 'html', 'json'] as const)('the redacted export of a long message: %s', (format) => {
  const text = `${'a@b.c '.repeat(150_000)}${'\u{1f600}'.repeat(100_000)}`

  it('comes in pieces that are bounded and split no character', async () => {
    const pieces: string[] = []
    for await (const piece of exportSession(sourceOf([aMessage('user', { text })]), { format, redact: true }))
      pieces.push(piece)
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(pieceCharsMax)
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true)
    const whole = pieces.join('')
    expect(whole).not.toContain('a@b.c')
    expect(whole.split('[e-mail address removed]').length).toBeGreaterThan(150_000)
    expect(whole.split('\u{1f600}').length).toBeGreaterThan(100_000)
  })
})

it('keeps nothing of what it has given out', async () => {
  const collect: () => void = runInNewContext('gc')
  const messages = Array.from({ length: 40 }, () => aMessage('user', { text: 'a@b.c '.repeat(20_000) }))
  let [exported, before, after] = [0, 0, 0]
  for await (const piece of exportSession(sourceOf(messages), { format: 'md', redact: true })) {
    if (exported === 0) {
      collect()
      before = process.memoryUsage().heapUsed
    }
    exported += piece.length
    if (exported < 18_000_000) continue
    collect()
    after = process.memoryUsage().heapUsed
    break
  }
  expect(after).toBeGreaterThan(0)
  expect(after - before).toBeLessThan(exported / 4)
})

it('formats the same on a thread as at once', async () => {
  const text = `${table(10)}\n\n\u202e **bold**`
  const small = await countSlices([aMessage('user', { text })], { format: 'html' })
  const large = await countSlices([aMessage('user', { text: `${text}\n\n${'x'.repeat(10_000)}` })], { format: 'html' })
  const shown = small.pieces.join('').split('<article')[1]?.replace('</article>\n</main></body></html>\n', '') ?? ''
  expect(shown).toContain('<strong>bold</strong>')
  expect(large.pieces.join('')).toContain(shown)
})
