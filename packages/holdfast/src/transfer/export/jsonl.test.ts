import type { ReadRange } from '@holdfast/core/ports'
import { SessionId } from '@holdfast/protocol'
import { aMeta, aRecord } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { readChecksum } from '../../store/jsonl/log/log-line.ts'
import { exportSession } from './export-session.ts'
import { pieceCharsMax } from './pieces.ts'

describe('the JSONL export of a session with large records', () => {
  it('reads bounded pages when they are asked for, and does not fold the log', async () => {
    const id = SessionId.parse(aMeta().id)
    const head = 40
    const ranges: ReadRange[] = []
    const log = {
      entry: async () => ({ head, base: 0 }) as never, // an export needs no more of the row
      async read(_: SessionId, range: ReadRange) {
        ranges.push(range)
        return [aRecord(range.after + 1, { type: 'user.said', turn: 0, content: [{ type: 'text', text: 'x' }] })]
      },
    }
    const transcript = () => Promise.reject(new Error('folds the log'))
    const lines = exportSession({ id, log, blobs: null, transcript }, { format: 'jsonl' })
    for (let line = 0; line < 3; line++) await lines.next()
    expect(ranges).toHaveLength(3) // the first record for the lineage, then one page for each line
    for await (const _ of lines);
    expect(ranges).toHaveLength(head + 1)
    for (const { limit, charsMax = limit * 1024 * 1024 } of ranges) expect(charsMax).toBeLessThanOrEqual(1024 * 1024)
  })
  it('writes a redacted record in bounded pieces that split no character', async () => {
    const id = SessionId.parse(aMeta().id)
    const text = `${'a@b.c '.repeat(150_000)}${'\u{1f600}'.repeat(100_000)}`
    const log = {
      entry: async () => ({ head: 1, base: 0 }) as never, // as above
      read: async () => [aRecord(1, { type: 'user.said', turn: 0, content: [{ type: 'text', text }] })],
    }
    const transcript = () => Promise.reject(new Error('folds the log'))
    const pieces = await Array.fromAsync(
      exportSession({ id, log, blobs: null, transcript }, { format: 'jsonl', redact: true }),
    )
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(pieceCharsMax)
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true)
    const [head = '', line = '', rest] = pieces.join('').split('\n')
    expect([JSON.parse(head).session, rest]).toEqual([id, ''])
    expect(readChecksum(id, Buffer.from(line))).not.toBeNull()
    expect(line).not.toContain('a@b.c')
    expect(line.split('\u{1f600}').length).toBe(100_001)
  })
})
