import { PassThrough, Writable } from 'node:stream'
import type { Frame } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { createRunOutput } from '../render/run-output.ts'
import { wrapSentences } from '../render/wrap-words.ts'
import { createOutput } from '../terminal/output.ts'
import { askApproval } from './ask-approval.ts'

/** An output to a terminal of so many columns, with what it shows. */
function openScreen(columns: number) {
  let shown = ''
  const stream = Object.assign(
    new Writable({
      write(chunk, _, done) {
        shown += String(chunk)
        done()
      },
    }),
    { isTTY: true, columns },
  )
  const err = createOutput({ stream, colour: 'never', rejectsOnFailure: false, wrapSentences })
  return { err, shown: () => shown }
}

it.each([
  [80, '  t, s and a allow this exact command.\n  Approve? y once  t this turn  s this session  a always here  n no: '],
  [
    40,
    '  t, s and a allow this exact command.\n  Approve? y once  t this turn\n  s this session  a always here  n no: ',
  ],
  [
    26,
    '  t, s and a allow this\n  exact command.\n  Approve? y once\n  t this turn\n  s this session\n  a always here  n no: ',
  ],
])('asks in a terminal of %i columns without a broken word', async (columns, question) => {
  const { err, shown } = openScreen(columns)
  const input = Object.assign(new PassThrough(), { isTTY: true })
  const asked = askApproval({ tool: 'shell' }, { input, err, signal: new AbortController().signal })
  await expect.poll(shown).toBe(question)
  input.write('a')
  expect(await asked).toEqual({ decision: 'approve_always' })
  const answer = shown().slice(question.length)
  expect(answer).toBe('\n  Approved for every session of this folder.\n') // too long for the line of the question
})

it('wraps what the model thinks and what Holdfast says, but not what ran', async () => {
  const { err, shown } = openScreen(30)
  const output = createRunOutput(false, { out: err, err })
  const delta = { type: 'delta', step: 1, part: 0, kind: 'thinking' }
  for (const text of ['The request has one line: ru', 'n with shell.']) await output.show({ ...delta, text } as Frame) // no more of it is read
  await output.note('→ shell {"command":"echo one two three four five"}')
  await output.tell('The store accepts writes again, and the turn goes on.')
  expect(shown()).toBe(
    [
      'The request has one line: run',
      'with shell.',
      '→ shell {"command":"echo one two three four five"}',
      'The store accepts writes',
      'again, and the turn goes on.',
      '',
    ].join('\n'),
  )
})
