import type { LiveView } from '@holdfast/client'
import type { LivePart, Message } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { createCodeColours } from '../render/code.ts'
import type { StyledLine } from '../term/lines.ts'
import { createScrollback } from './scrollback.ts'

const facts = { width: 60, rows: 24, spinner: '' }
const step = 4
const prompt = { id: 3, turn: 0, kind: 'user', text: 'explain', parts: [] } as unknown as Message
const streaming = (text: string) => ({ kind: 'text', step, text }) as unknown as LivePart
const answer = (text: string) =>
  ({ id: 9, turn: 0, step, kind: 'assistant', text, interrupted: true }) as unknown as Message

/** A session as a scrollback sees it. */
const viewOf = (messages: readonly Message[], live: readonly LivePart[]) =>
  ({ view: { branch: null }, messages, live, hasOlder: false }) as unknown as LiveView

const texts = (rows: readonly StyledLine[]) =>
  rows.map((row) =>
    row
      .map(({ text }) => text)
      .join('')
      .trimEnd(),
  )

/** Streams an answer until its first paragraphs are printed, then shows the part that a crash left on record. */
function printAfterCrash(recorded: string): readonly string[] {
  const scrollback = createScrollback(createCodeColours(() => undefined))
  scrollback.advance(viewOf([], []), facts)
  const shown = scrollback.advance(viewOf([prompt], [streaming('one\n\ntwo\n\nthree\n\nfo')]), facts)
  expect(texts(shown.print)).toEqual(expect.arrayContaining(['one', 'two']))
  return texts(scrollback.advance(viewOf([prompt, answer(recorded)], []), facts).print)
}

it('says that an answer is recorded only in part if more of it was shown before a crash', () => {
  expect(printAfterCrash('one')).toEqual([
    '',
    '⊘ interrupted; the answer is recorded only up to here:',
    ...['', 'one', expect.stringContaining('interrupted')],
  ])
})

it('goes on where the shown text ended if all of it is recorded', () => {
  expect(printAfterCrash('one\n\ntwo\n\nthree and')).toEqual(['', 'three and', expect.stringContaining('interrupted')])
})
