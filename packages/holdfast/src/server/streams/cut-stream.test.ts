import { invariant } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { openRuntimeServer } from '../testing/runtime-server.ts'

/** Returns the seqs of the whole frames in a text. A record has its seq as its id. */
const recordsIn = (text: string): readonly number[] =>
  text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((frame) => (frame.includes('event: record') ? [Number(/^id: (\d+)$/m.exec(frame)?.[1])] : []))

it('a stream that is cut at any byte goes on at its cursor, without a gap or a duplicate', async () => {
  await using test = await openRuntimeServer()
  for (const title of ['one', 'two', 'drei ü 😀']) {
    const answer = await test.post(`${test.path}/commands`, JSON.stringify({ type: 'rename', title }))
    expect(answer.status).toBe(202)
  }
  const state = await (await test.call(`${test.path}/state`)).json()
  invariant(typeof state === 'object' && state !== null && 'seq' in state, 'a state has a seq')
  const head = Number(state.seq)

  /** Reads until the newest record has arrived, or only so many bytes. */
  async function read(cursor: number, bytesMax = Number.POSITIVE_INFINITY): Promise<Buffer> {
    const gone = new AbortController()
    const headers = { authorization: `Bearer ${test.tokens.viewer}`, 'last-event-id': String(cursor) }
    const response = await test.call(`${test.path}/events`, { headers, signal: gone.signal })
    let received = Buffer.alloc(0)
    for await (const chunk of response.body ?? []) {
      received = Buffer.concat([received, chunk])
      if (received.length >= bytesMax || recordsIn(received.toString()).includes(head)) break
    }
    gone.abort()
    return received.subarray(0, bytesMax)
  }

  const whole = await read(0)
  const all = recordsIn(whole.toString())
  expect(all).toEqual(Array.from({ length: head }, (_, each) => each + 1))
  // Every boundary of frames and lines, the bytes around it, and some in between, also within a character.
  const cuts = new Set<number>()
  for (let at = 0; at < whole.length; at++)
    if (whole[at] === 10 || at % 97 === 0 || (whole[at] ?? 0) > 127) for (const near of [at, at + 1]) cuts.add(near)
  for (const cut of cuts) {
    const before = recordsIn((await read(0, cut)).toString())
    const cursor = before.at(-1) ?? 0
    const after = cursor === head ? [] : recordsIn((await read(cursor)).toString())
    expect([cut, ...before, ...after]).toEqual([cut, ...all])
  }
})

it('a cursor that the session never gave gets exactly one resync', async () => {
  await using test = await openRuntimeServer()
  const gone = new AbortController()
  const headers = { authorization: `Bearer ${test.tokens.viewer}`, 'last-event-id': '999999' }
  const response = await test.call(`${test.path}/events`, { headers, signal: gone.signal })
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString()
    if (text.includes('event: snapshot') && text.endsWith('\n\n')) break
  }
  gone.abort()
  expect(text.split('event: resync')).toHaveLength(2)
})
