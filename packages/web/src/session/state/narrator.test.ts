import type { LivePart, Message } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createNarrator, type Heard, paragraphsOf } from './narrator.ts'

const part = (text: string, step = 5) => ({ kind: 'text', step, part: 0, text }) as LivePart
const message = (id: number, text: string, step = 5) => ({ kind: 'assistant', id, step, text }) as Message
const heard = (more: Partial<Heard> = {}): Heard => ({ live: [], messages: [], state: '', ...more })

describe('the narrator', () => {
  it('says a paragraph once it is finished, and no token before', () => {
    const narrator = createNarrator(heard())
    const said = ['One', 'One two', 'One two.\n', 'One two.\n\nThr', 'One two.\n\nThree.\n\n'].map((text) =>
      narrator.next(heard({ live: [part(text)] })),
    )
    expect(said).toEqual([[], [], [], ['One two.'], ['Three.']])
    // The rest comes with the record, and what was said is not said again.
    expect(narrator.next(heard({ messages: [message(9, 'One two.\n\nThree.\n\nFour.')] }))).toEqual(['Four.'])
    expect(narrator.next(heard({ messages: [message(9, 'One two.\n\nThree.\n\nFour.')] }))).toEqual([])
  })

  it('says nothing of what was there before, and all of an answer that it never saw streaming', () => {
    const old = message(3, 'Old words.')
    const narrator = createNarrator(heard({ messages: [old] }))
    expect(narrator.next(heard({ messages: [old] }))).toEqual([])
    expect(narrator.next(heard({ messages: [old, message(8, 'All at once.')] }))).toEqual(['All at once.'])
  })

  it('waits for the end of a block of code, and counts its lines', () => {
    const narrator = createNarrator(heard())
    expect(narrator.next(heard({ live: [part('```ts\none\n\ntwo\n')] }))).toEqual([])
    expect(narrator.next(heard({ live: [part('```ts\none\n\ntwo\n```\n\n')] }))).toEqual(['Code, 3 lines.'])
  })

  it('says how the session is when that changes', () => {
    const narrator = createNarrator(heard({ state: 'Working' }))
    expect(narrator.next(heard({ state: 'Working' }))).toEqual([])
    expect(narrator.next(heard({ state: 'Waiting for you: Run this command?' }))).toEqual([
      'Waiting for you: Run this command?',
    ])
    expect(narrator.next(heard())).toEqual([])
  })
})

it('speaks text without its marks', () => {
  expect(paragraphsOf('# Title\n\n- **bold** `code`\n- a [link](https://a.example)\n\n> said')).toEqual([
    'Title',
    'bold code a link',
    'said',
  ])
  expect(paragraphsOf('Set `API_KEY` _now_, __init__ too.')).toEqual(['Set API_KEY now, init too.'])
})
