import { PassThrough } from 'node:stream'
import type { QuestionField } from '@holdfast/protocol'
import { aQuestion } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { askPerson } from './ask-questions.ts'

/** Asks with a person who types these lines, each when it is asked for; then the input ends. */
async function ask(question: ReturnType<typeof aQuestion>, ...lines: readonly string[]) {
  const input = new PassThrough()
  const left = [...lines]
  let shown = ''
  const err = {
    wrap: (text: string) => text,
    tell: (text: string) => err.write(`${text}\n`),
    async write(text: string) {
      shown += text
      if (!text.endsWith(': ')) return
      const line = left.shift()
      setImmediate(() => (line === undefined ? input.end() : input.write(`${line}\n`)))
    },
  }
  const reply = await askPerson(question, { input, err: err as never, signal: new AbortController().signal }) // no more of it is used
  return { reply, shown }
}

describe('a question at a terminal', () => {
  it('asks for each field, again if the value is wrong, and leaves out an empty one', async () => {
    const { reply, shown } = await ask(aQuestion(), 'yes', 'c', 'b', '')
    expect(reply).toEqual({ decision: 'approve', answers: { room: 'b' } })
    expect(shown).toContain('booking asks: Which room?')
    expect(shown).toContain('room (one of a, b): ')
    expect(shown).toContain('room must be one of a, b')
    expect(shown).toContain('nights (default 1): ')
  })

  it('reads numbers, choices and yes or no', async () => {
    const fields: QuestionField[] = [
      { name: 'n', kind: 'integer', isRequired: true },
      { name: 'sure', kind: 'boolean', isRequired: true },
      {
        name: 'many',
        kind: 'choices',
        isRequired: true,
        options: ['x', 'y'].map((value) => ({ value, label: value })),
      },
    ]
    const { reply } = await ask(aQuestion({ fields }), 'y', '3', 'no', 'x, y')
    expect(reply).toEqual({ decision: 'approve', answers: { n: 3, sure: false, many: ['x', 'y'] } })
  })

  it('shows a page whole, and opens nothing', async () => {
    const { reply, shown } = await ask(aQuestion({ fields: [], url: 'https://booking.example/confirm?id=1' }), 'yes')
    expect(reply).toEqual({ decision: 'approve' })
    expect(shown).toContain('https://booking.example/confirm?id=1')
  })

  it.each([
    [['no'], 'reject'],
    [['Ada', 'no'], 'reject'], // asks again: it was no answer
    [[], 'cancel'],
    [['yes'], 'cancel'],
  ])('after %j is answered with %s', async (lines, decision) => {
    expect((await ask(aQuestion(), ...lines)).reply).toEqual({ decision })
  })
})
