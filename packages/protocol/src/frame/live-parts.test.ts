import { describe, expect, it } from 'vitest'
import { Event } from '../event/event.ts'
import { CallId, StepId } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { appendLive, dropRecorded, type LivePart } from './transcript.ts'

const step = StepId.parse(3)
const text = { step, part: 0, kind: 'text' as const }
const output = { step, part: 1, kind: 'output' as const, call: CallId.parse(5), tool: 'shell' }
const grown = (...given: readonly (readonly [typeof text | typeof output, string])[]) =>
  given.reduce<readonly LivePart[]>((live, [place, fragment]) => appendLive(live, place, fragment), [])

describe('live parts', () => {
  it('append a fragment to its part', () => {
    expect(grown([text, 'Hel'], [output, 'a.txt'], [text, 'lo'])).toEqual([
      { ...text, text: 'Hello' },
      { ...output, text: 'a.txt' },
    ])
  })

  it('keep only the end of long output', () => {
    const fragments = Array.from({ length: 50 }, (_, line) => [output, `${line} ${'x'.repeat(1000)}\n`] as const)
    const [part] = grown(...fragments)
    expect(part?.text.length).toBe(limits.toolOutputInlineBytesMax)
    expect(part?.text).toMatch(/49 x+\n$/)
  })

  it.each([
    [{ type: 'step.ended', turn: 0, step: 3, finish: 'calls', usage: null }, ['output']],
    [{ type: 'step.ended', turn: 0, step: 2, finish: 'calls', usage: null }, ['text', 'output']],
    [{ type: 'call.settled', call: 5, outcome: { type: 'ok', output: { text: '' } }, durationMs: 1 }, ['text']],
    [{ type: 'turn.ended', turn: 0, reason: 'aborted' }, []],
  ])('are dropped once they are recorded: %j', (event, left) => {
    const live = dropRecorded(grown([text, 'Hello'], [output, 'a.txt']), Event.parse(event))
    expect(live.map(({ kind }) => kind)).toEqual(left)
  })
})
