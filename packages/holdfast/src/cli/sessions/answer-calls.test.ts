import { PassThrough } from 'node:stream'
import { ok, PendingApproval, type SessionHandle } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { createTextOutput } from '../testing/text-output.ts'
import { createAnswering } from './answer-calls.ts'

const approval = (id: number): PendingApproval =>
  PendingApproval.parse({
    id,
    call: id - 1,
    tool: 'shell',
    preview: { type: 'command', command: `echo ${id}`, cwd: '/work' },
  })

it('does not ask about a call that the answer to the one before has covered', async () => {
  let open = [approval(2), approval(4)]
  const submitted: unknown[] = []
  const handle = {
    state: async () => ok({ pendingApprovals: open }),
    async submit(command: unknown) {
      submitted.push(command)
      open = [] // trust for the turn covers both
      return ok({ seq: 9, result: {} })
    },
  } as unknown as SessionHandle // only these two are called
  const input = new PassThrough()
  const { output: written, text } = createTextOutput()
  const notes: string[] = []
  const err = {
    paint: written.paint,
    wrap: written.wrap,
    columns: null,
    isTerminal: true,
    async write(shown: string) {
      await written.write(shown)
      if (shown.includes('Approve?')) setImmediate(() => input.write('t'))
    },
  } as unknown as typeof written // no more of it is used
  const answering = createAnswering({
    handle,
    approvals: { by: 'person', unattended: 'reject' },
    isJson: false,
    interruption: new AbortController().signal,
    context: { err, keyboard: () => input },
    output: {
      show: async () => undefined,
      end: async () => undefined,
      note: async (note) => void notes.push(note),
      tell: async (note) => void notes.push(note),
    },
  })
  answering.answerOpen(open)
  await answering.settled()
  expect(submitted).toEqual([{ type: 'respondToApproval', approval: 2, decision: 'approve_turn' }])
  expect(notes).toEqual([expect.stringContaining('echo 2')])
  expect(text().match(/Approve\?/g)).toHaveLength(1)
})
