import { describe, expect, it } from 'vitest'
import { createProgressLine, progressText } from './progress-line.ts'

describe('the progress of a long command', () => {
  it('has a bar, the rate, and after a second the time left', () => {
    expect(progressText({ done: 121, total: 400, unit: 'files', bytes: 1_000_000 }, 417)).toBe(
      '[######--------------] 121 of 400 files, 1.0 MB, 2.4 MB/s',
    )
    expect(progressText({ done: 100, total: 400, unit: 'files', bytes: 1_000_000 }, 2000)).toMatch(
      /, 0\.5 MB\/s, 6 s left$/,
    )
    expect(progressText({ done: 10, total: 400, unit: 'records', phase: 'copying' }, 4000)).toBe(
      '[--------------------] copying 10 of 400 records, 3/s, 2 min 36 s left',
    )
    expect(progressText({ done: 0, total: 0, unit: 'files', bytes: 0 }, 0)).toMatch(/^\[-{20}\] 0 of 0 files/)
    expect(progressText({ done: 7, total: null, unit: 'messages', bytes: 2_000_000 }, 1000)).toBe(
      '7 messages, 2.0 MB, 2.0 MB/s',
    )
  })

  it('is one line of the terminal that is written again, at most five times a second, and removed at the end', async () => {
    let clock = 0
    const written: string[] = []
    const err = { isTerminal: true, columns: 40, write: async (text: string) => void written.push(text) }
    // Only what the line uses of an output.
    const line = createProgressLine({ err, now: () => clock } as unknown as Parameters<typeof createProgressLine>[0])
    for (; clock < 1000; clock += 50) line.show({ done: clock, total: 1000, unit: 'records' })
    await line.end()
    expect(written).toHaveLength(5)
    expect(written[0]).toBe('\r\u001b[K[####----------------] 200 of 1000 reco')
    expect(written.at(-1)).toBe('\r\u001b[K')
  })

  it('prints nothing without a terminal', async () => {
    const written: string[] = []
    const err = { isTerminal: false, columns: null, write: async (text: string) => void written.push(text) }
    let clock = 0
    // Only what the line uses of an output.
    const line = createProgressLine({ err, now: () => clock } as unknown as Parameters<typeof createProgressLine>[0])
    clock = 5000
    line.show({ done: 1, total: 2, unit: 'records' })
    await line.end()
    expect(written).toEqual([])
  })
})
