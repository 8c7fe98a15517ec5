import type { ModelPart } from '@holdfast/core/ports'
import { describe, expect, it } from 'vitest'
import { describeProvider } from '../contracts/provider.ts'
import { aRequest } from '../fixtures/request.ts'
import { createGate } from './gate.ts'
import { call, createScriptedModel, fail, say, sayPartial, scriptedUsage, think, waitAt } from './scripted-model.ts'

const plain = aRequest({ system: 'plain' })
const long = aRequest({ system: 'long' })
const failing = aRequest({ system: 'failing' })

describeProvider('scripted', async () => ({
  provider: createScriptedModel((request) => {
    if (request === plain) return [think('Let me see.'), say('Here it is.')]
    return request === long ? [say('Wait'), waitAt(createGate())] : [fail()]
  }),
  plain,
  long,
  failing,
}))

describe('scripted model', () => {
  const run = async (model: ReturnType<typeof createScriptedModel>, signal = new AbortController().signal) => {
    const parts: ModelPart[] = []
    for await (const part of model.stream(aRequest(), { signal })) parts.push(part)
    return parts
  }

  it('numbers its parts and ends with calls after a call', async () => {
    const parts = await run(createScriptedModel([[say('Look'), call('shell', { command: 'ls' })]]))
    expect(parts).toEqual([
      { type: 'delta', part: 0, kind: 'text', text: 'Look' },
      { type: 'said', part: 0, said: { type: 'text', text: 'Look' } },
      { type: 'delta', part: 1, kind: 'input', text: '{"command":"ls"}', tool: 'shell' },
      { type: 'said', part: 1, said: { type: 'call', tool: 'shell', args: { command: 'ls' } } },
      { type: 'end', end: { type: 'complete', finish: 'calls', usage: scriptedUsage } },
    ])
  })

  it('waits at a gate until the test opens it', async () => {
    const gate = createGate()
    const model = createScriptedModel([[waitAt(gate), say('Now')]])
    const parts = run(model)
    await gate.reached
    expect(model.requests).toHaveLength(1)
    gate.open()
    expect((await parts).map(({ type }) => type)).toEqual(['delta', 'said', 'end'])
  })

  it('stops waiting at a gate when aborted, and drops the unsent text', async () => {
    const gate = createGate()
    const abort = new AbortController()
    const parts = run(createScriptedModel([[sayPartial('Half a'), waitAt(gate)]]), abort.signal)
    await gate.reached
    abort.abort()
    expect(await parts).toEqual([
      { type: 'delta', part: 0, kind: 'text', text: 'Half a' },
      { type: 'end', end: { type: 'aborted' } },
    ])
  })

  it('fails with a message when the script has no more answers', async () => {
    const parts = await run(createScriptedModel([]))
    expect(parts).toMatchObject([
      { end: { type: 'failed', fault: { message: 'The script has no answer for request 1.' } } },
    ])
  })
})
