import { fault, type Message, ok, type Result } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createRewindView, findLastTurn } from './rewind-view.ts'

const said = (id: number, turn: number, text: string) =>
  ({ id, turn, kind: 'user', text, at: '2026-01-31T10:00:00.000Z', parts: [] }) as unknown as Message // what the list reads
const answered = (id: number, turn: number) => ({ id, turn, kind: 'assistant', text: 'ok' }) as unknown as Message

/** Messages in pages, the newest page loaded. */
function createLoaded(pages: readonly (readonly Message[])[], refusal?: Result<never>) {
  let loaded = 1
  return {
    get messages() {
      return pages.slice(-loaded).flat()
    },
    get hasOlder() {
      return loaded < pages.length
    },
    async loadOlder(): Promise<Result<null>> {
      if (refusal) return refusal
      loaded++
      return ok(null)
    },
  }
}

const host = { redraw: () => undefined, close: () => undefined, open: () => undefined, notice: () => undefined }
const size = { columns: 80, rows: 24 }

describe('the turns to go back before', () => {
  it('finds the first prompt of a long turn, not what steered it', async () => {
    const long = createLoaded([
      [said(1, 0, 'begin'), answered(2, 0), said(3, 1, 'the prompt')],
      [answered(4, 1), said(5, 1, 'steering'), answered(6, 1)],
    ])
    expect(await findLastTurn(long)).toMatchObject({ value: { turn: 1, prompt: 'the prompt' } })
    expect(await findLastTurn(createLoaded([[]]))).toEqual({ ok: true, value: null })
  })

  it('lists older turns when the end of the list is on the screen, and keeps the rows where they are', async () => {
    const live = createLoaded([
      [said(1, 0, 'first')],
      [said(3, 1, 'second'), answered(4, 1)],
      [said(5, 2, 'third'), answered(6, 2)],
    ])
    await findLastTurn(live)
    const view = createRewindView({ live, onChoose: () => undefined, host })
    const rows = () =>
      view
        .draw(size)
        .rows.map((row) => row.map(({ text }) => text).join(''))
        .filter((row) => /\d {2}(first|second|third)/.test(row))
    await expect.poll(rows).toHaveLength(3)
    expect(live.hasOlder).toBe(false)
  })

  it.each([40, 60, 100])('says in %i columns what going back does, in whole words', async (columns) => {
    const view = createRewindView({ live: createLoaded([[said(1, 0, 'first')]]), onChoose: () => undefined, host })
    const rows = view.draw({ columns, rows: 24 }).rows.map((row) => row.map(({ text }) => text).join(''))
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(columns)
    const text = rows.map((row) => row.replace(/^.*│/, '').trim()).join(' ')
    expect(text).toContain('The later turns are saved as a branch. The prompt comes back into the input.')
    expect(text).toContain('Ctrl+F also puts back the files that tools changed since; it shows them first.')
    expect(rows.at(-1)).toContain('Esc back')
  })

  it('says that older turns cannot be loaded', async () => {
    const live = createLoaded([[said(1, 0, 'first')], [said(3, 1, 'second')]], {
      ok: false,
      fault: fault('unreachable', 'The server is gone.'),
    })
    const view = createRewindView({ live, onChoose: () => undefined, host })
    const title = () =>
      view
        .draw(size)
        .rows[0]?.map(({ text }) => text)
        .join('')
    await expect.poll(title).toContain('older ones cannot be loaded: The server is gone.')
  })
})
