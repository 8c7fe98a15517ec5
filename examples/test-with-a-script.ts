// Tests a program that embeds Holdfast. The model plays a script: no key, no network, the same answers every time.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Holdfast, openHoldfast } from 'holdfast'
import { call, createGate, createScriptedModel, fail, type Script, say, waitAt } from 'holdfast/testkit'

/** The program under test: answers a question, and lets the agent change nothing. */
async function ask(holdfast: Holdfast, question: string): Promise<string> {
  const session = await holdfast.startSession({ model: 'own/script', approvals: 'all' })
  const turn = session.prompt(question)
  for await (const item of turn)
    if (item.type === 'approval') await session.respondToApproval('reject', item.approval.id)
  return await turn.text()
}

async function openScripted(script: Script) {
  const home = await mkdtemp(join(tmpdir(), 'test-')) // a home of its own: no rules, keys or settings of the user
  const model = createScriptedModel(script)
  const environment = { PATH: process.env['PATH'], HOLDFAST_HOME: home }
  const holdfast = await openHoldfast({ store: 'memory:', models: { 'own/script': model }, environment })
  const close = async () => {
    await holdfast.close()
    await rm(home, { recursive: true })
  }
  return { holdfast, model, [Symbol.asyncDispose]: close }
}

test('returns the answer', async () => {
  await using scripted = await openScripted([[say('Forty-two.')]])
  assert.equal(await ask(scripted.holdfast, 'What is the answer?'), 'Forty-two.')
})

test('rejects every call, and tells the model', async () => {
  await using scripted = await openScripted([[call('shell', { command: 'rm -rf .' })], [say('I could not.')]])
  assert.equal(await ask(scripted.holdfast, 'Delete everything.'), 'I could not.')
  const [, second] = scripted.model.requests
  assert.match(JSON.stringify(second?.messages.at(-1)), /denied|rejected/)
})

test('reports a failed model call', async () => {
  await using scripted = await openScripted([[fail()]])
  await assert.rejects(ask(scripted.holdfast, 'Hello?'), { code: 'turn_failed' })
})

test('keeps the text of a stopped turn', async () => {
  const gate = createGate()
  await using scripted = await openScripted([[say('Once upon a time'), waitAt(gate), say('the end')]])
  const session = await scripted.holdfast.startSession({ model: 'own/script' })
  const turn = session.prompt('Tell me a story.')
  for await (const item of turn) if (item.type === 'text' && item.text.includes('time')) await turn.abort()
  const { reason, text } = await turn.result()
  assert.deepEqual({ reason, text }, { reason: 'aborted', text: 'Once upon a time' })
})
