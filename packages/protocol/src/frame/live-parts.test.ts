import { describe, expect, it, vi } from 'vitest'
import { Event } from '../event/event.ts'
import { CallId, StepId } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { createLiveParts } from './live-parts.ts'

const step = StepId.parse(3)
const text = { step, part: 0, kind: 'text' as const }
const output = { step, part: 1, kind: 'output' as const, call: CallId.parse(5), tool: 'shell' }
function grown(...given: readonly (readonly [typeof text | typeof output, string])[]) {
  const live = createLiveParts()
  for (const [position, fragment] of given) live.add(position, fragment)
  return live
}

describe('live parts', () => {
  it('append a fragment to its part', () => {
    expect(grown([text, 'Hel'], [output, 'a.txt'], [text, 'lo']).list()).toEqual([
      { ...text, text: 'Hello' },
      { ...output, text: 'a.txt' },
    ])
  })

  it('keep only the end of long output', () => {
    const fragments = Array.from({ length: 50 }, (_, line) => [output, `${line} ${'x'.repeat(1000)}\n`] as const)
    const [part] = grown(...fragments).list()
    expect(part?.text.length).toBe(limits.toolOutputInlineBytesMax)
    expect(part?.text).toMatch(/49 x+\n$/)
  })

  it.each([
    [{ type: 'step.ended', turn: 0, step: 3, finish: 'calls', usage: null }, ['output']],
    [{ type: 'step.ended', turn: 0, step: 2, finish: 'calls', usage: null }, ['text', 'output']],
    [{ type: 'call.settled', call: 5, outcome: { type: 'ok', output: { text: '' } }, durationMs: 1 }, ['text']],
    [{ type: 'turn.ended', turn: 0, reason: 'aborted' }, []],
  ])('are dropped once they are recorded: %j', (event, left) => {
    const live = grown([text, 'Hello'], [output, 'a.txt'])
    live.drop(Event.parse(event))
    expect(live.list().map(({ kind }) => kind)).toEqual(left)
  })

  it('stay the same objects until they change', () => {
    const live = grown([text, 'Hello'], [output, 'a.txt'])
    const [before, printed] = live.list()
    expect(live.list()).toBe(live.list())
    live.add(text, ' again')
    expect(live.list()[0]).not.toBe(before)
    expect(live.list()[1]).toBe(printed)
  })

  it('take a fragment without a look at the others, however many there are', () => {
    const live = grown(...Array.from({ length: 1000 }, (_, part) => [{ ...text, part }, 'x'] as const))
    const walks = ([Symbol.iterator, 'values', 'entries', 'keys', 'forEach'] as const).map((walk) =>
      vi.spyOn(Map.prototype, walk),
    )
    live.add({ ...text, part: 500 }, 'y')
    live.add({ ...text, part: 1000 }, 'z')
    const counts = walks.map((walk) => walk.mock.calls.length)
    for (const walk of walks) walk.mockRestore()
    expect(counts).toEqual([0, 0, 0, 0, 0])
    expect(live.list()).toHaveLength(1001)
  })
})
